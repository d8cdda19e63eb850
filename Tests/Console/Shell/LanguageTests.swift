import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import Store
import TestSupport
import Testing

@testable import Console

/// Every language beside English: nothing is missing or left over, and it is written as that language is.
@Suite("Languages: each is whole, and written as it should be")
struct LanguageTests {
  private static let folder = ConsoleScene.root.appendingPathComponent("Templates/locales")
  private static let languages = ["zh-Hans"]

  private static func content(_ code: String, in folder: URL = Self.folder) throws -> String {
    try String(contentsOf: folder.appendingPathComponent("\(code).json"), encoding: .utf8)
  }

  private static func texts(_ code: String, in folder: URL = Self.folder) throws -> Texts {
    Texts(code: code, table: try JSONValue(parsing: Data(content(code, in: folder).utf8)))
  }

  /// A key without its plural form.
  private static func stem(_ key: String) -> String {
    for form in [".one", ".other"] where key.hasSuffix(form) { return String(key.dropLast(form.count)) }
    return key
  }

  private static func places(_ text: String) -> Set<String> {
    Set(text.matches(of: /\{([a-z0-9_.]+)\}/).map { String($0.1) })
  }

  private static func sources(_ folder: String) throws -> [String] {
    let base = ConsoleScene.root.appendingPathComponent(folder)
    var texts: [String] = []
    for case let name as String in try #require(FileManager.default.enumerator(atPath: base.path))
    where name.hasSuffix(".swift") {
      texts.append(try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8))
    }
    return texts
  }

  @Test("a language has the keys of English and no other, each with its places", arguments: languages)
  func keys(code: String) throws {
    let (english, other) = (try Self.texts("en"), try Self.texts(code))
    let own = other.keys.filter { !$0.hasPrefix("messages.") }
    #expect(Set(own.map(Self.stem)).symmetricDifference(english.keys.map(Self.stem)).sorted() == [])
    for key in own {
      // A form that English lacks would never be chosen: its numbers decide.
      guard let model = english.known(key) ?? english.known(Self.stem(key) + ".other") else {
        Issue.record("\(key) has no model in English")
        continue
      }
      #expect(Self.places(other(key)).subtracting(Self.places(model)) == [], "\(key)")
      if !key.hasSuffix(".one") { #expect(Self.places(other(key)) == Self.places(model), "\(key)") }
      if key.hasSuffix(".one") { #expect(other.known(Self.stem(key) + ".other") != nil, "\(key)") }
    }
  }

  @Test(
    "a table has the order and the layout of the English one, so that additions are merged by line",
    arguments: languages)
  func order(code: String) throws {
    func names(_ text: String) -> [String] {
      var names: [String] = []
      var isInMessages = false
      for line in text.split(separator: "\n") {
        guard let match = line.firstMatch(of: /^( *)"([^"]+)": (.)/) else { continue }
        if match.1.count == 2 { isInMessages = match.2 == "messages" }
        let isForm = ["one", "other"].contains(match.2)
        if !isForm, !isInMessages || match.1.count == 2 { names.append("\(match.1)\(match.2)") }
      }
      return names
    }
    let (english, other) = (names(try Self.content("en")), names(try Self.content(code)))
    #expect(english.count > 1000)
    let difference = zip(english, other).first { $0 != $1 }.map { "\($0)" }
    #expect(difference == nil)
    #expect(english.count == other.count)
  }

  /// Problems of the API and the command line alone.
  private static let withoutPage: Set<String> = [
    "acknowledgement.endless", "body.nothing_to_change", "idempotency.form", "idempotency.mismatch", "query.not_a_span",
    "query.twice", "query.unknown", "query.unknown_similar", "receipts.count", "request.algorithm",
    "request.not_for_kind", "simulator.faults", "simulator.pointer", "simulator.wait",
  ]

  /// English sentences by code, where the catalogues have them; nil where they are written in place.
  private static func messages() throws -> [String: String?] {
    var messages = MessageCatalogue.all.mapValues { Optional($0) }
    func add<Set: MessageSet>(_ set: Set.Type) { for one in set.allCases { messages[one.rawValue] = one.english } }
    add(ImportMessage.self)
    add(TopicChangeProblem.self)
    add(AliasMessage.self)
    add(DeviceMergeMessage.self)
    add(DeviceBatchMessage.self)
    add(CertificateMessage.self)
    add(RenewalMessage.self)
    add(HostMessage.self)
    add(CredentialMessage.self)
    for (code, english) in RecordedSentence.patterns { messages[code] = english }
    var written: Set<String> = ["sealing.missing", "sealing.other"]
    for room in ["Certificates", "Console", "Providers", "Simulator", "Store"] {
      for text in try sources("Sources/\(room)") {
        for match in text.matches(of: /code:\s*"([a-z_]+\.[a-z0-9_.]+)"/) { written.insert(String(match.1)) }
      }
    }
    written.formUnion(FileProblem.Found.allCases.map { "file.not_a_certificate.\($0.rawValue)" })
    written.formUnion(CertificateKind.allCases.map { "file.warning.expired.\($0.rawValue)" })
    let choices = ["only_with_key", "only_for_push", "ends_last", "asked"]
    written.formUnion(choices.map { "file.warning.several_certificates.\($0)" })
    written.formUnion(["app_key", "master_secret"].map { "file.jpush_keys.\($0)" })
    // What the server refuses before a page sees it.
    written.formUnion([400, 405, 408, 411, 413, 415, 421, 431, 501].map { "http.\($0)" })
    for code in written.subtracting(withoutPage) where messages[code] == nil {
      messages.updateValue(nil, forKey: code)
    }
    return messages
  }

  @Test("every sentence of the sources that a page can show is translated, and no other", arguments: languages)
  func messages(code: String) throws {
    let texts = try Self.texts(code)
    let wanted = try Self.messages()
    let own = Set(texts.keys.filter { $0.hasPrefix("messages.") }.map { String($0.dropFirst("messages.".count)) })
    #expect(Set(wanted.keys).subtracting(own).sorted() == [], "not translated")
    let forms = own.filter { $0.hasSuffix(".one") && wanted.keys.contains(String($0.dropLast(".one".count))) }
    #expect(own.subtracting(wanted.keys).subtracting(forms).sorted() == [], "left over")
    for (key, english) in wanted {
      guard let english, let text = texts.known("messages.\(key)") else { continue }
      #expect(Self.places(text).subtracting(Self.places(english)) == [], "\(key)")
    }
  }

  @Test("of one thing a problem speaks in the singular, under the same code; a table may do the same")
  func singular() throws {
    func problem(_ days: Int) -> Problem {
      Problem("file", RenewalMessage.longer, ["date": "2027-01-02", "days": String(days)])
    }
    #expect(problem(1).text == "It expires on 2027-01-02, 1 day later than the current one.")
    #expect(problem(2).text == "It expires on 2027-01-02, 2 days later than the current one.")
    #expect(problem(1).code == problem(2).code && problem(1).under("new").text == problem(1).text)
    let english = Texts(code: "en", table: [:])
    #expect(english.text(problem(1)).contains("1 day later") && english.text(problem(2)).contains("2 days later"))
    let table: JSONValue = ["messages": ["renewal.longer": "{days} Tage", "renewal.longer.one": "{days} Tag"]]
    let german = Texts(code: "de", table: table)
    #expect(german.text(problem(1)) == "1 Tag" && german.text(problem(2)) == "2 Tage")
    #expect(try Self.texts("zh-Hans").text(problem(1)).hasSuffix("比当前的晚 1 天。"))
  }

  @Test("the sentences that are read back from the database stand in the sources that write them")
  func recorded() throws {
    let rooms = ["Delivery", "Mail", "Model", "Reactor", "Reminders", "Store/Pushes", "Console"]
    let sources = try rooms.flatMap { try Self.sources("Sources/\($0)") }.joined()
    // A sentence may go on in the next line, and its places are interpolations.
    let joined = sources.replacing(/"\s*\+ "/, with: "").replacing(/\\\n\s*/, with: "")
    for (code, english) in RecordedSentence.patterns {
      for piece in english.split(whereSeparator: { "{}".contains($0) }).enumerated() where piece.offset % 2 == 0 {
        #expect(joined.contains(piece.element) || piece.element == " ", "\(code): “\(piece.element)”")
      }
    }
    let sentence = "The push service refused the credential: BadCertificate. Create a new push certificate."
    let chinese = try Self.texts("zh-Hans")
    #expect(chinese.recorded(sentence).hasPrefix("推送服务拒绝了凭据：BadCertificate。请"))
    let nobody =
      "3 devices match, but all are parked (BadDeviceToken). They get pushes again after they register again, "
    #expect(chinese.recorded(nobody + "or when someone reactivates them.").contains("3 台设备"))
    let one = Problem("", DraftMessage.nobodyParked, ["count": "1", "reasons": "BadDeviceToken"]).text
    #expect(one.hasPrefix("1 device matches, but it is parked (BadDeviceToken). "))
    #expect(chinese.recorded(one).hasPrefix("1 台设备符合推送目标，但已停用（BadDeviceToken）"))
    #expect(try Self.texts("en").recorded(one) == one)
    #expect(chinese.recorded("Something else.") == "Something else.")
    #expect(try Self.texts("en").recorded(sentence) == sentence)
  }

  /// Names and codes that are the same in every language.
  private static let sameInChinese: Set<String> = [
    "about.command_line", "about.heading", "about.nightly_line", "about.sqlite", "activity.fields.app_key",
    "activity.fields.sha256", "activity.from.api", "activity.from.jpush", "apps.bundle_id",
    "apps.endpoint_apple", "apps.endpoint_jpush",
    "apps.endpoint_google", "audience.kind.registration_id",
    "certificates.app_id", "certificates.app_key", "certificates.entitlements", "certificates.formats.der",
    "certificates.formats.json", "certificates.formats.mobileprovision", "certificates.formats.p12",
    "certificates.formats.pem", "certificates.key_id",
    "certificates.sha1", "certificates.sha256", "certificates.team", "certificates.team_id", "certificates.topic",
    "certificates.uuid", "delivery.curl", "devices.none_command", "devices.registration_id",
    "errors.phone_busy.happened", "details.apns_id", "details.bundle_id", "details.id", "details.registration_id",
    "hosts.details.sha256",
    "hosts.protocols.postgres", "hosts.protocols.tls", "jpush.app_key", "layout.product", "phones.fault_410",
    "phones.fault_429", "phones.fault_500", "phones.fault_503", "phones.fault_fcm_400", "phones.fault_fcm_401",
    "phones.fault_fcm_403", "phones.fault_fcm_404", "phones.fault_fcm_429", "phones.fault_fcm_500",
    "phones.fault_fcm_503",
    "phones.fault_goaway", "phones.kind_ios", "phones.server_fcm", "phones.server_jpush", "platform.android",
    "platform.ios", "push_type.mdm", "push_type.voip",
    "requests.p-256", "requests.rsa-2048", "settings.channels.slack", "settings.checks.cron", "settings.security.tls",
    "source.api", "source.jpush",
  ]

  @Test("what is equal in English and Chinese is meant to be")
  func same() throws {
    let (english, chinese) = (try Self.texts("en"), try Self.texts("zh-Hans"))
    let same = Set(chinese.keys.filter { !chinese($0).isEmpty && chinese($0) == english.known($0) })
    #expect(same.symmetricDifference(Self.sameInChinese).sorted() == [])
  }

  /// Names and codes that English writes with other letters, punctuation, or in the plural.
  private static let latinInChinese: Set<String> = [
    "audience.registration_id", "certificates.master_secret", "certificates.topics", "hosts.host_hint",
    "hosts.protocols.imap", "hosts.protocols.pop3", "hosts.protocols.smtp", "jpush.example", "jpush.secret",
    "messages.calendar.sha256", "messages.calendar.topics", "send.registration_id",
    "settings.channels.webhook",
  ]

  /// Sentences of the sources are not in the English table: one that was copied without translating it shows here.
  @Test("a Chinese text with letters and without Chinese characters is a name or a code")
  func latin() throws {
    let chinese = try Self.texts("zh-Hans")
    let latin = chinese.keys.filter { key in
      let text = chinese(key).replacing(/\{[a-z0-9_.]+\}/, with: "")
      return text.contains(/[A-Za-z]{2}/) && !text.contains(/\p{Script=Han}/)
    }
    #expect(latin.subtracting(Self.sameInChinese).symmetricDifference(Self.latinInChinese).sorted() == [])
  }

  @Test("Chinese has full-width punctuation, a blank beside Latin letters and digits, and no 您")
  func typography() throws {
    let chinese = try Self.texts("zh-Hans")
    for key in chinese.keys {
      let text = chinese(key)
      #expect(!text.contains(/\p{Script=Han}[,.;:!?()]|[,;!?]\p{Script=Han}/), "\(key): \(text)")
      let plain = text.replacing(/\{[a-z0-9_.]+\}/, with: "").replacing(/[{}]/, with: "")
      #expect(!plain.contains(/\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/), "\(key): \(text)")
      #expect(!text.contains(/\p{Script=Han}\{count\}|\{count\}\p{Script=Han}/), "\(key): \(text)")
      #expect(!text.contains("您") && !text.contains("..。") && !text.contains("。。"), "\(key): \(text)")
      #expect(!text.contains("响应") || text.contains("响应时间"), "an answer is 应答: \(key)")
      #expect(!text.contains("上报"), "apps report with 报告: \(key)")
      #expect(!text.contains(/锁定屏幕|对讲|控件|个主机/), "锁屏, 按键通话, 控制项, 台主机: \(key)")
      // Apple's Topic keeps its name: 主题 is FCM's.
      #expect(!key.hasPrefix("certificates.") || !text.contains("主题"), "\(key): \(text)")
    }
  }

  /// Schedules may run once: 周期推送 alone is what repeats (docs/glossary.md).
  @Test("what is said of every schedule in Chinese does not say that it repeats")
  func schedules() throws {
    let repeating: Set = ["schedules.none_next", "schedules.repeats_label"]
    var count = 0
    for folder in [Self.folder, ConsoleScene.root.appendingPathComponent("Templates/mail/locales")] {
      let (english, chinese) = (try Self.texts("en", in: folder), try Self.texts("zh-Hans", in: folder))
      let keys = chinese.keys.subtracting(repeating).filter { key in
        key.hasPrefix("schedules.") || english.known(key)?.contains(/\b[Ss]chedules?\b/) == true
      }
      count += keys.count
      for key in keys {
        #expect(!chinese(key).replacing(/定时[与或]周期推送/, with: "").contains("周期推送"), "\(key): \(chinese(key))")
      }
    }
    #expect(count > 60)
  }

  @Test("what stands in parentheses after a name is written as the language writes it")
  func parentheses() throws {
    let built = try Self.sources("Sources/Console").flatMap { $0.matches(of: /.*\) \(\\\(.*/).map { String($0.0) } }
    #expect(built == [], "Texts.noted(_:_:) does it")
    let texts = try Self.texts("zh-Hans")
    #expect(texts.noted("Shop", texts.daysLeft(3)).hasSuffix("）"))
  }

  /// Words that templates write in every language: formats, keys of payloads, commands.
  private static let templateWords: Set<String> = [
    "-----BEGIN CERTIFICATE-----", "-curl", ".ics", "CSV", "JSON", "NDJSON", "JPush", "Signalbox", "UTC",
    "Ctrl", "Enter", "Esc", "content-available", "curl", "http://user:password@proxy.example.com:3128", "iOS",
    "msg_id", "mutable-content", "openapi.json", "show-", "signalbox oidc allow-passwords", "signalbox users link",
    "signalbox users link you@example.com", "signalbox users require-second-step nobody",
  ]

  @Test("templates have no words of their own: letters between tags come from the tables")
  func templates() throws {
    let base = ConsoleScene.root.appendingPathComponent("Templates")
    var found: Set<String> = []
    for case let name as String in try #require(FileManager.default.enumerator(atPath: base.path))
    where name.hasSuffix(".mustache") && !name.hasPrefix("mail/") {
      var text = try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
      // Blocks of plain words: those that people read have names like these, others are classes, paths and names.
      for match in text.matches(of: /\{\{\$([a-z_]+)\}\}([^<{]*)\{\{\//)
      where ["aside", "caption", "heading", "hint", "label", "lead", "parent", "summary", "title"].contains(match.1) {
        found.insert(String(match.2))
      }
      text = text.replacing(/\{\{\$[a-z_]+\}\}[^<{]*\{\{\/[a-z_]+\}\}/, with: "")
      text = text.replacing(
        /(?s)\{\{\$(attributes|body_attributes|action|back|class|form|href|name|tone)\}\}.*?\{\{\/\1\}\}/, with: "")
      text = text.replacing(/\{\{[^}]*\}\}/, with: "")
      for match in text.matches(of: /(?:aria-label|title|placeholder|alt)="([^"]*)"/) { found.insert(String(match.1)) }
      found.formUnion(text.replacing(/<[^>]*>/, with: "\u{1}").split(separator: "\u{1}").map(String.init))
    }
    let trimmed = found.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    let words = Set(trimmed.filter { $0.contains(/[A-Za-z]{2}/) })
    #expect(words.subtracting(Self.templateWords).sorted() == [])
  }
}

/// What pages show in Chinese.
@Suite("Pages in Chinese: no English sentence is left")
struct ChinesePageTests {
  /// Names of others that stay as they are.
  private static let allowed = [
    "Apple Push Notification service SSL (Sandbox & Production)", "Apple Push Notifications service (APNs)",
    "Firebase Cloud Messaging API",
  ]

  /// English sentences that a person reads on a page: four words in a row, outside code and what the demo sent.
  private static func sentences(_ page: ScenePage) -> Set<String> {
    let code: Set<String> = ["code", "pre", "script", "style", "textarea"]
    var runs: Set<String> = []
    var depth = 0
    func note(_ text: String) {
      var text = text
      for name in allowed { text = text.replacing(name, with: "") }
      for match in text.matches(of: /[A-Za-z][a-z'’]*(?:,? [A-Za-z][a-z'’]*){3,}/) { runs.insert(String(match.0)) }
    }
    for tag in page.tags {
      if code.contains(tag.name) { depth += 1 }
      if tag.isEnd, code.contains(String(tag.name.dropFirst())) { depth -= 1 }
      if depth == 0 { note(tag.text) }
      for name in ["aria-label", "title", "placeholder", "alt"] {
        if let text = tag.attributes[name] { note(text) }
      }
    }
    return runs
  }

  @Test(
    "no page of the demo has an English sentence, and each says its language", arguments: [SceneWorld.empty, .demo])
  func pages(world: SceneWorld) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let addresses = try await world.fill(scene)
      var anna = try await scene.signIn(.admin)
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      var found: [String: String] = [:]
      var count = 0
      for pattern in PageWalkTests.pages(scene) {
        for target in addresses.targets(pattern) {
          let answer = try await anna.get(target)
          guard answer.type == "text/html" else { continue }
          count += 1
          #expect(answer.response.headers["Content-Language"] == "zh-Hans", "\(target)")
          #expect(answer.response.headers.values(of: "Vary").joined().contains("Accept-Language"), "\(target)")
          let page = ScenePage(answer)
          let html = page.tags.first { $0.name == "html" }
          #expect(html?.attributes["lang"] == "zh-Hans", "\(target)")
          // The reference quotes the OpenAPI documents, which are English.
          if !target.hasPrefix("/docs") { for sentence in Self.sentences(page) { found[sentence] = target } }
        }
      }
      #expect(count > (world == .empty ? 20 : 60))
      let english = found.map { "\($0.key) (\($0.value))" }.sorted()
      #expect(english == [])
    }
  }

  @Test("the browser's language decides before sign-in, the choice on the page after it")
  func choice() async throws {
    try await ConsoleScene.with { scene in
      var guest = SceneBrowser(router: scene.router)
      let chinese = ["Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"]
      let first = try await guest.get("/session/new", headers: chinese)
      #expect(ScenePage(first).text.contains("登录") && first.text.contains("<html lang=\"zh-Hans\""))
      let switches = ScenePage(first).tags.filter { $0.attributes["name"] == "lang" }.map { $0.attributes["value"] }
      #expect(switches == ["en"])
      let unknown = try await guest.get("/session/new", headers: ["Accept-Language": "zh-TW, de"])
      #expect(unknown.text.contains("<html lang=\"en\""))
      guest.csrf = ScenePage(first).values("csrf").first ?? ""
      // The address of a refused form takes only POST: the switch leads to the page of the form.
      let refused = ScenePage(
        try await guest.post(
          "/session", [("email", "nobody@example.com"), ("password", "x"), ("return", "/pushes?q=a&app=1")]))
      #expect(refused.forms.contains { $0.attributes["action"] == "/session" })
      #expect(refused.values("return").contains("/session/new?return=/pushes%3Fq%3Da%26app%3D1"))
      _ = try await guest.post("/language", [("lang", "en"), ("return", "/session/new")])
      let chosen = try await guest.get("/session/new", headers: chinese)
      #expect(chosen.text.contains("<html lang=\"en\""))
      // An unknown address has no handler: its page is in the chosen language all the same.
      var other = SceneBrowser(router: scene.router)
      other.cookies = ["signalbox_language": "zh-Hans"]
      let missing = try await other.get("/nowhere")
      #expect(missing.text.contains("页面不存在"))
    }
  }

  @Test("a switch keeps the filters of a list, the secret of a first start, and what is typed into the send form")
  func kept() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      let start = try #require(try await scene.console.firstStartLink())
      var guest = SceneBrowser(router: scene.router)
      #expect(ScenePage(try await guest.get(start)).values("return") == [start])
      var ben = try await scene.signIn(.operator)
      let list = "/pushes?q=a%20b&environment=production"
      #expect(ScenePage(try await ben.get(list)).values("return") == [list])
      // The address of a refused form takes only POST: the switch leads to the form's page, with what was typed.
      let refused = ScenePage(
        try await ben.post(
          "/devices", [("app", ConsoleScene.bundleID)], headers: ["Referer": "http://localhost/devices/new"]))
      let offersLanguage = refused.tags.contains { $0.attributes["name"] == "lang" }
      #expect(offersLanguage)
      #expect(refused.values("return").first?.hasPrefix("/devices/new?kept=") == true)
      // A page that only says what went wrong holds nothing typed: the switch leads back.
      for (referer, back) in [("http://localhost/devices?state=active", "/devices?state=active"), (nil, "/")] {
        let wrong = ScenePage(
          try await ben.post("/devices/99999/release", [], headers: referer.map { ["Referer": $0] } ?? [:]))
        #expect(wrong.text.contains("404") && wrong.values("return") == [back])
      }

      let fields = SendPageTests.fields.filter { $0.0 != "tag" } + [("tag", "nobody")]
      let form = ScenePage(try await ben.get("/pushes/new"))
      let review = ScenePage(try await ben.post("/pushes/preview", SendPageTests.fields))
      for (page, id) in [(form, "push"), (review, "review")] {
        let button = try #require(page.tags.first { $0.attributes["name"] == "lang" })
        #expect(button.attributes["form"] == id && button.attributes["formaction"] == "/pushes/preview")
        #expect(page.forms.contains { $0.attributes["id"] == id })
        // Enter in a field presses the first: it must review or send, not change the language.
        let first = page.tags.first { $0.name == "button" && $0.attributes["form"] == id }
        #expect(first?.attributes["name"] == nil && first?.attributes["formaction"] == nil)
      }
      let typed = ScenePage(try await ben.post("/pushes/preview", fields + [("lang", "zh-Hans")]))
      #expect(typed.text.contains("发送推送") && typed.values("title") == ["Hello"] && typed.values("tag") == ["nobody"])
      #expect(ben.cookies["signalbox_language"] == "zh-Hans")
      let reviewed = ScenePage(
        try await ben.post("/pushes/preview", SendPageTests.fields + [("review", "1"), ("lang", "en")]))
      #expect(reviewed.text.contains("Review and send") && reviewed.values("title") == ["Hello"])
      #expect(reviewed.values("lang").isEmpty, "it is no field of the push")
      #expect(try await scene.count("pushes") == 0)
    }
  }

  @Test("what is refused outside the shell can be read in another language, and its form is not lost")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let start = try #require(try await scene.console.firstStartLink())
      let token = try #require(start.split(separator: "=").last.map(String.init))
      var guest = try await SignInTests.guest(scene)
      let short = ScenePage(
        try await guest.post("/session/setup", [("token", token), ("email", "a@b.example"), ("password", "x")]))
      #expect(!short.error("password").isEmpty && short.values("return") == ["/session/setup#token=\(token)"])
      #expect(short.tags.contains { $0.attributes["name"] == "lang" && $0.attributes["value"] == "zh-Hans" })
      let wrong = ScenePage(
        try await guest.post("/session", [("email", "a@b.example"), ("password", "x"), ("return", "/pushes")]))
      #expect(wrong.values("return").contains("/session/new?return=/pushes"))

      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      try await scene.requireSecondStep(.everybody)
      #expect(try await ben.post("/account/second-step/begin").status == 303)
      let refused = try await ben.post("/account/second-step", [("code", "000000")])
      #expect(refused.status == 422 && !refused.text.contains("href=\"/devices\""), "outside the shell")
      #expect(ScenePage(refused).values("return") == ["/account/second-step"])
      let proof = try await ben.post("/session/confirm", [("proof", "wrong"), ("return", "/account/second-step")])
      #expect(proof.status == 422)
      #expect(ScenePage(proof).values("return").contains("/session/confirm?return=/account/second-step"))
    }
  }

  @Test("the calendar is in its owner's language")
  func calendar() async throws {
    try await ConsoleScene.with { scene in
      try await scene.store.write { try HostSamples.add($0) }
      var anna = try await scene.signIn(.viewer)
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let made = try await anna.post("/certificates/calendar")
      let key = try #require(made.text.firstMatch(of: /certificates\.ics\?key=([A-Za-z0-9_-]+)/)).1
      let answer = try await scene.call(.get, "/certificates.ics?key=\(key)", as: nil)
      #expect(answer.text.contains("SUMMARY:mail.example.com:443 到期\r\n"))
      #expect(answer.text.contains("类型：主机"))
      #expect(!answer.text.contains("Kind:") && !answer.text.contains("expires"))
    }
  }

  @Test("dates, lists, rules and numbers are written as in Chinese")
  func forms() throws {
    let locales = try Locales(folder: ConsoleScene.root.appendingPathComponent("Templates/locales").path)
    let texts = locales["zh-Hans"]
    #expect(texts.day(ConsoleScene.noon) == "2026年11月20日")
    #expect(texts.minute(ConsoleScene.noon).hasPrefix("2026年11月20日 "))
    #expect(locales["en"].day(ConsoleScene.noon) == "20 Nov 2026")
    #expect(locales["en"].minute(ConsoleScene.noon) == "20 Nov 2026, 12:00 UTC")
    #expect(locales["en"].localized("2026-03-05 09:00 Asia/Shanghai") == "5 Mar 2026, 09:00 Asia/Shanghai")
    #expect(texts.localized("2026-03-05 09:00 UTC") == "2026年3月5日 09:00 UTC")
    #expect(texts.localized("20260305") == "20260305")
    let excess = Problem(
      "", code: "none", "{size} bytes, {excess} over {limit}.", ["size": "4303", "excess": "207", "limit": "4096"])
    #expect(locales["en"].text(excess) == "4,303 bytes, 207 over 4,096.")
    let day = ["date": texts.day(ConsoleScene.noon)]
    #expect(texts("reminders.silences_none", day) == "2026年11月20日之前没有提醒。", "no blank after 日")
    #expect(texts("reminders.silences_none", ["date": "7/8"]) == "7/8 之前没有提醒。")
    #expect(texts.list(["a", "b"]) == "a、b" && texts.clauses(["a", "b"]) == "a，b")
    let scopes = Problem("", code: "token.scopes", "Choose: {scopes}.", ["scopes": "read, admin"])
    #expect(texts.text(scopes) == "请至少选择一项权限：read、admin。")
    #expect(TopicResultRow.sentence("NOT_FOUND", texts).hasPrefix("NOT_FOUND："))
    let profile: JSONValue = ["profile": ["platforms": ["iOS", "visionOS"]]]
    let rows = FileDetailRows(profile, kind: .provisioningProfile, environments: []).rows(texts)
    #expect(rows.contains { $0.value == "iOS、visionOS" })
    #expect(["一。", "二。"].sentences == "一。二。" && ["One.", "Two."].sentences == "One. Two.")
    #expect(texts("send.devices", count: 12_480) == "12,480 台设备")
    #expect(texts("when.daily", count: 1) == "每天" && texts("when.daily", count: 2) == "每 2 天")
    let problem = Problem(
      "", CredentialMessage.environment,
      ["name": "Shop", "environment": "production", "environments": "development, production"])
    #expect(texts.text(problem) == "“Shop”适用于开发环境、生产环境，不适用于生产环境。")
    #expect(locales["en"].text(problem) == problem.text)
    let quoted = Problem("", code: "x", "This machine's DNS: 'news' in topics")
    #expect(locales["en"].text(quoted) == "This machine’s DNS: 'news' in topics", "as the pages write it")
    #expect(texts.remedy(Reason.of("JPush 1004")) != Reason.of("JPush 1004").remedy)
    #expect(texts.cause(Reason.of("Expired (ServiceUnavailable)")) == texts.cause(Reason.of("Expired")))
  }
}
