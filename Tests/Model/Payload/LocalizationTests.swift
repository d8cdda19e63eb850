import JSON
import Testing

@testable import Model

@Suite("Texts in several languages")
struct LocalizationTests {
  struct Match: Sendable, CustomTestStringConvertible {
    let device: String?
    let texts: [String]
    /// Nil: the default text.
    let language: String?

    init(_ device: String?, _ texts: [String], _ language: String?) {
      (self.device, self.texts, self.language) = (device, texts, language)
    }

    var testDescription: String { "\(device ?? "none") among \(texts): \(language ?? "default")" }
  }

  static let matches = [
    // RFC 4647 §3.4: from the whole tag to the language alone.
    Match("de", ["de"], "de"), Match("de-CH-1996", ["de"], "de"), Match("de-CH-1996", ["de", "de-CH"], "de-CH"),
    Match("pt-BR", ["pt"], "pt"), Match("pt-BR", ["pt", "pt-BR"], "pt-BR"), Match("pt", ["pt-BR"], nil),
    Match("en-US", ["en-GB"], nil), Match("fr", ["de", "zh-Hans"], nil), Match("den", ["de"], nil),
    Match(nil, ["de"], nil), Match("", ["de"], nil), Match("?", ["de"], nil), Match("x-private", ["de"], nil),
    // As devices write it.
    Match("DE_at", ["de"], "de"), Match("de-DE-u-co-phonebk", ["de-DE"], "de-DE"),
    Match("pt_BR.UTF-8", ["pt-BR"], "pt-BR"), Match("sr_RS_#Latn", ["sr-Latn"], "sr-Latn"),
    Match("iw-IL", ["he"], "he"), Match("in", ["id"], "id"), Match("zho-Hant-TW", ["zh-Hant"], "zh-Hant"),
    // Chinese by its script.
    Match("zh-CN", ["zh-Hans"], "zh-Hans"), Match("zh-Hans-CN", ["zh-Hans", "zh-Hant"], "zh-Hans"),
    Match("zh_CN_#Hans", ["zh-Hans"], "zh-Hans"), Match("zh-SG", ["zh-Hant", "zh-Hans"], "zh-Hans"),
    Match("zh", ["zh-Hant", "zh-Hans"], "zh-Hans"), Match("zh-TW", ["zh-Hans", "zh-Hant"], "zh-Hant"),
    Match("zh-HK", ["zh-Hant"], "zh-Hant"), Match("zh-MO", ["zh-Hans", "zh-Hant"], "zh-Hant"),
    Match("zh-Hant-TW", ["zh-Hant"], "zh-Hant"), Match("zh-Hant-HK", ["zh-TW", "zh-HK"], "zh-HK"),
    Match("zh-Hans-CN", ["zh-CN", "zh-TW"], "zh-CN"), Match("zh-Hant", ["zh-CN", "zh-TW"], "zh-TW"),
    Match("zh-HK", ["zh-CN", "zh-TW"], "zh-TW"), Match("zh-Hans", ["zh-CN"], "zh-CN"),
    Match("zh-CN", ["zh-Hans", "zh-CN"], "zh-CN"), Match("zh-TW", ["zh-Hans"], nil), Match("zh-CN", ["zh-Hant"], nil),
    Match("zh-TW", ["zh"], "zh"), Match("zh-Hans-CN", ["zh"], "zh"), Match("zh-Hant-CN", ["zh-CN"], nil),
    Match("yue-Hant-HK", ["zh-Hant"], "zh-Hant"), Match("zh-yue-HK", ["yue"], "yue"),
    Match("cmn-Hans-CN", ["zh-Hans"], "zh-Hans"),
    // One language under two names.
    Match("nb-NO", ["no"], "no"), Match("no", ["nb"], "nb"),
  ]

  @Test("a tag of very many parts is read at once", .timeLimit(.minutes(1)))
  func manyParts() {
    let text = "de-CH-" + String(repeating: "abcde-", count: 200_000) + "?"
    #expect(LanguageTag(reported: text)?.text.hasPrefix("de-CH-abcde") == true)
    let problem = #expect(throws: Problem.self) { try LanguageTag(parsing: text) }
    #expect(problem?.code == LocalizationMessage.tagSimilar.code)
  }

