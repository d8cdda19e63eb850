import Model
import Testing

@Suite("Codes of an app's registration")
struct RegistrationCodeTests {
  @Test(
    "an alias gets the code of JPush's client library",
    arguments: [
      ("user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", RegistrationCode.aliasTooLong),
      ("e6882cab-cedf-4335-9b7c-612cd5b4d37d", .aliasCharacters), ("usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d", nil),
    ])
  func alias(_ alias: String, _ code: RegistrationCode?) {
    #expect(RegistrationCode(alias: alias, rule: .jpush) == code)
  }

  @Test("without JPush's rule an alias has 255 bytes and no control characters")
  func plain() {
    #expect(RegistrationCode(alias: "user-1", rule: .none) == nil)
    #expect(RegistrationCode(alias: String(repeating: "x", count: 256), rule: .none) == .aliasTooLong)
    #expect(RegistrationCode(alias: "a\u{1}b", rule: .none) == .aliasCharacters)
  }

  @Test("a tag gets the code of JPush's client library")
  func tags() {
    #expect(RegistrationCode(tag: String(repeating: "x", count: 41), rule: .jpush) == .tagTooLong)
    #expect(RegistrationCode(tag: "a-b", rule: .jpush) == .tagCharacters)
    #expect(RegistrationCode(tag: "深圳", rule: .jpush) == nil && RegistrationCode(tag: "a-b", rule: .none) == nil)
    #expect(RegistrationCode(tag: String(repeating: "x", count: 41), rule: .none) == .tagTooLong)
  }
}
