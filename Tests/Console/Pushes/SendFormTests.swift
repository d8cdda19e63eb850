import Foundation
import JSON
import Model
import TestSupport
import Testing

@testable import Console

/// Form ↔ draft, without pages.
@Suite("Send form: what is typed, and the draft")
struct SendFormTests {
  private static let good: [(String, String)] = [
    ("app", "com.example.shop"), ("environment", "development"), ("platforms", "ios"), ("audience", "all"),
    ("body", "Hello"),
  ]

  private static func form(_ changes: [(String, String)], without removed: Set<String> = []) -> Form {
    let names = Set(changes.map(\.0)).union(removed)
    return Form((good.filter { !names.contains($0.0) } + changes).map { (name: $0.0, value: $0.1) })
  }

  private static func problems(_ form: Form) -> [Problem] {
    do {
      _ = try SendForm(form: form).draft()
      return []
    } catch {
      return error.all
    }
  }

  @Test("the smallest form is a draft")
  func smallest() throws {
    let draft = try SendForm(form: Self.form([])).draft()
    #expect(draft.app == "com.example.shop" && draft.environment == .development && draft.platforms == [.ios])
    #expect(draft.audience == .all && draft.notification.body == "Hello")
    #expect(draft.options == PushDraft.Options() && draft.apns == PushDraft.APNsOverrides())
  }

  @Test(
    "each field's limit is kept, one more is told at that very field",
    arguments: [
      ("title", 256, "field.too_many_characters"), ("subtitle", 256, "field.too_many_characters"),
      ("body", 5120, "field.too_many_characters"), ("sound", 255, "field.too_many_characters"),
      ("category", 255, "field.too_many_characters"), ("thread_id", 255, "field.too_many_characters"),
      ("link", 255, "field.too_many_characters"), ("collapse_id", 64, "field.too_many_bytes"),
    ])
  func limits(field: String, limit: Int, code: String) {
    #expect(Self.problems(Self.form([(field, String(repeating: "x", count: limit))])) == [])
    let problems = Self.problems(Self.form([(field, String(repeating: "x", count: limit + 1))]))
    #expect(problems.map(\.field) == [field] && problems.map(\.code) == [code])
    // Counted as people count; what goes into a header of APNs, as APNs does.
    let isPlain = code == "field.too_many_characters"
    #expect(Self.problems(Self.form([(field, String(repeating: "ü", count: limit))])).isEmpty == isPlain)
  }