  @Test("a device gets the text that fits its language best", arguments: matches)
  func lookup(match: Match) throws {
    let tags = try match.texts.map { text throws(Problem) in try LanguageTag(parsing: text) }
    let variant = LanguageMatcher(tags).variant(for: match.device)
    #expect((variant == 0 ? nil : match.texts[variant - 1]) == match.language)
  }

  @Test(
    "a tag is written in the usual way",
    arguments: [
      ("DE", "de"), ("ZH-hANS", "zh-Hans"), ("pt-br", "pt-BR"), ("zh-hant-hk", "zh-Hant-HK"), ("es-419", "es-419"),
      ("iw", "he"), ("zh-cmn-Hans", "zh-Hans"), ("sl-rozaj", "sl-rozaj"), ("fil", "fil"), ("eng", "en"),
    ])
  func canonical(text: String, tag: String) throws {
    let parsed = try LanguageTag(parsing: text)
    #expect(parsed.text == tag)
  }

  @Test(
    "what is no tag is refused, with the one that is meant if that is clear",
    arguments: [
      ("zh_CN", "zh-CN"), ("Chinese", "zh-Hans"), ("english", "en"), ("cn", "zh-Hans"), ("jp", "ja"), ("jp-JP", "ja"),
      ("zh-cht", "zh-Hant"), ("de DE", nil), ("de-", "de"), ("", nil), ("qq", nil), ("中文", nil), ("de-u-co-x", "de"),
      ("*", nil), ("en-US-US", "en-US"),
    ] as [(String, String?)])
  func refused(text: String, suggestion: String?) {
    var found: Problem?
    do throws(Problem) { _ = try LanguageTag(parsing: text) } catch { found = error }
    #expect(found?.arguments["suggestion"] == suggestion && found?.arguments["value"] == text)
    if let found { expectFilled(found) }
  }

  // MARK: The draft

  private func problems(_ notification: JSONValue, _ change: (inout [String: JSONValue]) -> Void = { _ in }) -> [String]
  {
    do throws(Problems) {
      _ = try PushDraftTests.read {
        $0["notification"] = notification
        change(&$0)
      }
      return []
    } catch {
      for problem in error.all { expectFilled(problem) }
      return error.all.map { "\($0.field) \($0.code)" }
    }
  }

  private func texts(_ localizations: JSONValue) -> JSONValue { ["body": "Hi", "localizations": localizations] }

  @Test("a text takes the place of the default one, part by part, and is read back as it was written")
  func variants() throws {
    let draft = try PushDraftTests.read {
      $0["notification"] = [
        "title": "Order", "body": "On its way", "badge": 1,
        "localizations": [
          "zh-hans": ["title": "订单", "body": "已发货"], "DE": ["body": "Unterwegs", "title": "", "subtitle": .null],
        ],
      ]
    }
    #expect(draft.notification.localizations.map(\.language.text) == ["de", "zh-Hans"])
    let variants = draft.variants
    #expect(variants.map(\.notification.title) == ["Order", "Order", "订单"])
    #expect(variants.map(\.notification.body) == ["On its way", "Unterwegs", "已发货"])
    let isPlain = variants.allSatisfy { $0.notification.localizations.isEmpty && $0.notification.badge == 1 }
    #expect(isPlain)
    #expect([0, 1, 2, 3, -1].map { draft.language(of: $0)?.text } == [nil, "de", "zh-Hans", nil, nil])
    #expect(draft.localized(7) == variants[0])
    let again = try PushDraft(json: draft.json)
    #expect(again == draft && draft.json["notification"]?["localizations"]?["de"] == ["body": "Unterwegs"])
    let plain = try PushDraftTests.read { _ in }
    #expect(plain.languages == nil && plain.variants == [plain])
  }

