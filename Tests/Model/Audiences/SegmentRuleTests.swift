import JSON
import Testing

@testable import Model

@Suite struct SegmentRuleTests {
  @Test("versions compare by their numbers")
  func versions() throws {
    let ascending = [
      "0.9", "1", "1.0.1", "v1.2-beta", "1.10", "9.9", "10.2", "10.2.0.1", "20261123.4", "99999999999999",
    ]
    let versions = try ascending.map { try #require(AppVersion($0)) }
    #expect(versions.sorted().map(\.text) == ascending && Set(versions).count == versions.count)
    #expect(AppVersion("4.0.0") == AppVersion("4") && AppVersion("2.4.1 (153)") == AppVersion("2.4.1"))
    #expect(AppVersion("") == nil && AppVersion("beta") == nil && AppVersion(".1") == nil)
  }

  @Test(
    "a value belongs to a rule or not",
    arguments: [
      (["app_version": ["from": "9.9"]], "10.2", true), (["app_version": ["from": "9.9"]], "9.8.9", false),
      (["app_version": ["below": "4.0"]], "3.99", true), (["app_version": ["below": "4.0"]], "4", false),
      (["app_version": ["below": "4.0"]], "unknown", false),
    ] as [(JSONValue, String, Bool)])
  func version(rule: JSONValue, value: String, fits: Bool) throws {
    #expect(try SegmentRule(json: rule).holds(version: value) == fits)
  }

  @Test("languages include their further parts, and regions their zones")
  func places() throws {
    let rule = try SegmentRule(json: ["language": ["zh", "pt-BR"], "time_zone": ["Asia/Shanghai", "Europe/*"]])
    for language in ["zh", "ZH", "zh-Hans", "zh_CN", "pt-br"] { #expect(rule.holds(language: language), "\(language)") }
    for language in ["zha", "pt", "en", ""] { #expect(!rule.holds(language: language), "\(language)") }
    for zone in ["Asia/Shanghai", "asia/shanghai", "Europe/Berlin"] { #expect(rule.holds(timeZone: zone), "\(zone)") }
    for zone in ["Asia/Tokyo", "Europe", "EuropeX/Berlin"] { #expect(!rule.holds(timeZone: zone), "\(zone)") }
  }

  @Test("a form of aliases becomes a pattern in which only * is special")
  func alias() throws {
    let rule = try SegmentRule(json: ["alias": "us?r_[*]"])
    #expect(rule.aliasGlob == "us[?]r_[[]*]" && rule.aliasPrefix == "us?r_[")
    #expect(try SegmentRule(json: ["tag": ["a"]]).aliasGlob == nil)
    let accented = try SegmentRule(json: ["alias": "u[\u{301}*\u{301}"])
    #expect(accented.aliasGlob.map { Array($0.utf8) } == Array("u[[]\u{301}*\u{301}".utf8))
    #expect(Array(accented.aliasPrefix.utf8) == Array("u[\u{301}".utf8))
  }

  @Test("a rule is read back as it was written")
  func roundTrip() throws {
    let json: JSONValue = [
      "platforms": ["ios"], "environment": "production", "tag": ["a"], "tag_and": ["b"], "tag_not": ["c"],
      "alias": "usr_*", "app_version": ["from": "2.0", "below": "4.0"], "time_zone": ["Asia/*"], "language": ["zh"],
      "last_seen": ["over_days": 30],
    ]
    let rule = try SegmentRule(json: json)
    #expect(rule.json == json && !rule.isEmpty)
    #expect(try SegmentRule(json: [:]).isEmpty)
  }

  @Test(
    "an error names its field",
    arguments: [
      (["platforms": ["windows"]], "platforms[0]"), (["environment": "test"], "environment"),
      (["tag": [" a"]], "tag[0]"), (["alias": "*a*b*c*d*e*"], "alias"),
      (["alias": "*\u{301}*\u{301}*\u{301}*\u{301}*\u{301}"], "alias"),
      (["app_version": ["from": "new"]], "app_version.from"),
      (["app_version": ["from": "4.0", "below": "4"]], "app_version.below"),
      (["time_zone": ["Berlin!"]], "time_zone[0]"), (["language": ["vietnamese"]], "language[0]"),
      (["last_seen": ["within_days": 0]], "last_seen.within_days"),
      (["last_seen": ["within_days": 1, "over_days": 1]], "last_seen.over_days"), (["colour": 1], "colour"),
    ] as [(JSONValue, String)])
  func errors(json: JSONValue, field: String) {
    let problems = #expect(throws: Problems.self) { try SegmentRule(json: json) }
    #expect(problems?.all.map(\.field) == [field])
  }
}
