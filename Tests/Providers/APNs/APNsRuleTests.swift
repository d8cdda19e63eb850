import Foundation
import JSON
import OpenSSL
import Model
import Testing

@testable import HTTP2
@testable import Providers

@Suite("APNs rules")
struct APNsRuleTests {
  @Test(
    "what has to be done about an answer",
    arguments: [
      (400, "BadDeviceToken", "final"), (400, "DeviceTokenNotForTopic", "final"),
      (400, "TopicDisallowed", "final"), (400, "IdleTimeout", "retry"), (403, "ExpiredProviderToken", "renews"),
      (403, "InvalidProviderToken", "stops"), (403, "BadCertificate", "stops"),
      (403, "BadCertificateEnvironment", "stops"), (403, "Forbidden", "stops"), (403, "", "stops"),
      (404, "BadPath", "final"), (405, "MethodNotAllowed", "final"),
      (410, "Unregistered", "final"), (410, "ExpiredToken", "final"), (413, "PayloadTooLarge", "final"),
      (429, "TooManyRequests", "retry"), (429, "TooManyProviderTokenUpdates", "retry"),
      (500, "InternalServerError", "retry"), (503, "ServiceUnavailable", "retry"), (503, "Shutdown", "retry"),
      (504, "", "retry"), (418, "Teapot", "final"),
    ])
  func reasons(status: Int, reason: String, expected: String) {
    let body = Array("{\"reason\":\"\(reason)\"}".utf8)
    let reading = APNsRules().reading(status, .init(fields: HeaderList(), body: body), now: Date())
    #expect(reading.kind == expected)
  }

  @Test(
    "bodies are read in their usual form, in any other JSON, and not at all",
    arguments: [
      (#"{"reason":"Unregistered"}"#, "Unregistered", nil),
      (#"{"reason":"Unregistered","timestamp":1700000000000}"#, "Unregistered", 1_700_000_000),
      (#"{ "timestamp": 1700000000000, "reason": "ExpiredToken" }"#, "ExpiredToken", 1_700_000_000),
      (#"{"reason":"A\"B"}"#, "A\"B", nil), (#"{"reason":"X","timestamp":"soon"}"#, "X", nil),
      (#"{"reason":"X""#, "", nil), ("", "", nil), ("Bad gateway", "", nil), ("[]", "", nil),
      // A time after the answer, or none that can be written.
      (#"{"reason":"Unregistered","timestamp":9223372036854775807}"#, "Unregistered", 1_800_000_000),
      (#"{"reason":"Unregistered","timestamp":-1}"#, "Unregistered", 0),
      (#"{"reason":"two\nlines"}"#, "two lines", nil),
      (#"{"reason":"\#(String(repeating: "x", count: 60_000))"}"#, String(repeating: "x", count: 80) + "…", nil),
    ] as [(String, String, Double?)])
  func bodies(text: String, reason: String, seconds: Double?) {
    let response = APNsResponse(
      detail: .init(fields: HeaderList(), body: Array(text.utf8)), now: Date(timeIntervalSince1970: 1_800_000_000))
    #expect(response.reason == reason)
    #expect(response.tokenInvalidSince == seconds.map { Date(timeIntervalSince1970: $0) })
  }

  @Test(
    "Retry-After in seconds or as a date in any of its three forms is kept; anything else is passed over",
    arguments: [
      ("120", 120), ("-1", 0), ("Fri", nil), ("", nil), ("1e3", nil), ("9999999999", 86_400),
      ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sunday, 06-Nov-94 08:51:37 GMT", 120),
      ("Sun Nov  6 08:51:37 1994", 120), ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
      ("Sun, 06 Nov 1994 08:51:37 GMT or so", nil),
    ])
  func retryAfter(text: String, seconds: Int?) {
    let fields = HeaderList([("retry-after", text)])
    // 1994-11-06 08:49:37 UTC, the moment of RFC 9110's own examples.
    let response = APNsResponse(
      detail: .init(fields: fields, body: []), now: Date(timeIntervalSince1970: 784_111_777))
    #expect(response.retryAfter == seconds.map { .seconds($0) })
  }

  @Test("a provider token lives 45 minutes; one that is refused is replaced, but not twice in 20 minutes")
  func tokenAge() throws {
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let token = ProviderToken(key: try PrivateKey.generateP256(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    let first = token.current(at: start)
    #expect(token.current(at: start + 44 * 60) == first)
    // The first one, however young it is.
    #expect(token.renew(at: start + 1))
    let second = token.current(at: start + 1)
    #expect(second != first)
    #expect(!token.renew(at: start + 2))
    #expect(!token.renew(at: start + 20 * 60))
    #expect(token.current(at: start + 20 * 60) == second)
    #expect(token.renew(at: start + 20 * 60 + 1))
    let third = token.current(at: start + 20 * 60 + 1)
    #expect(third != second)
    #expect(token.current(at: start + 65 * 60) == third)
    let fourth = token.current(at: start + 66 * 60)
    #expect(fourth != third)
    // Replacing an old one is a refresh too.
    #expect(!token.renew(at: start + 67 * 60))
    // The clock is set back by an hour.
    #expect(token.current(at: start) != fourth)
  }

  @Test("Apple's servers, and any other")
  func endpoints() {
    #expect(APNsEndpoint(.production).host == "api.push.apple.com")
    #expect(APNsEndpoint(.development).host == "api.sandbox.push.apple.com")
    #expect(APNsEndpoint(.production).port == 443)
    #expect(APNsEndpoint.custom(host: "localhost", port: 8443, trust: nil).port == 8443)
  }
}

extension AnswerReading {
  /// `renews`, `stops`, `retry` or `final`.
  var kind: String {
    switch (consequence, result) {
    case (.renews, _): "renews"
    case (.stops, _): "stops"
    case (.none, .retry): "retry"
    case (.none, _): "final"
    }
  }
}
