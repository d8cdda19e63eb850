import Foundation
package import JSON
import Text

/// Reads the members of one JSON object and collects all problems with their paths.
///
/// An absent field and `null` are nil. An unreadable field is nil too, and reported: readers continue to the end and
/// then call ``finish()``, so that all problems are shown at once, in the order of the fields. Members that were not
/// read are reported as unknown.
package final class JSONFields {
  private let members: [String: JSONValue]
  private let path: String
  private let list: ProblemList
  private var asked: [String] = []

  /// Reads the top level of a document.
  package convenience init(_ json: JSONValue) {
    let list = ProblemList()
    if json.object == nil {
      list.add(Problem("", FieldMessage.expected, ["expected": "object", "found": json.typeName]))
    }
    self.init(json.object ?? [:], path: "", list: list)
  }

  private init(_ members: [String: JSONValue], path: String, list: ProblemList) {
    (self.members, self.path, self.list) = (members, path, list)
    // A device has about as many: imports contain millions.
    asked.reserveCapacity(16)
  }

  /// The problems so far, without unknown members of this object.
  package var problems: [Problem] { list.all }

  /// - Throws: all problems reported here and in nested objects, if there are any.
  package func finish() throws(Problems) {
    reportUnknown()
    if !list.all.isEmpty { throw Problems(list.all) }
  }

  /// Reports a problem that the reader found; its field is relative to `name`.
  package func report(_ name: String, _ problem: Problem) { list.add(problem.under(path(of: name))) }

  /// Reports a problem whose field is relative to this object.
  package func report(_ problem: Problem) { list.add(path.isEmpty ? problem : problem.under(path)) }

  package func value(_ name: String) -> JSONValue? {
    asked.append(name)
    return if case .some(let value) = members[name], value != .null { value } else { nil }
  }

  /// Reads a nested object. Its unknown members are reported when `read` returns.
  @discardableResult
  package func object<T>(_ name: String, required: Bool = false, _ read: (JSONFields) -> T) -> T? {
    guard let value = present(name, required: required) else { return nil }
    guard let members = value.object else { return mismatch(name, "object", value) }
    let fields = JSONFields(members, path: path(of: name), list: list)
    let result = read(fields)
    fields.reportUnknown()
    return result
  }

  func present(_ name: String, required: Bool) -> JSONValue? {
    let value = value(name)
    if value == nil, required { report(name, Problem("", FieldMessage.required)) }
    return value
  }

  func mismatch<T>(_ name: String, _ expected: String, _ value: JSONValue) -> T? {
    report(name, Problem("", FieldMessage.expected, ["expected": expected, "found": value.typeName]))
    return nil
  }

  private func reportUnknown() {
    let unknown = members.keys.filter { !asked.contains($0) }
    if unknown.isEmpty { return }
    // Some members are read twice.
    var known: [String] = []
    for name in asked where !known.contains(name) { known.append(name) }
    let candidates = Suggestion.Candidates(known.filter { members[$0] == nil })
    lazy var all = known.isEmpty ? "none" : known.joined(separator: ", ")
    for name in unknown.sorted() {
      // A suggestion takes its time, and a document may have very many members.
      if list.isFull { return }
      if let suggestion = Suggestion.closest(to: name, among: candidates) {
        report(name, Problem("", FieldMessage.unknownSimilar, ["suggestion": suggestion]))
      } else {
        report(name, Problem("", FieldMessage.unknown, ["known": all]))
      }
    }
  }

  private func path(of name: String) -> String {
    let plain = name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    let step = plain && !name.isEmpty ? name : "[\"\(name.abbreviated(to: 60))\"]"
    return path.isEmpty ? step : step.hasPrefix("[") ? path + step : "\(path).\(step)"
  }

  /// The problems of a whole document, shared by the readers of its objects.
  private final class ProblemList {
    /// More than a person reads; keeps answers to invalid documents small.
    static let limit = 100
    private(set) var all: [Problem] = []

    var isFull: Bool { all.count >= Self.limit }

    func add(_ problem: Problem) { if !isFull { all.append(problem) } }
  }
}
