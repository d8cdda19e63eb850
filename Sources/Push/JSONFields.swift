/// Reads the members of a JSON object one by one, keeps every problem with its path, and names members that nobody
/// asked for.
public struct JSONFields {
  /// The object's members.
  private let members: [String: JSONValue]
  private let path: String
  private var known: [String] = []
  /// What was wrong so far.
  public private(set) var problems: [Problem] = []

  /// - Parameters:
  ///   - value: what should be an object; anything else is a problem.
  ///   - path: where it stands, empty for the whole document.
  public init(_ value: JSONValue, path: String = "") {
    self.path = path
    if case .object(let members) = value {
      self.members = members
    } else {
      members = [:]
      problems = [Problem(path, code: "json.object", "This must be a JSON object.")]
    }
  }

  /// The path of a member.
  public func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// Whether a member is there, be it null.
  public func has(_ name: String) -> Bool { members[name] != nil }

  /// Whether a member is there and null.
  public func isNull(_ name: String) -> Bool { members[name] == .null }

  /// Any member; null counts as absent.
  public mutating func value(_ name: String) -> JSONValue? {
    known.append(name)
    let value = members[name]
    return value == .null ? nil : value
  }

  /// A string of at most `limit` bytes of UTF-8.
  public mutating func string(_ name: String, limit: Int) -> String? {
    guard let value = value(name) else { return nil }
    guard case .string(let text) = value else {
      return wrong(name, "json.string", "This must be a string.")
    }
    guard text.utf8.count <= limit else {
      return wrong(
        name, "text.too_long", "At most {limit} bytes are taken; this has {bytes}.",
        ["limit": String(limit), "bytes": String(text.utf8.count)])
    }
    return text
  }

  /// A string that must be there and not empty.
  public mutating func required(_ name: String, limit: Int) -> String? {
    if let text = string(name, limit: limit) {
      return text.isEmpty ? wrong(name, "required", "This is needed.") : text
    }
    if members[name] == nil || members[name] == .null { add(name, "required", "This is needed.") }
    return nil
  }

  /// A whole number within a range.
  public mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = value(name) else { return nil }
    guard case .integer(let number) = value else { return wrong(name, "json.integer", "This must be a whole number.") }
    guard let number = Int(exactly: number), range.contains(number) else {
      return wrong(
        name, "number.range", "This must be from {from} to {to}.",
        ["from": String(range.lowerBound), "to": String(range.upperBound)])
    }
    return number
  }

  /// True or false; absent is false.
  public mutating func bool(_ name: String) -> Bool {
    guard let value = value(name) else { return false }
    guard case .bool(let flag) = value else { return wrong(name, "json.bool", "This must be true or false.") ?? false }
    return flag
  }

  /// One of a closed list of words.
  public mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) -> Choice? {
    guard let value = value(name) else { return nil }
    if case .string(let word) = value, let choice = Choice(rawValue: word) { return choice }
    let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    return wrong(name, "choice", "This must be one of: {choices}.", ["choices": words])
  }

  /// A list of strings, each checked; their problems get the path `name[index]`.
  public mutating func strings(
    _ name: String, limit: Int, check: (String) throws(Problem) -> Void
  ) -> [String] {
    guard let value = value(name) else { return [] }
    guard case .array(let elements) = value else {
      return wrong(name, "json.strings", "This must be a list of strings.") ?? []
    }
    guard elements.count <= limit else {
      return wrong(
        name, "list.too_long", "At most {limit} are taken; these are {count}.",
        ["limit": String(limit), "count": String(elements.count)]) ?? []
    }
    var result: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element else {
        add("\(name)[\(index)]", "json.string", "This must be a string.")
        continue
      }
      do {
        try check(text)
        result.append(text)
      } catch {
        problems.append(error.under(path(of: "\(name)[\(index)]")))
      }
    }
    return result
  }

  /// A nested object, read by `body`; its problems are kept here.
  public mutating func object(_ name: String, _ body: (inout JSONFields) -> Void) {
    guard let value = value(name) else { return }
    var fields = JSONFields(value, path: path(of: name))
    body(&fields)
    problems += fields.finished()
  }

  /// Adds a problem of a member.
  public mutating func add(_ name: String, _ code: String, _ text: String, _ arguments: [String: String] = [:]) {
    problems.append(Problem(path(of: name), code: code, text, arguments))
  }

  /// Adds a problem found elsewhere, its field relative to this object.
  public mutating func add(_ problem: Problem, at name: String) { problems.append(problem.under(path(of: name))) }

  private mutating func wrong<Value>(
    _ name: String, _ code: String, _ text: String, _ arguments: [String: String] = [:]
  ) -> Value? {
    add(name, code, text, arguments)
    return nil
  }

  /// The problems, with one for every member that was not asked for.
  public func finished() -> [Problem] {
    var all = problems
    for name in members.keys.sorted() where !known.contains(name) {
      let close = known.min { distance($0, name) < distance($1, name) }.flatMap {
        distance($0, name) <= min(3, name.count / 2) ? $0 : nil
      }
      if let close {
        all.append(
          Problem(
            path(of: name), code: "json.unknown_offer", "There is no field {name}. Did you mean {offer}?",
            ["name": name, "offer": close]))
      } else {
        all.append(
          Problem(
            path(of: name), code: "json.unknown", "There is no field {name}. There are: {names}.",
            ["name": name, "names": known.joined(separator: ", ")]))
      }
    }
    return all
  }
}

/// How many letters must be changed to turn one word into another (Levenshtein).
func distance(_ one: String, _ other: String) -> Int {
  let other = Array(other)
  var row = Array(0...other.count)
  for (i, letter) in one.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for j in other.indices {
      let cost = min(diagonal + (letter == other[j] ? 0 : 1), row[j] + 1, row[j + 1] + 1)
      diagonal = row[j + 1]
      row[j + 1] = cost
    }
  }
  return row[other.count]
}
