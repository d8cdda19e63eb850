import Foundation
import JSON
import Model
import Testing

@Suite("Pages opened by a tap")
struct PageRulesTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private static func rules(_ json: JSONValue...) throws -> PageRules { try PageRules(json: ["rules": .array(json)]) }

  @Test(
    "comments, likes and messages open the message list, a follower the profile, in every form of a push",
    arguments: [
      (#"{"aps":{"alert":"x"},"link":"comment"}"#, "Message list"), (#"{"link":"like"}"#, "Message list"),
      (#"{"message":{"token":"$T","data":{"link":"message"}}}"#, "Message list"),
      (
        #"{"platform":"all","audience":"all","notification":{"alert":"x","ios":{"extras":{"link":"follow"}}}}"#,
        "Profile"
      ),
      (#"{"notification":{"body":"x","link":"follow"}}"#, "Profile"), (#"{"aps":{"alert":"x"},"link":"order"}"#, nil),
      (#"{"aps":{"alert":"x"}}"#, nil), (#"{"aps":{"alert":{"loc-key":"X"}},"link":"follow"}"#, "Profile"),
    ] as [(String, String?)])
  func defaults(text: String, page: String?) throws {
    #expect(try PageRules.defaults.target(of: text, now: Self.now).rule?.page == page)
  }

  @Test("a deep link takes values of the payload, escaped, and names those that are missing")
  func deepLinks() throws {
    let rules = try Self.rules(["type": "order", "page": "Order", "deep_link": "shop://orders/{id}?from={who}"])
    let whole = rules.target(of: ["link": "order", "id": 7, "who": "a&b ü"])
    #expect(whole.deepLink == "shop://orders/7?from=a%26b%20%C3%BC" && whole.missing == [])
    let part = rules.target(of: ["link": "order", "id": 7])
    #expect(part.deepLink == nil && part.missing == ["who"] && part.rule?.page == "Order")
    #expect(rules.target(of: ["link": "follow"]).rule == nil && rules.target(of: [:]).type == nil)
  }

  @Test("wrong rules are named with their place, and right ones are read back")
  func reading() throws {
    let right = try Self.rules(["type": "a", "page": "A"], ["type": "b", "page": "B", "deep_link": "x:y"])
    #expect(try PageRules(json: right.json) == right)
    for (json, problem) in [
      (["rules": [["type": "a", "page": "A"], ["type": "a", "page": "B"]]], "rules[1].type page_rule.twice"),
      (["rules": [["type": "", "page": "A"]]], "rules[0].type field.required"),
      (["rules": [["type": "a", "page": "A", "deep_link": "no address"]]], "rules[0].deep_link page_rule.deep_link"),
      (["rules": [["type": "a", "page": "A", "colour": "x"]]], "rules[0].colour field.unknown"),
      ([:], "rules field.required"), (["rules": []], nil),
    ] as [(JSONValue, String?)] {
      var found: String?
      do { _ = try PageRules(json: json) } catch { found = error.all.first.map { "\($0.field) \($0.code)" } }
      #expect(found == problem)
    }
  }
}
