import Foundation
import HTTP2
import JSON
package import Model
import Reactor

/// Tokens that join or leave one topic of FCM.
package struct TopicBatch: Sendable, Hashable {
  package let topic: String
  package let joins: Bool
  /// At most ``limit``.
  package let tokens: [DeviceToken]

  /// As many as one call of Signalbox's API takes; Google allows 3000 requests a second and project.
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
  /// Carries out batches, a request for each token (docs/protocols.md §3.3), over one connection of its own.
  ///
  /// - Returns: for each batch, a result for each of its tokens.
  /// - Throws: an error about the account, with a text for people; `CancellationError` if the task was cancelled before
  ///   every token had its result. Repeating the batches is harmless.
  package func change(
    _ batches: [TopicBatch], _ account: ProviderAccount, _ tools: ProviderTools
  ) async throws -> [[TopicResult]] {
    let endpoint = Self.endpoint(account)
    let service = try Self.serviceAccount(account, endpoint)
    let token = try AccessToken(service, trust: endpoint.trust, tools)
    return try await TopicClient(batches, project: service.projectID, try endpoint.endpoint(tools), token, tools)
      .results()
  }
}

/// One connection to FCM, for some batches.
private final class TopicClient: ClientGroupHandler, @unchecked Sendable {
  // @unchecked Sendable because mutable state is touched on the loop's thread only.

  private typealias Result = (request: Int, result: TopicResult)

  private let batches: [TopicBatch]
  /// Of the requests' paths: `/v1/projects/…/registrations/`.
  private let path: String
  /// Whether each request subscribes, in the order of the batches and their tokens.
  private let joins: [Bool]
  private let token: AccessToken
  private let tools: ProviderTools
  private let results: AsyncStream<Result>
  private let hand: AsyncStream<Result>.Continuation
  private var group: ClientGroup?
  /// The authorization that requests carry; nil: none yet.
  private var used: String?
  /// Why nothing more can be sent; nil: it can.
  private var trouble: String?

  init(_ batches: [TopicBatch], project: String, _ endpoint: Endpoint, _ token: AccessToken, _ tools: ProviderTools) {
    (self.batches, self.token, self.tools) = (batches, token, tools)
    path = "/v1/projects/\(FCMProvider.escaped(project: project))/registrations/"
    joins = batches.flatMap { batch in batch.tokens.map { _ in batch.joins } }
    (results, hand) = AsyncStream<Result>.makeStream()
    var connections = tools.connections
    connections.maximumConnections = 1
    connections.connection.requestTimeout = .seconds(30)
    group = ClientGroup(
      loop: tools.loop, endpoint: endpoint, configuration: connections, resolver: tools.resolver, handler: self)
    token.changed = { [weak self] in
      self?.authorize()
      self?.group?.sendWaiting()
    }
  }

  /// - Throws: `CancellationError`.
  func results() async throws -> [[TopicResult]] {
    guard !joins.isEmpty, let group else { return batches.map { _ in [] } }
    var first = 0
    for batch in batches where !batch.tokens.isEmpty {
      group.submit(requests(batch, first))
      first += batch.tokens.count
    }
    var all = [TopicResult?](repeating: nil, count: joins.count)
    var missing = all.count
    for await (request, result) in self.results {
      all[request] = result
      missing -= 1
      if missing == 0 { break }
    }
    tools.loop.execute { [self] in
      group.stop()
      token.stop()
    }
    // A cancelled task leaves the loop early. Results arrive in any order: without the missing ones, the others would
    // be taken for those of other tokens, and retire their devices.
    guard missing == 0 else { throw CancellationError() }
    var rest = all.compactMap(\.self)[...]
    return batches.map { batch in
      defer { rest = rest.dropFirst(batch.tokens.count) }
      return Array(rest.prefix(batch.tokens.count))
    }
  }

  /// - Parameter first: the number of the batch's first request.
  private func requests(_ batch: TopicBatch, _ first: Int) -> RequestBatch {
    // Joining twice is a 409, and leaving twice nothing.
    let (method, end, body) =
      batch.joins
      ? ("POST", "/topicSubscriptions?topic_name=\(FCMProvider.escaped(batch.topic))", Array("{}".utf8))
      : ("DELETE", "/topicSubscriptions/\(FCMProvider.escaped(batch.topic))?allow_missing=true", [])
    let fields = body.isEmpty ? [] : [HeaderField("content-type", "application/json")]
    var requests = RequestBatchBuilder(
      template: RequestTemplate(method: method, fields: fields), body: body, capacity: batch.tokens.count)
    for (offset, token) in batch.tokens.enumerated() {
      let text = String(decoding: FCMProvider.quotable(token), as: UTF8.self)
      requests.append(id: Int64(first + offset), path: path + FCMProvider.escaped(text) + end)
    }
    return requests.build()
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
      let request = Int(answer.id)
      hand.yield((request, result(answer.result, joins: joins[request])))
      // A refused account and a used-up quota concern what is not sent yet, too.
      if case .answered(let status, let detail) = answer.result, status == 403 || status == 429 {
        let reading = FCMRules().reading(status, detail, now: tools.clock())
        if status == 429 || reading.consequence == .stops { giveUp(reading.reason) }
      }
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {
    if case .failing(let error) = state { giveUp(error.unsentReason) }
  }

  func group(_ group: ClientGroup, heard goAway: GoAway) {}
  func groupWillSend(_ group: ClientGroup) { authorize() }

  /// Whether a body is one of Google's: an object, or nothing at all.
  private static func isDone(_ body: [UInt8]) -> Bool {
    if body.isEmpty { return true }
    let answer = try? JSONValue(parsing: body)  // nil: of somebody else
    return answer?.object != nil && answer?["error"] == nil
  }

  private static let unreadable = TopicResult.later(reason: OwnReason.unreadableAnswer.rawValue, after: nil)

  private func result(_ answer: Answer.Result, joins: Bool) -> TopicResult {
    switch answer {
    case .notProcessed: return .later(reason: trouble ?? OwnReason.unreachable.rawValue, after: nil)
    case .unknown(let cause): return .later(reason: cause.reason.rawValue, after: nil)
    case .answered(200..<300, let detail): return Self.isDone(detail?.body ?? []) ? .done : Self.unreadable
    case .answered(409, _) where joins: return .done
    case .answered(let status, let detail):
      let reading = FCMRules().reading(status, detail, now: tools.clock())
      if case .retry(let cause) = reading.result { return .later(reason: cause.reason, after: cause.retryAfter) }
      return reading.consequence == .none
        ? .refused(reason: reading.reason) : .later(reason: reading.reason, after: nil)
    }
  }
}
