import Certificates
import Foundation
import Mail
import Mustache
import Model
import Reminders
import Store
import Testing

@Suite("Mails: every language whole")
struct MailTextTests {
  @Test("both languages have the same keys, each with the same places to fill in")
  func keys() throws {
    let texts = try MailTexts(folder: ReminderScene.mailFolder + "/locales")
    let (english, chinese) = (texts["en"], texts["zh-Hans"])
    #expect(texts.languages.keys.sorted() == ["en", "zh-Hans"])
    #expect(english.keys.symmetricDifference(chinese.keys) == [])
    #expect(english.keys.count > 40)
    func places(_ text: String) -> Set<String> { Set(text.matches(of: /\{([a-z]+)\}/).map { String($0.1) }) }
    for key in english.keys { #expect(places(english(key)) == places(chinese(key)), "\(key)") }
    for kind in CertificateKind.allCases {
      #expect(english.keys.contains("kinds.\(kind.rawValue)") && english.keys.contains("renew.\(kind.rawValue)"))
    }
  }

  @Test("Chinese mails have no English sentence, no half-width punctuation, and no 您")
  func chinese() throws {
    let texts = try MailTexts(folder: ReminderScene.mailFolder + "/locales")["zh-Hans"]
    for key in texts.keys {
      let text = texts(key)
      #expect(!text.contains(/[A-Za-z]+(?: [A-Za-z]+){3,}/), "\(key): \(text)")
      #expect(!text.contains(/\p{Script=Han}[,.;:!?()]/) && !text.contains("您"), "\(key): \(text)")
    }
  }

  @Test(
    "a date is written as on the pages",
    arguments: [("en", "5 Dec 2026, 00:30 (UTC)"), ("zh-Hans", "2026年12月5日 00:30（UTC）")])
  func date(language: String, expected: String) async throws {
    try await ReminderScene.with { scene in
      let item = TrackedExpiry(
        key: "certificates/1", name: "Shop", kind: .apnsCertificate, app: "Shop", topics: [], serial: "1", sha256: "AB",
        notAfter: try Date("2026-12-05T00:30:00Z", strategy: .iso8601))
      let content = ReminderContent(
        [.init(item: item, uses: [])], texts: scene.courier.texts[language], zone: .gmt, address: nil, identifier: "m",
        now: ReminderScene.noon)
      let from = try #require(MailAddress("a@example.com"))
      let mail = try scene.courier.message(content, from: from, to: from)
      #expect(mail.text.contains(expected), "\(mail.text)")
    }
  }

  @Test("names out of files are escaped in HTML, and stand on one line of the text", arguments: ["en", "zh-Hans"])
  func hostile(language: String) async throws {
    try await ReminderScene.with { scene in
      let attack = "<script>alert(1)</script>\"' & {{t.open}}"
      let item = TrackedExpiry(
        key: "certificates/1", name: attack, kind: .apnsCertificate, app: attack, topics: [attack], serial: attack,
        sha256: "AB", notAfter: ReminderScene.noon.addingTimeInterval(86_400))
      let content = ReminderContent(
        [.init(item: item, uses: [])], texts: scene.courier.texts[language], zone: .gmt,
        address: "https://push.example.com/", identifier: "m", now: ReminderScene.noon)
      let from = try #require(MailAddress("a@example.com"))
      let mail = try scene.courier.message(content, from: from, to: from)
      let html = try #require(mail.html)
      #expect(!html.contains("<script>") && html.contains("&lt;script&gt;"))
      #expect(html.contains("href=\"https://push.example.com/certificates/1\""))
      #expect(mail.text.contains(attack) && mail.subject.contains(attack))
    }
  }
}
