import HTTP2
import Model
import OpenSSL
import Reactor

/// One request over a connection of its own, which is closed afterwards.
final class SingleRequest: ClientGroupHandler, Sendable {
  struct Reply: Sendable {
    let status: Int
    let fields: HeaderList
    let body: [UInt8]
  }

  private typealias Result = Swift.Result<Reply, ServiceRefusal>

  private let results: AsyncStream<Result>
  private let hand: AsyncStream<Result>.Continuation

  init() { (results, hand) = AsyncStream<Result>.makeStream(bufferingPolicy: .bufferingOldest(1)) }

  /// Sends a batch of one request.
  ///
  /// - Returns: the answer, whatever its status, with at most 1 MB of body.
  /// - Throws: ``ServiceRefusal`` with status 0 if there is no connection, no answer within 20 seconds, or the task is
  ///   cancelled.
  func send(
    _ batch: RequestBatch, to endpoint: Endpoint, _ tools: ProviderTools
  ) async throws(ServiceRefusal) -> Reply {
    var connections = tools.connections
    connections.maximumConnections = 1
    connections.connection.requestTimeout = .seconds(20)
    connections.connection.keepsFieldsOfSuccess = true
    // Apple: up to 10,000 channels, of which each has 24 characters. JPush: 50 schedules with their pushes.
    connections.connection.maximumAnswerBytes = 1 << 20
    let group = ClientGroup(
      loop: tools.loop, endpoint: endpoint, configuration: connections, resolver: tools.resolver, handler: self)
    group.submit(batch)
    var first: Result?
    for await result in results {
      first = result
      break
    }
    group.onLoop { $0.stop() }
    return try (first ?? .failure(ServiceRefusal(status: 0, reason: OwnReason.interrupted.rawValue))).get()
  }

  func group(_ group: ClientGroup, ended answers: [Answer]) {
    for answer in answers {
      switch answer.result {
      case .answered(let status, let detail):
        hand.yield(.success(Reply(status: status, fields: detail?.fields ?? HeaderList(), body: detail?.body ?? [])))
      case .notProcessed: refuse(OwnReason.unreachable.rawValue)
      case .unknown(let cause): refuse(cause.reason.rawValue)
      }
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {
    if case .failing(let error) = state { refuse(error.unsentReason) }
  }

  func group(_ group: ClientGroup, heard goAway: GoAway) {}
  func groupWillSend(_ group: ClientGroup) {}

  private func refuse(_ reason: String) { hand.yield(.failure(ServiceRefusal(status: 0, reason: reason))) }
}

extension HTTP2Error {
  /// The reason of requests that this error keeps from being sent: ours, with the error's words.
  var unsentReason: String {
    if case .proxy = code { reason } else { Reason.combined(own, after: message) }
  }

  /// Our reason without the error's words.
  var own: OwnReason {
    switch code {
    case .proxy(let problem): OwnReason(problem)
    case .tls(.unknownAuthority), .tls(.expired), .tls(.notYetValid), .tls(.wrongHost), .tls(.badCertificate):
      .untrusted
    case .tls(.notTLS), .tls(.applicationProtocol), .notHTTP2, .protocolViolation, .unreadable:
      .unreadableAnswer
    case .unanswered: .connectionLost
    default: .unreachable
    }
  }
}

extension Answer.Cause {
  /// Our reason for a request that was sent and has no answer.
  var reason: OwnReason {
    switch self {
    case .timeout: .timedOut
    case .reset, .connection: .connectionLost
    case .tooLong: .unreadableAnswer
    }
  }
}
