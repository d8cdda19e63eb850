import Foundation
import Glibc
import JSON
import Testing
import Text

@testable import Arguments
@testable import signalbox

/// The table of the command line: nothing is missing or left over, and it is written as Chinese is.
@Suite("The command line in Chinese: the table is whole")
struct CommandLanguageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The texts of a part of the table by their English sentences.
  private static func table(_ part: String) throws -> [String: String] {
    let file = root.appendingPathComponent("Templates/commands/zh-Hans.json")
    let json = try JSONValue(parsing: Data(contentsOf: file))
    return try #require(json[part]?.object).compactMapValues(\.string)
  }

  private static func page() throws -> JSONValue {
    try JSONValue(parsing: Data(contentsOf: root.appendingPathComponent("Templates/locales/zh-Hans.json")))
  }

  private static func sources(_ folder: String) throws -> [(name: String, text: String)] {
    let base = root.appendingPathComponent(folder)
    var files: [(name: String, text: String)] = []
    for case let name as String in try #require(FileManager.default.enumerator(atPath: base.path))
    where name.hasSuffix(".swift") {
      files.append((name, try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)))
    }
    return files
  }

  /// What `--help` of any command says, apart from fixed words.
  private static let help: Set<String> = {
    var texts: Set<String> = []
    for node in Signalbox.program.nodes {
      texts.formUnion([node.command.summary, node.command.discussion])
      for parameter in node.command.parameters {
        texts.insert(parameter.help)
        // Values stay as they are typed; a default with words explains itself.
        if let text = parameter.defaultText, text.contains(" ") { texts.insert(text) }
      }
    }
    return texts.subtracting([""])
  }()

  private static func literals() throws -> [SwiftLiterals.Literal] {
    let below = ["Calendar/ExpiryReport+Text.swift", "Inspecting/CertificateFile+Text.swift"]
    let files =
      try sources("Sources/signalbox") + sources("Sources/Arguments")
      + sources("Sources/Certificates").filter { below.contains($0.name) }
    return files.flatMap { SwiftLiterals($0.text).all }
  }

  private static func places(_ text: String) -> Set<String> {
    Set(text.matches(of: /\{([0-9]+)\}/).map { String($0.1) })
  }

  @Test("every text of every command's help has its Chinese, and nothing else does")
  func helpIsWhole() throws {
    let table = try Self.table("help")
    #expect(Self.help.count > 300)
    #expect(Self.help.subtracting(table.keys).sorted() == [], "not translated")
    #expect(Set(table.keys).subtracting(Self.help).sorted() == [], "left over")
    for (english, chinese) in table {
      // Commands to type are the same in any language, apart from the colon.
      #expect(chinese.contains(/\p{Script=Han}|：/), "\(english)")
      let lines = [english, chinese].map { $0.split(separator: "\n", omittingEmptySubsequences: false).count }
      #expect(lines[0] == lines[1], "\(english)")
    }
  }

  /// What scripts, other programs and developers read, and SQL.
  private static let english: Set<String> = [
    "CERTIFICATES UNKNOWN - {1}", "CERTIFICATES {1} - {2}{3}, {4} watched | ", "Phone {1}",
    "STATUS=Finishing what is under way", "STATUS={1}", "Serving at {1}", "Standby: following {1}",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'sealing_key'",
    "SELECT max(coalesce((SELECT max(at) FROM audit), 0), coalesce((SELECT max(created_at) FROM pushes), 0))",
    "The copy has transaction {1}, the replica's last. Starting the server.",
    "This is a standby. On this machine, signalbox take-over --data {1} makes it the server.\n",
    "USERTrust RSA Certification Authority", "activity copy", "and {1} more", "another program is reading it",
    "app {1}", "certificate request {1}", "certificate {1}", "cli {1}", "device {1}",
    "expiring soon", "expiring very soon", "file {1}", "has transaction {1}", "host {1}", "in standby", "it returned",
    "jpush reports",
    "none expiring soon", "not yet valid", "nothing copied yet", "package name", "phones' reports",
    "replaced certificates", "replica {1}",
    "settings oidc", "signalbox serve --data {1}", "smoke tests", "the command does not declare {1}",
    "the replica",
    "to start, choose a password at this address; it works once and for 24 hours", "token {1}",
    "two numbers fit into a socket's name", "with a locked key",
    "{1} per minute for {2}; 0 for no limit. Calls from this machine are not limited.",
  ]

  /// Whether it has two words, or is the heading of a column.
  private static func isSentence(_ literal: SwiftLiterals.Literal) -> Bool {
    let key = literal.key
    if literal.before.hasSuffix("io.table(") { return !key.isEmpty }
    return key.contains(/[A-Za-z’']{2,}[,;:.]? (?:[A-Za-z(]{2,}|\{\d\})/) || key.contains(/\{\d\}[:;,]? [a-z]{2,}/)
  }

  /// Text of logs, completion scripts and the manual page, and the singular of a message, which English alone has.
  private static func isForPrograms(_ literal: SwiftLiterals.Literal) -> Bool {
    literal.before.contains(/(?:log|warning)\.[a-z]+\(\s*(?:\n\s*)?$/) || literal.key.contains("\n")
      || literal.before.hasSuffix("SystemError(") || literal.before.hasSuffix("one: ")
  }

  @Test("every message of the sources has its Chinese, and the table has no other")
  func messagesAreWhole() throws {
    let (table, errors) = (try Self.table("messages"), try Self.table("errors"))
    let literals = try Self.literals()
    let keys = Set(literals.map(\.key))
    #expect(Set(table.keys).subtracting(keys).sorted() == [], "left over")
    let help = Self.help.union(try Self.helpOfManual()).joined(separator: "\n")
    let missing = literals.filter { literal in
      Self.isSentence(literal) && !Self.isForPrograms(literal) && table[literal.key] == nil
        && errors[literal.key] == nil
        && !Self.english.contains(literal.key) && !help.contains(literal.key)
    }
    #expect(Set(missing.map(\.key)).sorted() == [], "not translated")
    #expect(Self.english.subtracting(keys).sorted() == [], "left over among what stays English")
  }

  /// What stands in the manual page alone, which is English.
  private static func helpOfManual() throws -> [String] {
    try sources("Sources/signalbox").filter { $0.name == "Shell/SelfDescription.swift" }
      .flatMap { SwiftLiterals($0.text).all.map(\.key) }
      + sources("Sources/Arguments").filter { ["Completion.swift", "Manual.swift"].contains($0.name) }
      .flatMap { SwiftLiterals($0.text).all.map(\.key) }
  }

  @Test("each error of the rooms below stands in the sources, or is the system's")
  func errorsAreUsed() throws {
    let system = Set((1...133).map { String(cString: strerror($0)) })
    let text = try Self.sources("Sources").map(\.text).joined()
    // A sentence may go on in the next line, and its places are interpolations.
    let joined = text.replacing(/"\s*\+ "/, with: "").replacing(/\\\n\s*/, with: "")
    let pieces = try Self.table("errors").keys.flatMap { pattern in
      pattern.split(separator: /\{\d\}/).map { (pattern, String($0)) }
    }
    var missing: Set<String> = []
    for (pattern, piece) in pieces where !joined.contains(piece) {
      // As `bind: Address already in use`, and a remedy that is put behind a sentence.
      let sentence = piece.hasPrefix(": ") || piece.hasPrefix(". ") ? String(piece.dropFirst(2)) : piece
      if !system.contains(sentence), !joined.contains(sentence) { missing.insert(pattern) }
    }
    #expect(missing.sorted() == [])
  }

  @Test("what pages say, too, is taken from their table, and is there")
  func references() throws {
    let page = try Self.page()
    for part in ["help", "messages", "errors"] {
      for (english, chinese) in try Self.table(part) where chinese.hasPrefix("@") {
        let found = chinese.dropFirst().split(separator: ".").reduce(page as JSONValue?) { $0?[String($1)] }
        #expect(found?.string != nil, "\(english): \(chinese)")
      }
    }
  }

  @Test("a translation has the places of its sentence, and is written as Chinese is")
  func typography() throws {
    for part in ["help", "messages", "errors"] {
      for (english, text) in try Self.table(part) where !text.hasPrefix("@") {
        #expect(Self.places(text) == Self.places(english), "\(english)")
        #expect(!text.contains(/\p{Script=Han}[,.;:!?()]|[,;!?]\p{Script=Han}/), "\(text)")
        let plain = text.replacing(/\{[0-9]+\}/, with: "")
        #expect(!plain.contains(/\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/), "\(text)")
        #expect(!text.contains("您") && !text.contains("。。"), "\(text)")
        #expect(!text.contains("通过身份提供方"), "the console says 单点登录: \(text)")
      }
    }
  }

  /// Schedules may run once: 周期推送 alone is what repeats (docs/glossary.md).
  @Test("what is said of every schedule does not say that it repeats")
  func schedules() throws {
    for part in ["help", "messages", "errors"] {
      for (english, text) in try Self.table(part) where english.contains(/\b[Ss]chedules?\b/) {
        #expect(!text.replacing(/定时[与或]周期推送/, with: "").contains("周期推送"), "\(english): \(text)")
      }
    }
  }

  @Test(
    "the locale decides as POSIX and gettext have it",
    arguments: [
      (["LANG": "zh_CN.UTF-8"], true), (["LANG": "zh_CN.utf8"], true), (["LANG": "zh_SG"], true),
      (["LANG": "zh-Hans_HK.UTF-8"], true), (["LANG": "zh"], true), (["LANG": "zh_CN.UTF-8@pinyin"], true),
      (["LANG": "zh_TW.UTF-8"], false), (["LANG": "zh_HK.UTF-8"], false), (["LANG": "zh_Hant_CN"], false),
      (["LANG": "en_US.UTF-8"], false), (["LANG": "C"], false), (["LANG": ""], false), ([:], false),
      (["LANG": "zh_CN.GBK"], false), (["LANG": "zhx_CN.UTF-8"], false),
      (["LC_ALL": "C", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "zh_CN.UTF-8"], false),
      (["LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"], true),
      (["LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"], false),
      (["LC_ALL": "zh_CN.UTF-8", "LANG": "C"], true),
      (["LANGUAGE": "zh_CN:en", "LANG": "en_US.UTF-8"], true), (["LANGUAGE": "de:zh_CN", "LANG": "de_DE.UTF-8"], true),
      (["LANGUAGE": "en:zh_CN", "LANG": "zh_CN.UTF-8"], false), (["LANGUAGE": "de", "LANG": "zh_CN.UTF-8"], false),
      (["LANGUAGE": "zh_CN", "LANG": "C.UTF-8"], false), (["LANGUAGE": "zh_CN"], false),
    ] as [([String: String], Bool)])
  func locale(environment: [String: String], isChinese: Bool) {
    #expect(UserLocale.language(environment) == (isChinese ? "zh-Hans" : nil))
    #expect((CommandTexts(environment) != nil) == isChinese)
  }
}
