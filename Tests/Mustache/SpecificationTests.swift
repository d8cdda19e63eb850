import Foundation
import Mustache
import Testing

/// The specification's own cases; see Fixtures/README.md.
@Suite("Mustache specification")
struct SpecificationTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    let template: String
    let partials: [String: String]
    let data: Value
    let expected: String

    var testDescription: String { "\(file): \(name)" }
  }

  static func cases(_ file: String) throws -> [Case] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
    let data = try Data(contentsOf: folder.appendingPathComponent(file + ".json"))
    let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return try #require(root["tests"] as? [[String: Any]]).map { test in
      Case(
        file: file, name: try #require(test["name"] as? String), template: try #require(test["template"] as? String),
        partials: test["partials"] as? [String: String] ?? [:], data: value(test["data"] as Any),
        expected: try #require(test["expected"] as? String))
    }
  }

  static let all: [Case] = {
    let files = [
      "comments", "delimiters", "interpolation", "inverted", "partials", "sections", "~dynamic-names", "~inheritance",
    ]
    return files.flatMap { file in
      // A file that cannot be read gives no case, which `count` notices.
      (try? cases(file)) ?? []
    }
  }()

  static func value(_ any: Any) -> Value {
    switch any {
    case let number as NSNumber:
      String(cString: number.objCType) == "c" ? .bool(number.boolValue) : .double(number.doubleValue)
    case let text as String: .string(text)
    case let list as [Any]: .list(list.map(value))
    case let object as [String: Any]: .object(object.mapValues(value))
    default: .null
    }
  }

  static func render(_ test: Case, _ data: Value) throws -> String {
    var sources = test.partials
    sources["the template"] = test.template
    return try TemplateLibrary(sources: sources).render("the template", data)
  }

  @Test("every file was read whole")
  func count() throws {
    #expect(
      Dictionary(grouping: Self.all, by: \.file).mapValues(\.count) == [
        "comments": 12, "delimiters": 14, "interpolation": 39, "inverted": 22, "partials": 12, "sections": 34,
        "~dynamic-names": 21, "~inheritance": 27,
      ])
    #expect(try Self.cases("~lambdas").count == 10)
  }

  @Test("gives what the specification expects", arguments: all)
  func specification(test: Case) throws {
    #expect(try Self.render(test, test.data) == test.expected)
  }

  /// The lambdas of the specification's data are source code of other languages; here they are written in Swift.
  static func lambda(_ name: String) -> Value? {
    let calls = Calls()
    switch name {
    case "Interpolation": return .lambda { _ in "world" }
    case "Interpolation - Expansion": return .lambda { _ in "{{planet}}" }
    case "Interpolation - Alternate Delimiters": return .lambda { _ in "|planet| => {{planet}}" }
    case "Interpolation - Multiple Calls": return .lambda { _ in String(calls.next()) }
    case "Escaping": return .lambda { _ in ">" }
    case "Section": return .lambda { source in source == "{{x}}" ? "yes" : "no" }
    case "Section - Expansion": return .lambda { source in source + "{{planet}}" + source }
    case "Section - Alternate Delimiters":
      return .lambda { source in source + "{{planet}} => |planet|" + source }
    case "Section - Multiple Calls": return .lambda { source in "__" + source + "__" }
    case "Inverted Section": return .lambda { _ in "" }
    default: return nil
    }
  }

  final class Calls: @unchecked Sendable {
    // @unchecked because: one rendering calls it, on one thread.
    private var count = 0
    func next() -> Int {
      count += 1
      return count
    }
  }

  @Test("lambdas give what the specification expects", arguments: try cases("~lambdas"))
  func lambdas(test: Case) throws {
    guard case .object(let members) = test.data else {
      Issue.record("the data is no object")
      return
    }
    let lambda = try #require(Self.lambda(test.name))
    let data = Value.object(members.merging(["lambda": lambda]) { $1 })
    #expect(try Self.render(test, data) == test.expected)
  }
}
