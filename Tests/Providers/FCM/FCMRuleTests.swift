import Foundation
import JSON
import Model
import OpenSSL
import Testing

@testable import HTTP2
@testable import Providers

/// The bodies are Google's, as in docs/protocols.md §3.2.
@Suite("FCM rules")
struct FCMRuleTests {
  private static func error(_ status: String, _ message: String = "", _ details: String = "") -> String {
    #"{"error":{"code":1,"message":"\#(message)","status":"\#(status)","details":[\#(details)]}}"#
  }

  private static func fcm(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  private static func field(_ name: String) -> String {
    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(name)","description":"x"}]}"#
  }

  private static let gone =
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":410,"reason":"Unregistered"}"#
  private static let badToken = "The registration token is not a valid FCM registration token"

  static let rows = [
    AnswerRow(404, error("NOT_FOUND", "Requested entity was not found.", fcm("UNREGISTERED")), "UNREGISTERED", "final"),
    AnswerRow(404, error("NOT_FOUND", "Requested entity was not found."), "NOT_FOUND", "final"),
    AnswerRow(404, "<html>404</html>", "NOT_FOUND", "final"),
    AnswerRow(400, error("INVALID_ARGUMENT", badToken, fcm("INVALID_ARGUMENT")), "INVALID_ARGUMENT", "final"),
    AnswerRow(400, error("INVALID_ARGUMENT", "x", field("message.token")), "INVALID_ARGUMENT", "final"),
    AnswerRow(
      400, error("INVALID_ARGUMENT", "Invalid value", field("message.android.ttl")), "BadRequest (message.android.ttl)",
      "final"),
    AnswerRow(
      400, error("INVALID_ARGUMENT", "Message is too big.", fcm("INVALID_ARGUMENT")),
      "BadRequest (Message is too big)", "final"),
    AnswerRow(400, error("INVALID_ARGUMENT", "APNs device token is disabled.", gone), "UNREGISTERED", "final"),
    AnswerRow(400, "", "BadRequest", "final"),
    AnswerRow(
      403, error("PERMISSION_DENIED", "SenderId mismatch", fcm("SENDER_ID_MISMATCH")), "SENDER_ID_MISMATCH", "final"),
    AnswerRow(
      403,
      error(
        "PERMISSION_DENIED", "API off",
        #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}"#),
      "PERMISSION_DENIED (SERVICE_DISABLED)", "stops"),
    AnswerRow(403, "", "PERMISSION_DENIED", "stops"),
    AnswerRow(
      401, error("UNAUTHENTICATED", "Auth error from APNS or Web Push Service", fcm("THIRD_PARTY_AUTH_ERROR")),
      "THIRD_PARTY_AUTH_ERROR", "final"),
    AnswerRow(
      401,
      error(
        "UNAUTHENTICATED", "expired",
        #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"ACCESS_TOKEN_EXPIRED"}"#),
      "UNAUTHENTICATED (ACCESS_TOKEN_EXPIRED)", "renews"),
    AnswerRow(429, error("RESOURCE_EXHAUSTED", "Quota exceeded", fcm("QUOTA_EXCEEDED")), "QUOTA_EXCEEDED", "retry"),
    AnswerRow(429, "", "QUOTA_EXCEEDED", "retry"),
    AnswerRow(503, error("UNAVAILABLE", "", fcm("UNAVAILABLE")), "UNAVAILABLE", "retry"),
    AnswerRow(502, "Bad gateway", "UNAVAILABLE", "retry"),
    AnswerRow(500, error("INTERNAL", "", fcm("INTERNAL")), "INTERNAL", "retry"),
    AnswerRow(500, error("X", "", fcm("UNSPECIFIED_ERROR")), "INTERNAL", "retry"),
    AnswerRow(500, error("X", "", fcm("")), "INTERNAL", "retry"),
    AnswerRow(418, error("", ""), "HTTP 418", "final"),
    AnswerRow(418, "", "HTTP 418", "final"),
    AnswerRow(
      418, error("X", "", fcm("NEW\\nCODE" + String(repeating: "E", count: 80))),
      "NEW CODE" + String(repeating: "E", count: 72) + "…", "final"),
  ]

  @Test("an error's reason, and what has to be done about it", arguments: rows)
  func errors(row: AnswerRow) {
    let detail = Answer.Detail(fields: HeaderList([("retry-after", "7")]), body: Array(row.body.utf8))
    let reading = FCMRules().reading(row.status, detail, now: Date(timeIntervalSince1970: 0))
    #expect(reading.reason == row.reason)
    #expect(reading.kind == row.kind)
    if case .retry(let cause) = reading.result {
      #expect(cause == RetryCause(status: row.status, reason: row.reason, retryAfter: .seconds(7)))
    }
  }

  @Test("every code that is told apart has its cause and remedy")
  func codes() {
    for code in FCMCode.allCases { #expect(Reason.of(code.rawValue).source == .fcm, "\(code)") }
    #expect(Reason.of("UNREGISTERED").isDeadToken)
    #expect(!Reason.of("SENDER_ID_MISMATCH").isDeadToken)
    for code in ["UNAUTHENTICATED", "PERMISSION_DENIED", "THIRD_PARTY_AUTH_ERROR", "invalid_grant"] {
      #expect(Reason.of(code).retry == .afterCredential)
      #expect(Reason.of("\(code) (why)").retry == .afterCredential)
    }
  }

  @Test(
    "OAuth's errors keep their code if it is known",
    arguments: [
      (
        400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#,
        "invalid_grant (Invalid JWT Signature.)"
      ),
      (401, #"{"error":"invalid_client"}"#, "invalid_client"),
      (400, #"{"error":"something_new","error_description":"Why."}"#, "CredentialRefused (something_new: Why.)"),
      (404, "not here", "CredentialRefused (HTTP 404)"),
      (400, #"{"error":"two\nlines"}"#, "CredentialRefused (two lines)"),
    ])
  func oauth(status: Int, body: String, reason: String) {
    let read = AccessToken.reason(status, Array(body.utf8))
    #expect(read == reason)
    #expect(Reason.of(read).retry == .afterCredential)
  }

  @Test("the token's place in a message")
  func body() throws {
    var draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: [.android], audience: .all,
      notification: Notification())
    draft.notification.title = "Hello"
    var (bytes, gap) = FCMProvider.body(FCMMessage(draft, uid: "u1").json)
    bytes.insert(contentsOf: Array("cXyz:APA91b".utf8), at: gap)
    #expect(
      try JSONValue(parsing: bytes) == [
        "message": [
          "token": "cXyz:APA91b", "notification": ["title": "Hello"], "data": ["sbid": "u1"],
          "android": ["priority": "HIGH"],
        ]
      ])
    gap = 0
  }

  @Test("what a probe's result says of the service account")
  func verdicts() {
    let maker = FCMMaker()
    func rejected(_ status: Int, _ reason: String) -> SendResult {
      .outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil))
    }
    #expect(maker.verdict(.outcome(.accepted)) == .taken(answer: "200"))
    #expect(maker.verdict(rejected(403, "PERMISSION_DENIED")) == .refused(reason: "PERMISSION_DENIED"))
    #expect(maker.verdict(rejected(404, "NOT_FOUND")) == .refused(reason: "NOT_FOUND"))
    #expect(maker.verdict(rejected(400, "BadRequest")) == .taken(answer: "400 BadRequest"))
    #expect(maker.verdict(.notSent(reason: "invalid_grant (x)")) == .refused(reason: "invalid_grant (x)"))
    #expect(maker.verdict(.retry(RetryCause(status: 503, reason: "UNAVAILABLE"))) == .undecided(reason: "UNAVAILABLE"))
  }
}
