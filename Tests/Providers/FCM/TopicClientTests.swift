import Foundation
import HTTP2
import JSON
import Model
import OpenSSL
import Synchronization
import Testing

@testable import Providers

@Suite("Topics at FCM", .timeLimit(.minutes(1)))
struct TopicClientTests {
  /// Carries out batches at a server whose answer to a token's request `answer` chooses; nil: 200.
  ///
  /// - Parameter held: a token whose request is never answered.
  /// - Returns: the results, and the requests as `method path body`.
  private static func change(
    _ batches: [TopicBatch], held: String? = nil, answer: @escaping @Sendable (_ token: String) -> ServerResponse?
  ) async throws -> (results: [[TopicResult]], requests: [String]) {
    let seen = Mutex<[String]>([])
    let server = ScriptedAPNs { request, responder, _ in
      let path = request.fields[":path"] ?? ""
      guard path != "/token" else {
        let token = #"{"access_token":"ya29.1","expires_in":3599,"token_type":"Bearer"}"#
        return responder.respond(ServerResponse(status: 200, body: Array(token.utf8)))
      }
      let body = String(decoding: request.body, as: UTF8.self)
      seen.withLock { $0.append("\(request.fields[":method"] ?? "") \(path) \(body)") }
      let token = path.split(separator: "/").dropFirst(4).first?.removingPercentEncoding ?? ""
      guard token != held else { return }
      responder.respond(answer(token) ?? ServerResponse(status: 200, body: Array("{}".utf8)))
    }
    var results: [[TopicResult]] = []
    try await withAPNs(server) { running in
      let trust = Array(running.authority.certificate.pem.utf8)
      var account = ProviderAccount(
        name: "shop.json", environment: .production,
        endpoint: .custom(host: "localhost", port: running.port, trust: trust))
      let file: JSONValue = [
        "type": "service_account", "project_id": "example.com:shop", "private_key_id": "kid1",
        "client_email": "push@shop.iam.gserviceaccount.com",
        "private_key": .string(try TestProvider.key.get().pkcs8PEM),
        "token_uri": .string("https://localhost:\(running.port)/token"),
      ]
      account.secret = file.bytes
      let tools = ProviderTools(
        loop: running.clientLoop, resolver: running.resolver, connections: ClientGroupConfiguration(),
        clock: { Date(timeIntervalSince1970: 1_800_000_000) }, report: { _ in }, stateChanged: { _ in })
      results = try await FCMMaker().change(batches, account, tools)
    }
    return (results, seen.withLock { $0 })
  }

  private static func token(_ text: String) -> DeviceToken { DeviceToken(bytes: Array(text.utf8)) }

  @Test("a request for each token, with its topic and token escaped")
  func requests() async throws {
    let (results, requests) = try await Self.change([
      TopicBatch(topic: "timezone-Asia%2FShanghai", joins: true, tokens: [Self.token("a:1"), Self.token("b:2")]),
      TopicBatch(topic: "news", joins: false, tokens: []),
      TopicBatch(topic: "news", joins: false, tokens: [Self.token("c:3")]),
    ]) { _ in nil }
    #expect(results == [[.done, .done], [], [.done]])
    let path = "/v1/projects/example.com:shop/registrations"
    #expect(
      requests.sorted() == [
        "DELETE \(path)/c%3A3/topicSubscriptions/news?allow_missing=true ",
        "POST \(path)/a%3A1/topicSubscriptions?topic_name=timezone-Asia%252FShanghai {}",
        "POST \(path)/b%3A2/topicSubscriptions?topic_name=timezone-Asia%252FShanghai {}",
      ])
  }

  @Test("each answer is the result of its token: done, refused, or later")
  func answers() async throws {
    let answers: [(token: String, answer: ServerResponse, result: TopicResult)] = [
      ("there", ServerResponse(status: 409), .done),
      ("gone", ScriptedFCM.error(404, "UNREGISTERED"), .refused(reason: "UNREGISTERED")),
      ("other", ScriptedFCM.error(403, "SENDER_ID_MISMATCH"), .refused(reason: "SENDER_ID_MISMATCH")),
      // Perhaps the project is not there: no reason to retire a device.
      ("unclear", ServerResponse(status: 404), .refused(reason: "NOT_FOUND")),
      ("down", ServerResponse(status: 503), .later(reason: "UNAVAILABLE", after: nil)),
    ]
    let tokens = answers.map { Self.token($0.token) }
    let (results, _) = try await Self.change([TopicBatch(topic: "news", joins: true, tokens: tokens)]) { token in
      answers.first { $0.token == token }?.answer
    }
    #expect(results == [answers.map(\.result)])
    let (left, _) = try await Self.change([TopicBatch(topic: "news", joins: false, tokens: [tokens[0]])]) { _ in
      ServerResponse(status: 409)
    }
    #expect(left != [[.done]], "only a subscription can be there already")
  }

  @Test("a used-up quota and a refused account end the batch: what is not sent yet waits")
  func ends() async throws {
    let wait = [HeaderField("retry-after", "90")]
    let endings: [(answer: ServerResponse, result: TopicResult)] = [
      (ScriptedFCM.error(429, "QUOTA_EXCEEDED", wait), .later(reason: "QUOTA_EXCEEDED", after: .seconds(90))),
      (ServerResponse(status: 403), .later(reason: "PERMISSION_DENIED", after: nil)),
    ]
    // Many more than a connection has streams.
    let batch = TopicBatch(topic: "news", joins: true, tokens: (0..<5000).map { Self.token("device-\($0)") })
    for (answer, result) in endings {
      let (results, requests) = try await Self.change([batch]) { _ in answer }
      #expect(results[0].count == 5000 && results[0].first == result && requests.count < 5000)
      let isWaiting = results[0].allSatisfy { if case .later = $0 { true } else { false } }
      #expect(isWaiting)
    }
  }

  @Test("1000 devices leave in one batch, and a token of the service that is refused makes all wait")
  func many() async throws {
    let tokens = (0..<1000).map { Self.token("device-\($0)") }
    let batch = TopicBatch(topic: "news", joins: false, tokens: tokens)
    let (results, requests) = try await Self.change([batch]) { token in
      token == "device-7" ? ScriptedFCM.error(404, "UNREGISTERED") : nil
    }
    #expect(requests.count == 1000 && results[0].count == 1000)
    #expect(results[0].enumerated().filter { $1 != .done }.map(\.offset) == [7])
    let (refused, _) = try await Self.change([TopicBatch(topic: "news", joins: true, tokens: [tokens[0]])]) { _ in
      ScriptedFCM.error(401, "UNAUTHENTICATED")
    }
    guard case .later = refused.first?.first else {
      Issue.record("\(refused)")
      return
    }
  }

  @Test("a batch that is cancelled half-way gives no results, rather than those of other tokens")
  func cancelled() async throws {
    let (answered, note) = AsyncStream.makeStream(of: Void.self)
    let batch = TopicBatch(topic: "news", joins: true, tokens: [Self.token("held"), Self.token("gone")])
    let change = Task {
      try await Self.change([batch], held: "held") { _ in
        note.yield()
        return ScriptedFCM.error(404, "UNREGISTERED")
      }
    }
    _ = await answered.first { _ in true }
    change.cancel()
    await #expect(throws: CancellationError.self) { try await change.value }
  }
}
