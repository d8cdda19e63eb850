import Foundation
import HTTP2
import JSON
import Model
import Synchronization
import Testing

@testable import Providers

/// What a provider needs for being sure, and what it does while it is not.
@Suite("Answers that prove something, and none at all", .timeLimit(.minutes(1)))
struct ProofTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let provider: ProviderKind
    let body: String
    /// Of the outcome; nil: accepted.
    let reason: String?
    var testDescription: String { "\(provider.rawValue) \(body.prefix(40))" }

    init(_ provider: ProviderKind, _ body: String, _ reason: String? = nil) {
      (self.provider, self.body, self.reason) = (provider, body, reason.map { "UnreadableAnswer (200 \($0))" })
    }
  }

  private static let page = "<!DOCTYPE html>\n<html><title>Sign in</title></html>"

  static let rows = [
    Row(.apns, ""), Row(.apns, page, "with a body: <!DOCTYPE html> <html><title>Sign in</title></html>"),
    Row(.apns, "{}", "with a body: {}"),
    Row(.fcm, #"{"name":"projects/p/messages/1"}"#), Row(.fcm, "{\n  \"name\": \"projects/p/messages/1\"\n}\n"),
    Row(.fcm, #"{"name":"projects/p/messages/\u0031"}"#), Row(.fcm, #"{"x":1,"name":"projects/p/messages/1"}"#),
    Row(.fcm, "", "without a message name: nothing"), Row(.fcm, "{}", "without a message name: {}"),
    Row(.fcm, #"{"name":""}"#, #"without a message name: {"name":""}"#),
    Row(.fcm, #"{"name":7}"#, #"without a message name: {"name":7}"#),
    Row(.fcm, #"{"error":{"code":503}}"#, #"without a message name: {"error":{"code":503}}"#),
    Row(.fcm, #"{"name":"a","error":{}}"#, #"without a message name: {"name":"a","error":{}}"#),
    Row(.fcm, page, "without a message name: <!DOCTYPE html> <html><title>Sign in</title></html>"),
    Row(.jpush, #"{"sendno":"0","msg_id":"18100287008546711"}"#), Row(.jpush, #"{"msg_id":1309530630}"#),
    Row(.jpush, "{}", "without a msg_id: {}"), Row(.jpush, "", "without a msg_id: nothing"),
    Row(.jpush, #"{"msg_id":""}"#, #"without a msg_id: {"msg_id":""}"#),
    Row(
      .jpush, #"{"msg_id":1,"error":{"code":1011}}"#, #"without a msg_id: {"msg_id":1,"error":{"code":1011}}"#),
    Row(.jpush, page, "without a msg_id: <!DOCTYPE html> <html><title>Sign in</title></html>"),
  ]

  /// A provider that sends to a scripted server; FCM's access token is always given.
  private static func run(
    _ kind: ProviderKind, configuration: ClientGroupConfiguration = .init(),
    _ answer: @escaping @Sendable (ServerResponder, _ number: Int) -> Void,
    _ body: (TestProvider, ScriptedAPNs) async throws -> Void
  ) async throws {
    let messages = Mutex(0)
    let script = ScriptedAPNs { request, responder, _ in
      guard request.fields[":path"] != "/token" else {
        return responder.respond(
          ServerResponse(status: 200, body: Array(#"{"access_token":"ya29","expires_in":3599}"#.utf8)))
      }
      answer(
        responder,
        messages.withLock { messages in
          messages += 1
          return messages
        })
    }
    try await withAPNs(script) { running in
      let client =
        switch kind {
        case .apns: try TestProvider(running, running.token())
        case .fcm: try TestProvider(fcm: running)
        case .jpush:
          try TestProvider(running) { tools, trust in
            try JPushMaker().make(
              ProviderAccount(
                name: "keys", environment: .production,
                endpoint: .custom(host: "localhost", port: running.port, trust: trust)), tools)
          }
        }
      try await body(client, script)
    }
  }

  private static func send(_ client: TestProvider, _ kind: ProviderKind, _ devices: Range<Int64>) {
    let draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: [.ios, .android], audience: .all,
      notification: Notification())
    let push = ProviderPush(id: 1, uid: "u1", seed: 7, draft: draft, sentAt: Date(timeIntervalSince1970: 1_800_000_000))
    client.provider.prepare(push).send(
      devices.map {
        ProviderDevice(id: $0, token: DeviceToken(bytes: Array("token-\($0)".utf8)), platform: kind.platforms[0])
      }, noting: nil)
  }

  @Test("accepted only by what proves it; otherwise there was no answer, with what came", arguments: rows)
  func proof(row: Row) async throws {
    try await Self.run(row.provider) { responder, _ in
      responder.respond(ServerResponse(status: 200, body: Array(row.body.utf8)))
    } _: { client, _ in
      Self.send(client, row.provider, 1..<2)
      let results = await client.wait { $0.results[1] != nil && (row.reason == nil || !$0.failures.isEmpty) }
      #expect(results.results[1] == .outcome(row.reason.map { .unknown(reason: $0) } ?? .accepted))
      if row.reason != nil {
        #expect(results.answers[1].map { String(decoding: $0.body, as: UTF8.self) } ?? "" == row.body)
        #expect(results.failures.map(\.code) == [.unreadableAnswer])
      }
    }
  }

  @Test(
    "a service that answers nothing is failing, is told so, and gets one request at a time",
    arguments: [ProviderKind.apns, .fcm, .jpush])
  func silent(kind: ProviderKind) async throws {
    try await Self.run(kind) { responder, _ in
      responder.reset(.internalError)
    } _: { client, _ in
      Self.send(client, kind, 1..<40)
      let failures = await client.wait { !$0.results.isEmpty && !$0.failures.isEmpty }.failures
      #expect(failures.first?.kind == .connection && failures.first?.code == .connectionLost)
      #expect(failures.first?.reason.hasSuffix("answers with a reset: INTERNAL_ERROR.") == true, "\(failures)")
    }
  }

  @Test("what APNs gives in development is kept with the first devices; in production it says nothing new")
  func uniqueID() async throws {
    for fields in [
      [HeaderField("apns-id", "1"), HeaderField("apns-unique-id", "u-1")], [HeaderField("apns-id", "1")],
    ] {
      try await Self.run(.apns) { responder, _ in
        responder.respond(ServerResponse(status: 200, fields: fields))
      } _: { client, _ in
        Self.send(client, .apns, 0..<300)
        let results = await client.wait { $0.results.count == 300 }
        #expect(results.answers.count == (fields.count == 2 ? AnswerBudget.size : 0))
        #expect(results.answers.values.allSatisfy { $0.fields.contains { $0 == ("apns-unique-id", "u-1") } })
      }
    }
  }

  @Test("a refusal is kept as it came, with its fields")
  func refusal() async throws {
    try await Self.run(.apns) { responder, _ in
      responder.respond(ScriptedAPNs.answer(400, "BadTopic", [HeaderField("apns-id", "1")]))
    } _: { client, _ in
      Self.send(client, .apns, 1..<2)
      let answer = await client.wait { $0.results[1] != nil }.answers[1]
      #expect(
        answer?.status == 400 && answer.map { String(decoding: $0.body, as: UTF8.self) } == #"{"reason":"BadTopic"}"#)
      #expect(answer?.fields.map(\.name) == ["apns-id"])
    }
  }
}

extension TestProvider.Results {
  /// Why nothing could be sent.
  fileprivate var failures: [ProviderFailure] {
    states.compactMap { if case .failing(let failure) = $0 { failure } else { nil } }
  }
}
