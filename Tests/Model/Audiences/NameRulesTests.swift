import Testing

@testable import Model

@Suite("Rules for names")
struct NameRulesTests {
  @Test(
    "JPush's answers to aliases, as docs/protocols.md §4.7 has them, and their neighbours",
    arguments: [
      ("user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", AliasRule.ResultCode.tooLong),
      ("e6882cab-cedf-4335-9b7c-612cd5b4d37d", .invalidCharacters),
      ("usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d", .accepted),
      (String(repeating: "a", count: 40), .accepted), (String(repeating: "a", count: 41), .tooLong),
      (String(repeating: "张", count: 13), .accepted), (String(repeating: "张", count: 14), .tooLong),
      ("张三@!#$&*+=.|_9zZ", .accepted), ("a b", .invalidCharacters), ("é", .invalidCharacters),
      ("名-前", .invalidCharacters), ("カ", .invalidCharacters), ("😀", .invalidCharacters), ("a\n", .invalidCharacters),
    ])
  func resultCodes(alias: String, code: AliasRule.ResultCode) {
    #expect(AliasRule.resultCode(for: alias) == code)
    #expect((AliasRule.jpush.problem(with: alias) == nil) == (code == .accepted))
    expectFilled(AliasRule.jpush.problem(with: alias))
  }

  @Test("of ASCII exactly JPush's characters are allowed", arguments: 0...127)
  func characters(byte: Int) {
    let allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@!#$&*+=.|"
    let name = String(Character(Unicode.Scalar(UInt8(byte))))
    #expect((AliasRule.jpush.problem(with: name) == nil) == allowed.contains(name))
    #expect((TagRule.problem(with: name, rule: .jpush) == nil) == allowed.contains(name))
  }

  @Test("the app's own form of a user id is offered")
  func usr() {
    let alias = "user-e6882cab-cedf-4335-9b7c-612cd5b4d37d"
    #expect(AliasRule.usr(alias) == "usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d")
    #expect(AliasRule.jpush.suggestion(for: alias) == "usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d")
    #expect(AliasRule.jpush.suggestion(for: "fine") == nil)
    #expect(AliasRule.jpush.suggestion(for: String(repeating: "-", count: 41)) == nil)
    #expect(AliasRule.none.suggestion(for: alias) == nil)
  }

  @Test(
    "without a rule an alias is any text",
    arguments: [
      ("user-1", nil), ("a b é 😀", nil), (String(repeating: "a", count: 255), nil), ("", NameMessage.empty.code),
      (String(repeating: "张", count: 255), nil),
      (String(repeating: "a", count: 256), FieldMessage.tooManyCharacters.code),
      (String(repeating: "张", count: 256), FieldMessage.tooManyCharacters.code),
      ("a\u{7}", NameMessage.controlCharacter.code), (" a", NameMessage.blankEdge.code),
      ("a ", NameMessage.blankEdge.code),
      (" é", NameMessage.blankEdge.code), ("é ", NameMessage.blankEdge.code), ("é\u{a0}", NameMessage.blankEdge.code),
      ("\u{3000}张", NameMessage.blankEdge.code),
    ] as [(String, String?)])
  func plainAlias(alias: String, message: String?) {
    #expect(AliasRule.none.problem(with: alias)?.code == message)
    expectFilled(AliasRule.none.problem(with: alias))
  }

  @Test(
    "tags",
    arguments: [
      ("vip", AliasRule.jpush, nil), ("北京", .jpush, nil), ("", .jpush, NameMessage.empty.code),
      ("beta-1", .jpush, NameMessage.tagCharacter.code), ("beta-1", .none, nil),
      (String(repeating: "t", count: 40), .jpush, nil),
      (String(repeating: "t", count: 41), .jpush, NameMessage.tagTooLong.code),
      (String(repeating: "t", count: 41), .none, FieldMessage.tooManyBytes.code),
      (String(repeating: "京", count: 14), .none, FieldMessage.tooManyBytes.code),
    ] as [(String, AliasRule, String?)])
  func tags(tag: String, rule: AliasRule, message: String?) {
    #expect(TagRule.problem(with: tag, rule: rule)?.code == message)
    expectFilled(TagRule.problem(with: tag, rule: rule))
  }

  @Test("a device has at most a thousand tags, each counted once")
  func tagCount() {
    let thousand = (1...1000).map { "t\($0)" }
    #expect(TagRule.problems(with: thousand, rule: .jpush) == [])
    #expect(TagRule.problems(with: thousand + ["t1"], rule: .jpush) == [])
    #expect(TagRule.problems(with: thousand + ["x"], rule: .jpush).map(\.code) == ["tag.too_many"])
    #expect(TagRule.problems(with: ["ok", "not-ok"], rule: .jpush).map(\.field) == ["[1]"])
  }

  @Test(
    "registration ids",
    arguments: [
      ("0207870f1b8", true), ("13165ffa4e0b5fb6ba3", true), ("", false), ("a-b", false), ("é", false),
      (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
    ])
  func registrationIDs(id: String, fits: Bool) {
    #expect((RegistrationID.problem(with: id) == nil) == fits)
    expectFilled(RegistrationID.problem(with: id))
  }

  @Test(
    "bundle ids",
    arguments: [
      ("com.example.app", nil), ("app", nil), ("com.example-1.App", nil), ("", NameMessage.bundleID),
      ("com..app", .bundleID), (".com", .bundleID), ("com.exa mple", .bundleID), ("com.exämple", .bundleID),
      ("com.example_app", .bundleID), (String(repeating: "a", count: 156), .bundleID),
      ("com.example.app.voip", .bundleIDSuffix), ("com.example.app.push-type.liveactivity", .bundleIDSuffix),
      ("com.example.app\n", .bundleID),
    ] as [(String, NameMessage?)])
  func bundleIDs(id: String, message: NameMessage?) {
    #expect(AppName.problem(withBundleID: id)?.code == message?.code)
    expectFilled(AppName.problem(withBundleID: id))
  }

  @Test(
    "package names",
    arguments: [
      ("com.example.app", true), ("com.example_1.App", true), ("app", false), ("com.1app", false), ("com.", false),
      ("com.a-b", false), ("", false),
    ])
  func packageNames(name: String, fits: Bool) {
    #expect((AppName.problem(withPackageName: name) == nil) == fits)
  }

  @Test(
    "topics", arguments: [("com.example.app.voip", true), ("com.apple.mgmt.External.1f-2", true), ("a b", false)])
  func topics(topic: String, fits: Bool) {
    #expect((AppName.problem(withTopic: topic) == nil) == fits)
  }

  @Test(
    "names that people give",
    arguments: [("Shop", nil), ("", NameMessage.empty), (" Shop", .blankEdge), ("Sh\nop", .controlCharacter)]
      as [(String, NameMessage?)])
  func names(name: String, message: NameMessage?) {
    #expect(AppName.problem(withName: name)?.code == message?.code)
  }
}
