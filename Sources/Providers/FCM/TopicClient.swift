import Foundation
import HTTP2
import JSON
package import Model
import Reactor
import Text

/// Tokens that join or leave one topic of FCM in one request (docs/protocols.md §3.3).
package struct TopicBatch: Sendable, Hashable {
  package let topic: String
  package let joins: Bool
  /// At most ``limit``.
  package let tokens: [DeviceToken]

  /// Google's.
  package static let limit = 1000

  package init(topic: String, joins: Bool, tokens: [DeviceToken]) {
    (self.topic, self.joins, self.tokens) = (topic, joins, tokens)
  }
}

/// What became of one token.
package enum TopicResult: Sendable, Hashable {
  /// Done now, or before.
  case done
  /// Google refuses it; the reason is one of `Reason`.
  case refused(reason: String)
  /// The service, the network or the credential is in the way.
  case later(reason: String, after: Duration?)
}

extension FCMMaker {
  /// Carries out batches at Google's Instance ID service, over one connection of its own.
  ///
  /// - Returns: for each batch, a result for each of its tokens.
  /// - Throws: an error about the account, with a text for people.
  package func change(
    _ batches: [TopicBatch], _ account: ProviderAccount, _ tools: ProviderTools
  ) async throws -> [[TopicResult]] {
    let sending = Self.endpoint(account)
    var service = sending
    if case .service = account.endpoint { service = FCMEndpoint(host: "iid.googleapis.com") }
    let token = try AccessToken(try Self.serviceAccount(account, sending), trust: sending.trust, tools)
    return await TopicClient(batches, try service.endpoint(), token, tools).results()
  }
}

/// One connection to the Instance ID service, for some batches.
private final class TopicClient: ClientGroupHandler, @unchecked Sendable {
  // @unchecked Sendable because mutable state is touched on the loop's thread only.

  private typealias Result = (batch: Int, results: [TopicResult])

  private let batches: [TopicBatch]
  private let token: AccessToken
  private let tools: ProviderTools
  private let results: AsyncStream<Result>
  private let hand: AsyncStream<Result>.Continuation
  private var group: ClientGroup?
  /// The authorization that requests carry; nil: none yet.
  private var used: String?
  /// Why nothing more can be sent; nil: it can.
  private var trouble: String?

  init(_ batches: [TopicBatch], _ endpoint: Endpoint, _ token: AccessToken, _ tools: ProviderTools) {
    (self.batches, self.token, self.tools) = (batches, token, tools)
    (results, hand) = AsyncStream<Result>.makeStream()
    var connections = tools.connections
    connections.maximumConnections = 1
    connections.connection.requestTimeout = .seconds(30)
    connections.connection.keepsBodyOfSuccess = true
    // 1000 results of some 40 bytes.
    connections.connection.maximumAnswerBytes = 1 << 20
    group = ClientGroup(
      loop: tools.loop, endpoint: endpoint, configuration: connections, resolver: tools.resolver, handler: self)
    token.changed = { [weak self] in
      self?.authorize()
      self?.group?.sendWaiting()
    }
  }

  func results() async -> [[TopicResult]] {
    guard !batches.isEmpty, let group else { return [] }
    var requests = RequestBatchBuilder(
      template: RequestTemplate(
        fields: [HeaderField("content-type", "application/json"), HeaderField("access_token_auth", "true")]),
      capacity: batches.count)
    for (index, batch) in batches.enumerated() {
      requests.append(
        id: Int64(index), path: batch.joins ? "/iid/v1:batchAdd" : "/iid/v1:batchRemove", body: batch.body)
    }
    group.submit(requests.build())
    var all = batches.map { _ in [TopicResult]() }
    var missing = batches.count
    for await (index, results) in self.results {
      all[index] = results
      missing -= 1
      if missing == 0 { break }
    }
    tools.loop.execute { [self] in
      group.stop()
      token.stop()
    }
    return all
  }

