import Foundation
import JSON
import Model
import Testing

@testable import HTTP2
@testable import Providers

/// The bodies are JPush's, as in docs/protocols.md §4.2 and §4.3.
@Suite("JPush rules")
struct JPushRuleTests {
  private static func error(_ code: Int, _ message: String) -> String {
    #"{"error":{"code":\#(code),"message":"\#(message)"}}"#
  }

  static let rows = [
    AnswerRow(
      400,
      #"{"msg_id":1309530630,"error":{"message":"cannot find user by this audience","code":1011}}"#, "JPush 1011",
      "final"),
    AnswerRow(400, error(1002, "Missing parameter"), "JPush 1002 (Missing parameter)", "final"),
    AnswerRow(400, error(1003, "Invalid alias value"), "JPush 1003 (Invalid alias value)", "final"),
    AnswerRow(400, error(1005, "too big"), "JPush 1005 (too big)", "final"),
    AnswerRow(400, error(1008, "bad app_key"), "JPush 1008 (bad app_key)", "stops"),
    AnswerRow(400, error(1012, "x"), "JPush 1012 (x)", "retry"),
    AnswerRow(401, error(1004, "Authen failed"), "JPush 1004", "stops"),
    AnswerRow(401, "", "JPush 1004", "stops"),
    AnswerRow(403, error(2003, "The appKey is in black list."), "JPush 2003", "stops"),
    AnswerRow(403, error(2004, "x"), "JPush 2004", "stops"),
    AnswerRow(403, "<html>", "HTTP 403", "stops"),
    AnswerRow(429, error(2002, "Rate limit exceeded"), "JPush 2002", "retry"),
    AnswerRow(429, "", "JPush 2002", "retry"),
    AnswerRow(500, error(1000, "Server inner error"), "JPush 1000", "retry"),
    AnswerRow(502, "<html>", "HTTP 502", "retry"),
    AnswerRow(503, error(1030, "timeout"), "JPush 1030", "retry"),
    AnswerRow(400, error(4711, "New"), "JPush 4711 (New)", "final"),
  ]

  @Test("an answer's code decides", arguments: rows)
  func reading(row: AnswerRow) {
    let detail = Answer.Detail(fields: HeaderList([]), body: Array(row.body.utf8))
    let reading = JPushRules().reading(row.status, detail, now: Date())
    #expect(reading.reason == row.reason)
    var kind = "final"
    if case .retry = reading.result { kind = "retry" }
    if reading.consequence == .stops { kind = "stops" }
    #expect(kind == row.kind)
  }

  @Test("after a 429 nothing is sent before X-Rate-Limit-Reset, after a used-up minute neither")
  func pauses() {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    func answer(_ status: Int, _ fields: [(String, String)]) -> Answer {
      var batch = RequestBatchBuilder(template: RequestTemplate(fields: []))
      batch.append(id: 1, path: "/v3/push")
      return Answer(
        batch: batch.build(), index: 0,
        result: .answered(
          status: status, detail: Answer.Detail(fields: HeaderList(fields.map { (name: $0.0, value: $0.1) }), body: []))
      )
    }
    let rules = JPushRules()
    rules.note(answer(200, [("x-rate-limit-remaining", "599"), ("x-rate-limit-reset", "60")]), now: now)
    #expect(rules.pause(at: now) == nil)
    rules.note(answer(200, [("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "7")]), now: now)
    #expect(rules.pause(at: now + 6)?.until == now + 7 && rules.pause(at: now + 7) == nil)
    rules.note(answer(429, [("x-rate-limit-reset", "30")]), now: now + 10)
    #expect(rules.pause(at: now + 39)?.until == now + 40)
    rules.note(answer(429, []), now: now + 50)
    #expect(rules.pause(at: now + 109) != nil && rules.pause(at: now + 110) == nil)
  }

  @Test("the cid depends on the push and its devices alone")
  func cid() {
    func push(_ seed: UInt64) -> ProviderPush {
      let draft = PushDraft(
        app: "com.example.app", environment: .production, platforms: [.ios], audience: .all,
        notification: Notification())
      return ProviderPush(id: 1, uid: "u", seed: seed, draft: draft, sentAt: Date())
    }
    let key = "8103a4c628a0b98994ec1949"
    let cid = JPushProvider.cid(key, push(7), Array(1...1000))
    #expect(cid == JPushProvider.cid(key, push(7), Array(1...1000)))
    #expect(cid != JPushProvider.cid(key, push(8), Array(1...1000)))
    #expect(cid != JPushProvider.cid(key, push(7), Array(1...999)))
    #expect(JPushRequest.isCID(cid) && cid.hasPrefix(key + "-"))
  }

  @Test("the body names every device by its registration ID")
  func body() throws {
    let devices = ["13165ffa4e0b5fb6ba3", "a\"b"].enumerated().map { index, id in
      ProviderDevice(id: Int64(index), token: DeviceToken(bytes: Array(id.utf8)))
    }
    let body = JPushProvider.body(["platform": ["ios"], "cid": "c"], to: devices)
    #expect(
      try JSONValue(parsing: Data(body)) == [
        "audience": ["registration_id": ["13165ffa4e0b5fb6ba3", "a\"b"]], "cid": "c", "platform": ["ios"],
      ])
  }

  @Test("what an answer to a dry run says of the keys")
  func verdicts() {
    let maker = JPushMaker()
    #expect(maker.verdict(.outcome(.accepted)) == .taken(answer: "200"))
    func rejected(_ status: Int, _ reason: String) -> ProviderVerdict {
      maker.verdict(.outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil)))
    }
    #expect(rejected(400, "JPush 1011") == .taken(answer: "400 JPush 1011"))
    #expect(rejected(401, "JPush 1004") == .refused(reason: "JPush 1004"))
    #expect(rejected(403, "JPush 2003") == .refused(reason: "JPush 2003"))
    #expect(
      maker.verdict(.retry(RetryCause(status: 429, reason: "JPush 2002"))) == .undecided(reason: "JPush 2002"))
  }
}
