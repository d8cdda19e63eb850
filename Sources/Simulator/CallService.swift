package import Foundation
package import HTTP2
import Synchronization

/// A simulated service that answers each request by itself: over HTTP/2 as the handler of a server, and over HTTP/1.1
/// through ``answer(_:)``.
package protocol CallService: SimulatedService {
  /// Concurrent streams of one client.
  static var streams: UInt32 { get }
  var desk: CallDesk { get }
  static var server: SimulatedServer { get }
  var requests: RequestBook { get }
  var now: @Sendable () -> Date { get }
  /// Whether a request signs in, so that it must not be kept.
  func isSecret(_ call: SimulatedCall) -> Bool
  /// What becomes of a request, with its answer.
  func course(of call: SimulatedCall) -> (FaultBox.Verdict, SimulatedReply)
}

extension CallService {
  package var counters: ServerCounters { desk.counters }

  package func isSecret(_ call: SimulatedCall) -> Bool { false }

  /// Decides about a request, and keeps it for those who ask what came.
  private func catching(_ call: SimulatedCall) -> (FaultBox.Verdict, SimulatedReply) {
    let (verdict, reply) = course(of: call)
    let sent = CaughtRequest.Sent(
      server: Self.server, at: now(), method: call.method, target: call.target, fields: call.fields, body: call.body,
      bodyByteCount: call.bodyByteCount, isSecret: isSecret(call))
    var answer = CaughtRequest.Answer()
    switch verdict.action {
    case .refuse, .cut: answer.isFault = true
    case .keepSilent: (answer.isFault, answer.landing) = (true, reply.landing)
    case .proceed, .answer:
      answer = CaughtRequest.Answer(
        status: reply.status, body: reply.body, reason: reply.reason ?? reply.refusal,
        isFault: verdict.action != .proceed, landing: reply.landing)
      answer.fields = reply.fields.map { CaughtRequest.Field(name: $0.name, value: $0.value) }
    }
    requests.add(CaughtRequest(sent, answer))
    return (verdict, reply)
  }

  package func opened(_ connection: ServerConnection) {
    desk.opened(connection)
    if let limit = faults.faults.maximumStreams { connection.setMaximumStreams(limit) }
  }

  package func closed(_ connection: ServerConnection) { desk.closed(connection) }

  /// Tells every client of changed faults.
  func announceStreams(_ faults: Faults) {
    for connection in desk.connections { connection.setMaximumStreams(faults.maximumStreams ?? Self.streams) }
  }

  package func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    let call = SimulatedCall(
      method: request.method, target: request.path, authorization: request.fields["authorization"],
      contentType: request.fields["content-type"], fields: request.fields, body: request.body,
      bodyByteCount: request.bodyByteCount,
      number: desk.count(request.connection.id, streams: request.connection.openStreams))
    let (verdict, reply) = catching(call)
    switch verdict.action {
    case .refuse: responder.reset(.refusedStream)
    case .cut: request.connection.cut()
    case .keepSilent: break
    case .proceed, .answer:
      let response = ServerResponse(
        status: reply.status, fields: reply.fields.map { HeaderField($0.name, $0.value) }, body: reply.body)
      if let delay = verdict.delay { responder.respond(response, after: delay) } else { responder.respond(response) }
    }
    if verdict.goesAway { request.connection.goAway(lastStreamID: request.streamID) }
  }

  /// Answers a request without a connection of this service.
  ///
  /// - Returns: nil if a fault cuts the connection.
  /// - Throws: `CancellationError` when the client gives up a request that a fault leaves unanswered.
  package func answer(_ call: SimulatedCall) async throws -> SimulatedReply? {
    let (verdict, reply) = catching(call)
    switch verdict.action {
    case .refuse, .cut: return nil
    case .keepSilent:
      while true { try await Task.sleep(for: .seconds(3600)) }
    case .proceed, .answer:
      if let delay = verdict.delay { try await Task.sleep(for: delay) }
      return reply
    }
  }
}

/// The connections and counters of a ``CallService``.
package final class CallDesk: Sendable {
  private struct State {
    /// The number of requests so far.
    var requests: [Int: Int] = [:]
    var connections: [Int: ServerConnection] = [:]
    var counters = ServerCounters()
  }

  private let state = Mutex(State())

  var counters: ServerCounters { state.withLock { $0.counters } }
  fileprivate var connections: [ServerConnection] { state.withLock { Array($0.connections.values) } }

  fileprivate func opened(_ connection: ServerConnection) {
    state.withLock { state in
      state.connections[connection.id] = connection
      state.counters.connections += 1
      state.counters.openConnections += 1
      state.requests[connection.id] = 0
    }
  }

  fileprivate func closed(_ connection: ServerConnection) {
    state.withLock { state in
      state.connections[connection.id] = nil
      if state.requests.removeValue(forKey: connection.id) != nil { state.counters.openConnections -= 1 }
    }
  }

  /// - Returns: the number of the request on its connection, from 1.
  fileprivate func count(_ connection: Int, streams: Int) -> Int {
    state.withLock { state in
      let number = (state.requests[connection] ?? 0) + 1
      state.requests[connection] = number
      state.counters.mostStreams = max(state.counters.mostStreams, streams)
      return number
    }
  }

  /// - Parameter status: nil: a fault keeps the answer back.
  func note(_ status: Int?, _ code: String?) {
    state.withLock { state in
      state.counters.requests += 1
      guard let status else { return state.counters.unanswered += 1 }
      state.counters.byStatus[status, default: 0] += 1
      if let code { state.counters.byReason[code, default: 0] += 1 }
    }
  }

  /// A request that was not processed: reset, or lost with its connection.
  func noteLost(isRefused: Bool) {
    state.withLock { state in
      state.counters.requests += 1
      if isRefused { state.counters.refused += 1 } else { state.counters.unanswered += 1 }
    }
  }
}
