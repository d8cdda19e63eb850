import Foundation
import Model
import TestSupport
import Testing

@Suite("Passwords that are easy to guess")
struct PasswordRuleTests {
  /// The list that the console reads.
  private static let list: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("Templates/session/common-passwords.txt")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""  // the last test finds it empty
  }()
  private static let rule = PasswordRule(list)
  private static let context = ["Signalbox", "lin.wang@acme-mobile.example.com", "push.acme-mobile.example.com"]

  private func code(_ password: String) -> String? { Self.rule.problem(password, context: Self.context)?.code }

  @Test(
    "what is guessed first is refused, with the reason",
    arguments: [
      ("iloveyouforever", "password.common"), ("1qaz2wsx3edc4rfv", "password.common"),
      ("Password 1234", "password.common"), ("password!!!2026", "password.padded"),
      ("2019Dragon2019", "password.padded"),
      ("P@ssw0rd-9981-#", "password.padded"), ("MonkeyDragon77", "password.padded"),
      ("sunshine99ab99", "password.padded"),
      ("blueblueblueblue", "password.repeated"), ("xy7xy7xy7xy7xy", "password.repeated"),
      ("dragonflydragonfly", "password.repeated"), ("345678abcdef", "password.sequence"),
      ("fedcba987654", "password.sequence"), ("ghjklzxcvbnm", "password.sequence"),
      ("Signalbox2026!", "password.context"), ("signalboxadmin1", "password.context"),
      ("acme-mobile-2026", "password.context"),
      ("AcmePush!!1234", "password.context"), ("51gn4lb0x-2026", "password.context"),
      ("wangwang!2026", "password.context"), ("dragonnogard", "password.mirrored"),
      ("drowssap2026!", "password.padded"), ("noGarD-9981-#", "password.padded"),
    ])
  func refused(password: String, expected: String) { #expect(code(password) == expected) }

  @Test(
    "what is long enough beside a known word, or has none, is good",
    arguments: [
      "correct horse battery staple", "a brand new long password", "my signalbox sings at midnight", "t7Hq9-vR2x!kLm",
      "dragon monkey sunshine football", "大风起兮云飞扬威加海内兮", "840275913064", "wandering otter 12",
    ])
  func good(password: String) { #expect(code(password) == nil) }

  @Test("the reason names the word, never the whole password")
  func named() {
    let problem = Self.rule.problem("Signalbox-xQ-2026!", context: Self.context)
    #expect(problem?.arguments["word"] == "signalbox" && problem?.text.contains("2026") == false)
  }

  /// The first passwords of a length that fits the rule which John the Ripper makes of its list: words in the order of
  /// how often they were found in lists that became known, with the variations that it tries first.
  private static func candidates(_ count: Int) throws -> [String] {
    let list = "/usr/share/john/password.lst"
    let text = try OtherProgram.runNow(john, ["--wordlist=" + list, "--rules", "--stdout"])
    var seen: Set<String> = []
    let fitting = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { $0.count >= AccountName.shortestPassword && seen.insert($0).inserted }
    return Array(fitting.prefix(count))
  }

  private static let john = "/usr/sbin/john"

  @Test(
    "the first 3000 that a cracker tries, of those long enough, are all refused",
    .enabled(if: FileManager.default.isExecutableFile(atPath: john), "john is not installed"))
  func cracker() throws {
    let candidates = try Self.candidates(3000)
    #expect(candidates.count == 3000)
    #expect(candidates.filter { Self.rule.problem($0, context: []) == nil } == [])
  }

  @Test("the list has a thousand entries of at least twelve characters, each refused")
  func list() {
    let entries = Self.list.split(whereSeparator: \.isWhitespace).map(String.init)
    let long = entries.filter { $0.count >= AccountName.shortestPassword }
    #expect(long.count >= 1000 && Set(entries).count == entries.count)
    #expect(entries.allSatisfy { $0 == $0.lowercased() })
    #expect(long.filter { code($0.uppercased()) == nil } == [])
  }
}