  // MARK: Authorization

  private func authorize() {
    guard let group, trouble == nil else { return }
    switch token.current(at: tools.clock()) {
    case .value(let text):
      group.inFlightLimit = nil
      guard text != used else { return }
      used = text
      group.setSharedFields([HeaderField("authorization", text, indexing: .never)])
    case .awaited(let trouble):
      group.inFlightLimit = 0
      if let trouble { giveUp(Reason.combined(.unreachable, after: trouble)) }
    case .refused(let reason): giveUp(reason)
    }
  }

  /// The caller comes back later with what was not sent.
  private func giveUp(_ reason: String) {
    trouble = reason
    group?.cancelQueued()
  }

  // MARK: Answers

  func group(_ group: ClientGroup, ended answers: [Answer]) {
    for answer in answers {
      if case .answered(401, _) = answer.result, token.renew(at: tools.clock()) {
        authorize()
        if group.resend(answer) { continue }
      }
      let batch = batches[Int(answer.id)]
      hand.yield((Int(answer.id), batch.results(answer.result, trouble, now: tools.clock())))
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {
    guard case .failing(let error) = state else { return }
    if case .proxy = error.code { return giveUp(error.reason) }
    giveUp(Reason.combined(.unreachable, after: error.message))
  }

  func group(_ group: ClientGroup, heard goAway: GoAway) {}
  func groupWillSend(_ group: ClientGroup) { authorize() }
}

extension TopicBatch {
  fileprivate var body: [UInt8] {
    let members: JSONValue = [
      "to": .string("/topics/\(topic)"), "registration_tokens": .array(tokens.map { .string($0.text) }),
    ]
    return members.bytes
  }

  /// A result for each token.
  fileprivate func results(_ answer: Answer.Result, _ trouble: String?, now: Date) -> [TopicResult] {
    func all(_ result: TopicResult) -> [TopicResult] { tokens.map { _ in result } }
    func later(_ reason: OwnReason) -> [TopicResult] { all(.later(reason: reason.rawValue, after: nil)) }
    switch answer {
    case .notProcessed: return all(.later(reason: trouble ?? OwnReason.unreachable.rawValue, after: nil))
    case .unknown(.timeout): return later(.timedOut)
    case .unknown: return later(.connectionLost)
    case .answered(200, let detail):
      // What is not JSON has no results.
      let results = (try? JSONValue(parsing: detail?.body ?? []))?["results"]?.array ?? []
      return results.count == tokens.count ? results.map(Self.result) : later(.unreadableAnswer)
    case .answered(let status, let detail):
      let reading = FCMRules().reading(status, detail, now: now)
      if case .retry(let cause) = reading.result { return all(.later(reason: cause.reason, after: cause.retryAfter)) }
      guard status == 400 else { return all(.later(reason: reading.reason, after: nil)) }
      let word = (try? JSONValue(parsing: detail?.body ?? []))?["error"]?.string  // as above
      return all(
        .refused(reason: word.map { "\(FCMCode.badRequest.rawValue) (\(Self.shortened($0)))" } ?? reading.reason))
    }
  }

  /// In the words of FCM's messages, so that the same reason has one name.
  private static func result(_ json: JSONValue) -> TopicResult {
    switch json["error"]?.string {
    case nil: .done
    case "NOT_FOUND"?: .refused(reason: FCMCode.unregistered.rawValue)
    case "RESOURCE_EXHAUSTED"?: .later(reason: FCMCode.quotaExceeded.rawValue, after: nil)
    case "UNAVAILABLE"?, "DEADLINE_EXCEEDED"?: .later(reason: FCMCode.unavailable.rawValue, after: nil)
    case "INTERNAL"?: .later(reason: FCMCode.internal.rawValue, after: nil)
    case let word?: .refused(reason: shortened(word))
    }
  }

  private static func shortened(_ text: String) -> String { text.singleLine.abbreviated(to: 80) }
}