  @Test("each mistake is named with its path")
  func mistakes() {
    let path = "notification.localizations"
    #expect(problems(texts(["zh_CN": ["body": "x"]])) == ["\(path).zh_CN localization.tag_similar"])
    #expect(problems(texts(["中文": ["body": "x"]])) == ["\(path)[\"中文\"] localization.tag"])
    #expect(problems(texts(["DE": ["body": "x"], "de": ["body": "y"]])) == ["\(path).de localization.same"])
    #expect(problems(texts(["iw": ["body": "x"], "he": ["body": "y"]])) == ["\(path).iw localization.same"])
    #expect(problems(texts(["de": [:]])) == ["\(path).de localization.empty"])
    #expect(problems(texts(["de": ["title": ""]])) == ["\(path).de localization.empty"])
    #expect(problems(texts(["de": ["boddy": "x"]])).contains("\(path).de.boddy field.unknown_similar"))
    let long = JSONValue.string(String(repeating: "x", count: PushLimits.title + 1))
    #expect(problems(texts(["de": ["title": long]])) == ["\(path).de.title field.too_many_characters"])
    #expect(problems(texts(["de": "x"])) == ["\(path).de field.expected"])
    #expect(problems(texts([])) == ["\(path) field.expected"])
    #expect(problems(["badge": 1, "localizations": ["de": ["body": "x"]]]) == ["notification localization.no_default"])
    let raw = problems(texts(["de": ["body": "x"]])) { $0["apns"] = ["payload": ["aps": ["alert": "raw"]]] }
    #expect(raw == ["apns.payload localization.raw_payload"])
    let android = problems(texts(["de": ["body": "x"]])) {
      $0["android"] = ["notification": ["title_loc_key": "hello", "channel_id": "news"]]
    }
    #expect(android == ["android.notification.title_loc_key localization.android_text"])
    let codes = ["aa", "ab", "af", "ak", "am", "an", "ar", "as", "av", "ay", "az", "ba", "be", "bg", "bi", "bm", "bn"]
    let many = Dictionary(uniqueKeysWithValues: (codes + ["bo", "br", "bs"]).map { ($0, ["body": "x"] as JSONValue) })
    #expect(problems(texts(.object(many))) == [])
    #expect(problems(texts(.object(many.merging(["ca": ["body": "x"]]) { $1 }))) == ["\(path) field.too_many"])
  }

  @Test("a template names the same mistakes, and fills places in every language")
  func template() throws {
    let content: JSONValue = [
      "notification": [
        "body": "Order {{order}}", "localizations": ["de": ["body": "Bestellung {{order}}, {{day}}"]],
      ]
    ]
    let template = try MessageTemplate(json: content)
    #expect(template.places == ["day", "order"])
    let filled = try template.filled(["order": 7, "day": "Montag"])
    #expect(filled["notification"]?["localizations"]?["de"]?["body"] == "Bestellung 7, Montag")
    let wrong: JSONValue = ["notification": ["body": "x", "localizations": ["german": ["body": "y"]]]]
    let error = #expect(throws: Problems.self) { try MessageTemplate(json: wrong) }
    #expect(error?.all.map(\.field) == ["notification.localizations.german"])
  }

  // MARK: The checks

  private func lint(_ change: (inout PushDraft) -> Void, _ context: Lint.Context = .init()) throws -> [Lint.Finding] {
    var draft = try PushDraftTests.read {
      $0["notification"] = ["title": "Order", "body": "Hi", "localizations": ["de": ["title": "x", "body": "Hallo"]]]
    }
    change(&draft)
    let findings = Lint.findings(in: draft, context).filter { $0.problem.code.hasPrefix("localization.") }
    for finding in findings { expectFilled(finding.problem) }
    return findings
  }

  @Test("each text is checked by itself, and the one that is too large is named")
  func checks() throws {
    let path = "notification.localizations.de"
    #expect(try lint { _ in } == [])
    let large = try lint(
      { $0.notification.localizations[0].body = String(repeating: "ä", count: 2300) },
      .init(jpush: Set(Platform.allCases)))
    #expect(lines(large) == Array(repeating: "error \(path) localization.too_large", count: 3))
    #expect(large.map { $0.problem.arguments["provider"] } == ["APNs", "FCM", "JPush"])
    #expect(large.allSatisfy { $0.problem.arguments["language"] == "de" })
    let near = try lint { $0.notification.localizations[0].body = String(repeating: "a", count: 3900) }
    #expect(lines(near) == ["hint \(path) localization.near_limit"])
    let json = try lint { $0.notification.localizations[0].body = #"{"a": 1}"# }
    #expect(lines(json) == ["warning \(path).body localization.json_as_text"])
    let partial = try lint { $0.notification.localizations[0].title = nil }
    #expect(lines(partial) == ["warning \(path) localization.partial"])
    let topic = try lint {
      ($0.audience, $0.platforms) = (.topic("news"), [.android])
      $0.notification.localizations[0].title = nil
    }
    #expect(lines(topic) == ["warning notification.localizations localization.subscribers"])
  }
}
