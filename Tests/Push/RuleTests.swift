import Push
import Testing

@Suite("Rules of names")
struct RuleTests {
  @Test(
    "JPush's result codes for aliases (seeds)",
    arguments: [
      ("user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", 6004), ("e6882cab-cedf-4335-9b7c-612cd5b4d37d", 6003),
      ("usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d", 0), ("张三", 0), ("a b", 6003), ("a@b.c", 0),
      (String(repeating: "汉", count: 14), 6004), (String(repeating: "汉", count: 13), 0),
    ])
  func jpushCodes(alias: String, code: Int) {
    #expect(AliasRule.jpushResultCode(for: alias) == code)
  }

  @Test("a refused alias is offered in the form that app and server agree on")
  func offer() {
    let problem = #expect(throws: Problem.self) {
      try AliasRule.jpush.check("user-e6882cab-cedf-4335-9b7c-612cd5b4d37d")
    }
    #expect(problem?.text.contains("usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d") == true)
    #expect(problem?.text.contains("6004") == true)
  }

  @Test("tags", arguments: [("beta", true), ("", false), ("a b", false), ("a,b", false), ("测试", true)])
  func tags(tag: String, valid: Bool) {
    #expect(((try? NameRules.checkTag(tag)) != nil) == valid)
  }

  @Test("a tag has at most 40 bytes, not characters")
  func tagBytes() throws {
    try NameRules.checkTag(String(repeating: "a", count: 40))
    #expect(throws: Problem.self) { try NameRules.checkTag(String(repeating: "汉", count: 14)) }
  }

  @Test("bundle ids", arguments: [("com.example.app", true), ("com.ex ample", false), ("", false), (".com", false)])
  func bundleIDs(id: String, valid: Bool) {
    #expect(((try? NameRules.checkBundleID(id)) != nil) == valid)
  }

  @Test("the apns-id of a push to a device is always the same, a version 8 UUID, and differs between devices")
  func apnsID() {
    let id = APNsID(seed: 0x1234_5678_9abc_def0, device: 1)
    #expect(id.description == "12345678-9abc-8ef0-8000-000000000001")
    #expect(id == APNsID(seed: 0x1234_5678_9abc_def0, device: 1))
    #expect(id != APNsID(seed: 0x1234_5678_9abc_def0, device: 2))
    #expect(id != APNsID(seed: 0x2234_5678_9abc_def0, device: 1))
  }
}
