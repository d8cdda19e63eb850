import Foundation
import JSON
import Mustache
import Model
import Testing

/// The templates that are filled from dictionaries, against the view models that were agreed for them:
/// `Fixtures/pages/<page>.<case>.json`. Templates of views are bound when the console starts, and need none.
@Suite("Templates and their view models")
struct TemplateFixtureTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let folder = root.appendingPathComponent("Tests/Console/Fixtures/pages")

  static func value(_ json: JSONValue) -> Value {
    switch json {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array(let elements): .list(elements.map(value))
    case .object(let members): .object(members.mapValues(value))
    }
  }

  static func members(_ url: URL) throws -> [String: JSONValue] {
    try #require(try JSONValue(parsing: Data(contentsOf: url)).object)
  }

  static let pages: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []  // `count` notices
    return files.filter { $0.hasSuffix(".json") && !$0.hasPrefix("layout") }.sorted()
  }()

  static let library = Result {
    try TemplateLibrary(directory: root.appendingPathComponent("Templates").path, missingKey: .error)
  }

  @Test("every page has a view model")
  func count() throws {
    let templates = Self.root.appendingPathComponent("Templates").path
    let files = try #require(FileManager.default.enumerator(atPath: templates)).compactMap { $0 as? String }
    // Those that begin with `_` are parts of pages, and what lies beside the folders is the frame of all.
    // Mails are no pages: tests of Reminders look at them.
    let pages = try files.filter {
      $0.hasSuffix(".mustache") && $0.contains("/") && !$0.contains("/_")
        && !["mail/", "components/", "layout/"].contains(where: $0.hasPrefix)
    }
    .filter { try !String(contentsOfFile: "\(templates)/\($0)", encoding: .utf8).contains("{{<layout/page}}") }
    .map { $0.replacing("/", with: "-").replacing(".mustache", with: "") }
    let shown = Set(Self.pages.compactMap { $0.split(separator: ".").first.map(String.init) })
    #expect(Set(pages).subtracting(shown).isEmpty)
    #expect(shown.subtracting(pages).isEmpty)
  }

  @Test(
    "each page renders from its view model without a missing key, and escapes what strangers wrote", arguments: pages)
  func renders(page: String) throws {
    let name = String(try #require(page.split(separator: ".").first)).replacing("-", with: "/")
    var data = try Self.members(Self.folder.appendingPathComponent("layout.json"))
    data.merge(try Self.members(Self.folder.appendingPathComponent(page))) { $1 }
    data["t"] = .object(try Self.members(Self.root.appendingPathComponent("Templates/locales/en.json")))
    let html = try Self.library.get().render(name, Self.value(.object(data)))
    #expect(html.hasPrefix("<!doctype html>"))
    #expect(!html.contains("<script>alert"))
    #expect(!html.contains(" style="), "the content security policy allows no inline style")
    #expect(!html.contains("onclick="), "nor inline script")
  }
}
