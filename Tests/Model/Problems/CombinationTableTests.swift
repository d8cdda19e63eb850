import Foundation
import Model
import Testing

/// What must not, or should not, stand together in a push is written down (OWASP ASVS 5.0, 2.1.2).
@Suite("Rules of combinations: the table in the documentation")
struct CombinationTableTests {
  private static let document: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("docs/asvs.md")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""  // the test finds it empty
  }()

  private static func rows<Messages: MessageSet>(_ messages: Messages.Type) -> [String] {
    Messages.allCases.map { "| `\($0.code)` | \($0.english.replacing("|", with: "\\|")) |" }
  }

  @Test("every rule of a push is in the table with its sentence, and no other")
  func complete() throws {
    let wanted =
      Self.rows(DraftMessage.self) + Self.rows(ChannelMessage.self) + Self.rows(TopicMessage.self)
      + Self.rows(RepeatMessage.self) + Self.rows(ApprovalMessage.self) + Self.rows(PayloadMessage.self)
      + Self.rows(FCMMessageProblem.self) + Self.rows(JPushMessageProblem.self) + Self.rows(LintMessage.self)
    let parts = Self.document.components(separatedBy: "\n### Combinations\n")
    let part = parts.last?.components(separatedBy: "\n### ").first ?? ""
    let found = part.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
    if found != wanted { print(wanted.joined(separator: "\n")) }
    #expect(parts.count == 2 && found == wanted)
  }
}
