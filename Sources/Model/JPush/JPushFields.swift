import JSON
import Text

/// Reads an object of a JPush request. Null counts as absent; a key that JPush does not have is refused by its name.
struct JPushFields {
  /// Such as `notification.ios`; empty for the body.
  let path: String
  let members: [String: JSONValue]

  /// - Parameters:
  ///   - known: the keys that are read, or have no effect.
  ///   - refused: keys that JPush has and Signalbox does not, each with its code and the reason.
  /// - Throws: ``JPushError``: 1003 unless it is an object, 1009 for an unknown key.
  init(
    _ value: JSONValue, at path: String = "", known: Set<String>,
    refused: [String: (code: JPushCode, why: String)] = [:]
  ) throws(JPushError) {
    guard let object = value.object else {
      throw JPushError(.invalid, "\(path.isEmpty ? "The body" : path) must be a JSON object.", field: path)
    }
    self.path = path
    members = object.filter { $0.value != .null }
    for name in members.keys.sorted() where !known.contains(name) {
      let shown = path.isEmpty ? name : "\(path).\(name)"
      if let refusal = refused[name] { throw JPushError(refusal.code, "\(shown): \(refusal.why)", field: shown) }
      throw JPushError(.unknownKey, "\(shown.abbreviated(to: 100)) is not supported. Remove this key.", field: shown)
    }
  }

  subscript(name: String) -> JSONValue? { members[name] }

  func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  func invalid(_ name: String, _ text: String) -> JPushError {
    JPushError(.invalid, "\(place(name)) \(text)", field: place(name))
  }

  /// Nil if absent or empty.
  func text(_ name: String) throws(JPushError) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.string else { throw invalid(name, "must be a string.") }
    return text.isEmpty ? nil : text
  }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(JPushError) -> Int64? {
    guard let value = members[name] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      let limits = range == Int64.min...Int64.max ? "" : " from \(range.lowerBound) to \(range.upperBound)"
      throw invalid(name, "must be a whole number\(limits).")
    }
    return number
  }

  /// JPush's clients send true, 1 and "true".
  func flag(_ name: String) throws(JPushError) -> Bool? {
    guard let value = members[name] else { return nil }
    switch value {
    case true, 1, "true": return true
    case false, 0, "false": return false
    default: throw invalid(name, "must be true or false.")
    }
  }

  func object(_ name: String) throws(JPushError) -> [String: JSONValue]? {
    guard let value = members[name] else { return nil }
    guard let object = value.object else { throw invalid(name, "must be a JSON object.") }
    return object
  }

  /// A list of texts; empty if absent.
  func texts(_ name: String, atMost limit: Int, check: (String) -> Problem?) throws(JPushError) -> [String] {
    guard let value = members[name] else { return [] }
    guard let array = value.array else { throw invalid(name, "value must be JSON Array format!") }
    guard array.count <= limit else { throw invalid(name, "has \(array.count) values; at most \(limit) are allowed.") }
    var texts: [String] = []
    for element in array {
      guard let text = element.string else { throw invalid(name, "must contain strings only.") }
      if let problem = check(text) {
        throw JPushError(
          .invalid, "Invalid \(name) value “\(text.abbreviated(to: 60))”: \(problem.text)", field: place(name))
      }
      texts.append(text)
    }
    return texts
  }
}