  @Test(
    "what cannot be read is told at the field where it was typed",
    arguments: [
      ([("badge", "x")], "badge"), ([("badge", "-x")], "badge"), ([("badge", "100000")], "badge"),
      ([("badge", "+100000")], "badge"), ([("badge", "1.5")], "badge"), ([("badge", "99999999999999999999")], "badge"),
      ([("time_to_live", "x")], "time_to_live"), ([("time_to_live", "-1")], "time_to_live"),
      ([("time_to_live", "2419201")], "time_to_live"), ([("interruption_level", "loud")], "interruption_level"),
      ([("priority", "highest")], "priority"), ([("push_type", "x")], "push_type"),
      ([("image", "ftp://x")], "image"), ([("image", "x")], "image"), ([("environment", "")], "environment"),
      ([("environment", "test")], "environment"), ([("app", "")], "app"), ([("app", "not an id")], "app"),
      ([("platforms", "windows")], "platforms"), ([("audience", "")], "audience"),
      ([("audience", "tag")], "audience"), ([("audience", "nonsense")], "nonsense"),
      ([("audience", "segment"), ("segment", String(repeating: "x", count: 101))], "segment"),
      ([("audience", "alias")], "audience"), ([("audience", "device_token"), ("device_token", "zz")], "device_token"),
      ([("audience", "registration_id"), ("registration_id", "a-b")], "registration_id"),
      ([("audience", "tag"), ("tag", String(repeating: "x", count: 41))], "tag"),
      ([("audience", "tag"), ("tag_and", String(repeating: "x", count: 41))], "tag_and"),
      ([("audience", "tag"), ("tag", "a"), ("tag_not", String(repeating: "x", count: 41))], "tag_not"),
      ([("audience", "tag"), ("tag", (0...20).map { "t\($0)" }.joined(separator: ","))], "tag"),
      ([("extras", "{")], "extras"), ([("extras", "[1]")], "extras"), ([("extras", "{\"a\":1,\"a\":2}")], "extras"),
      ([("payload", "{]")], "payload"), ([("payload", "7")], "payload"),
      ([("apns_headers", "apns-topic")], "apns_headers"),
      ([("apns_headers", "apns-nonsense: 1")], "apns_headers"),
      ([("apns_headers", "apns-priority: 11")], "apns_headers"),
      ([("body", "a\u{0}b")], "body"),
    ] as [([(String, String)], String)])
  func places(changes: [(String, String)], field: String) {
    let problems = Self.problems(Self.form(changes))
    #expect(!problems.isEmpty)
    #expect(Set(problems.map(\.field)) == [field])
    #expect(
      problems.allSatisfy {
        !$0.text.isEmpty && !$0.text.contains("{") || $0.field == "extras" || $0.field == "payload"
      })
  }

  @Test("nothing chosen: every place is named at once")
  func nothing() {
    let fields = Set(Self.problems(Form([])).map(\.field))
    #expect(fields.isSuperset(of: ["app", "environment", "platforms", "audience", "body"]))
  }

  @Test(
    "a path of the API's JSON belongs to a field of the form",
    arguments: [
      ("app", "app"), ("environment", "environment"), ("platforms", "platforms"), ("platforms[0]", "platforms"),
      ("audience", "audience"), ("audience.tag[3]", "tag"), ("audience.tag_and[0]", "tag_and"),
      ("audience.device_token[17]", "device_token"), ("audience.alias", "alias"), ("notification", "body"),
      ("notification.title", "title"), ("notification.extras.a.b", "extras"), ("options.time_to_live", "time_to_live"),
      ("options", "options"), ("apns.headers.apns-topic", "apns_headers"), ("apns.headers", "apns_headers"),
      ("apns.payload.aps.alert", "payload"), ("apns.payload", "payload"), ("apns", "payload"), ("", ""),
    ])
  func placed(path: String, field: String) {
    #expect(SendForm.placed(Problem(path, code: "x", "y")).field == field)
  }

  @Test("every place that checks name is a field of the form")
  func placesExist() throws {
    var draft = PushDraft(
      app: "com.example.shop", environment: .production, platforms: [.ios], audience: .all,
      notification: PushNotification())
    draft.notification.title = String(repeating: "x", count: 200)
    draft.notification.image = "https://example.com/a.png"
    draft.notification.extras = ["aps": [:], "big": .string(String(repeating: "x", count: 5000))]
    draft.apns.headers = ["apns-push-type": "background", "apns-priority": "10", "apns-topic": "other"]
    draft.options.priority = .high
    draft.options.pushType = .background
    let findings = Lint.findings(in: draft, Lint.Context(aliasRule: .jpush, now: ConsoleScene.noon, uid: "x"))
    #expect(findings.count > 2)
    let known = Set(
      SendForm.fields + ["app", "environment", "platforms", "audience", "content_available", "mutable_content"])
    for finding in findings {
      #expect(known.contains(SendForm.placed(finding.problem).field), "\(finding.problem.field)")
    }
  }

  @Test("beside JSON that cannot be read, no message is asked for", arguments: ["payload", "android"])
  func unreadable(field: String) {
    let problems = Self.problems(Self.form([(field, #"{"aps":{},}"#)], without: ["body"]))
    #expect(problems.map(\.field) == [field], "\(problems)")
    let none = Self.problems(Self.form([], without: ["body"]))
    #expect(none.map(\.code) == ["form.content"])
  }

  @Test("blanks around words are a slip, inside prose they stay")
  func blanks() throws {
    let draft = try SendForm(
      form: Self.form([
        ("title", "  Hi "), ("body", "one\r\ntwo "), ("sound", " ping.caf "), ("badge", " 3 "),
        ("app", " com.example.shop "),
        ("collapse_id", " "), ("extras", "  "), ("apns_headers", "\r\n apns-priority : 5 \r\n\r\n"),
      ])
    ).draft()
    #expect(draft.notification.title == "  Hi " && draft.notification.body == "one\ntwo ")
    #expect(draft.notification.sound == "ping.caf" && draft.notification.badge == 3)
    #expect(draft.app == "com.example.shop" && draft.options.collapseID == nil && draft.notification.extras.isEmpty)
    #expect(draft.apns.headers == ["apns-priority": "5"])
  }

  @Test("fields of another kind of audience are not used")
  func audiences() throws {
    func rule(_ changes: [(String, String)]) throws -> Audience.Rule {
      guard case .rule(let rule) = try SendForm(form: Self.form(changes)).draft().audience else {
        return Audience.Rule()
      }
      return rule
    }
    let token = ConsoleScene.token(7)
    let all: [(String, String)] = [
      ("tag", "a, b c\nd，e"), ("tag_and", "f"), ("tag_not", "g"), ("alias", "x y,z\nu、v"), ("registration_id", "1a 2b"),
      ("device_token", "<\(token.hexadecimal.prefix(8)) \(token.hexadecimal.dropFirst(8))>"),
    ]
    var rule1 = Audience.Rule()
    (rule1.tag, rule1.tagAnd, rule1.tagNot) = (["a", "b c", "d", "e"], ["f"], ["g"])
    #expect(try rule([("audience", "tag")] + all) == rule1)
    #expect(try rule([("audience", "alias")] + all).alias == ["x", "y", "z", "u", "v"])
    #expect(try rule([("audience", "alias")] + all).tag == [])
    #expect(try rule([("audience", "registration_id")] + all).registrationID == ["1a", "2b"])
    #expect(try rule([("audience", "device_token")] + all).deviceToken == [token])
    #expect(try SendForm(form: Self.form([("audience", "all")] + all)).draft().audience == .all)
  }

  @Test("a list copied from a program is taken apart in every field of names")
  func pastedLists() throws {
    func rule(_ kind: String, _ text: String) throws -> Audience.Rule {
      guard case .rule(let rule) = try SendForm(form: Self.form([("audience", kind), (kind, text)])).draft().audience
      else { return Audience.Rule() }
      return rule
    }
    let (one, two) = (ConsoleScene.token(1), ConsoleScene.token(2))
    for text in [
      "[\"\(one.hexadecimal)\",\"\(two.hexadecimal)\"]", "\(one.hexadecimal) \(two.hexadecimal)",
      "['\(one.hexadecimal)', '\(two.hexadecimal)']", "\(one.hexadecimal)\n\(two.hexadecimal)",
    ] {
      #expect(try rule("device_token", text).deviceToken == [one, two], "\(text)")
    }
    #expect(try rule("alias", #"["anna", "ben lee", 7]"#).alias == ["anna", "ben lee", "7"])
    #expect(try rule("tag", "[\"a,b\",\n\"c\"]").tag == ["a,b", "c"])
    #expect(try rule("registration_id", #"["1a","2b"]"#).registrationID == ["1a", "2b"])
    #expect(try rule("alias", "[a] b").alias == ["[a]", "b"])
  }

  @Test(
    "names with separators in them stand in quotes",
    arguments: [
      ["a"], ["a b"], ["a,b"], ["a, b", "c"], ["\"a\""], ["\"a"], ["a\"b"], ["a;b", "c、d", "e，f"], ["\", \""],
      ["\"\"\""], ["[\"a\"]"], ["[1]", "b"],
      ["Anna Maria", "Ben"],
    ])
  func quotedNames(names: [String]) {
    let form = Form([("x", Form.parts(names)), ("y", Form.words(names))])
    #expect(form.parts("x") == names && form.words("y") == names)
    #expect(Form.parts(["beta one", "vip"]) == "beta one, vip", "no quotes without need")
  }

  @Test(
    "an open quote is a letter like others",
    arguments: [
      ("\"a b", ["\"a b"]), ("a, \"b", ["a", "\"b"]), ("\"a\" b, c", ["\"a\" b", "c"]), ("\"\", a", ["a"]),
      (" , ,\n", []),
      ("5\" phone, x", ["5\" phone", "x"]),
    ] as [(String, [String])])
  func openQuotes(text: String, names: [String]) { #expect(Form([("x", text)]).parts("x") == names) }

  @Test("draft → form → draft: nothing is lost and nothing added", arguments: 0..<300)
  func roundTrip(seed: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    let draft = numbers.draft()
    let form = Form(draft)
    #expect(try SendForm(form: form).draft() == draft)
  }
}

/// Drafts at random, the same in every run.
extension SeededNumbers {
  private mutating func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &self) ? value : nil }

  private mutating func word() -> String {
    let words = ["a", "b c", "x,y", "usr_1", "小明", "\"q\"", "1;2", "ä、ö", "it's", "{{t}}", "<b>", "end\""]
    return words.randomElement(using: &self) ?? "a"
  }

  private mutating func words() -> [String] {
    var words: [String] = []
    for _ in 0..<Int.random(in: 1...4, using: &self) {
      let word = word()
      if !words.contains(word) { words.append(word) }
    }
    return words
  }

  fileprivate mutating func draft() -> PushDraft {
    var rule = Audience.Rule()
    switch Int.random(in: 0..<4, using: &self) {
    case 0: (rule.tag, rule.tagAnd, rule.tagNot) = (maybe(words()) ?? [], words(), maybe(words()) ?? [])
    case 1: rule.alias = words()
    case 2: rule.registrationID = ["1a2b", "3c"]
    default:
      rule.deviceToken = [
        ConsoleScene.token(Int.random(in: 0..<9999, using: &self)),
        DeviceToken(
          bytes: Array("fcm-\(Int.random(in: 1000...9999, using: &self)):APA91b_abcdefghijklmnopqrstuv".utf8)),
      ]
    }
    var draft = PushDraft(
      app: "com.example.shop", environment: maybe(.production) ?? .development,
      platforms: [.ios, .android], audience: maybe(.all) ?? .rule(rule), notification: PushNotification())
    draft.notification.title = maybe("  Title with\nlines ")
    draft.notification.subtitle = maybe(word())
    draft.notification.body = maybe("Body “\(word())” ") ?? "x"
    let number = Int.random(in: 0...99_999, using: &self)
    draft.notification.badge = maybe(maybe(Badge.set(number)) ?? Badge.add(number - 50_000))
    draft.notification.sound = maybe("default")
    draft.notification.category = maybe("invite")
    draft.notification.threadID = maybe(word())
    draft.notification.interruptionLevel = PushNotification.InterruptionLevel.allCases.randomElement(using: &self)
    draft.notification.image = maybe("https://example.com/a%20b.png?x=1&y=2")
    draft.notification.link = maybe("order/7")
    draft.notification.contentAvailable = Bool.random(using: &self)
    draft.notification.mutableContent = Bool.random(using: &self)
    draft.notification.extras = maybe(["a": [1, .double(2.5), true, .null, ["b": "</textarea>"]]]) ?? [:]
    draft.options.timeToLive = maybe(Int.random(in: 0...2_419_200, using: &self))
    draft.options.priority = maybe(.low)
    draft.options.collapseID = maybe("news")
    draft.options.pushType = maybe(.background)
    draft.apns.headers = maybe(["apns-priority": "5"]) ?? [:]
    draft.apns.payload = maybe(["aps": ["alert": ["title": .string(word())]], "big": 9_007_199_254_740_993])
    return draft
  }
}
