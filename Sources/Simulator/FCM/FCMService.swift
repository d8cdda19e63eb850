import Foundation
package import HTTP2
import JSON
import Logging
import Model
import Synchronization

/// The simulated Firebase Cloud Messaging: `messages:send` of HTTP v1, its access tokens, topics by both of its
/// interfaces, and the legacy protocol (docs/protocols.md §3). Every project exists.
///
/// It answers over HTTP/2 as the handler of a server, and over HTTP/1.1 through ``answer(_:)``.
package final class FCMService: SimulatedService {
  /// Concurrent streams of one client, as Google's servers announce.
  static let streams: UInt32 = 100
  /// Bytes of a body: 1,000 registration tokens of the legacy protocol with the longest message.
  package static let bodyLimit = 1 << 20

  private struct State {
    var requests: [Int: Int] = [:]
    var counters = ServerCounters()
    var lastMessage: UInt64 = 0
  }

  let faults: FaultBox
  let phones: PhoneBook
  let now: @Sendable () -> Date
  private let tokens: AccessTokens
  private let log: Logger?
  private let state = Mutex(State())

  init(
    phones: PhoneBook, faults: FaultBox, account: FCMServiceAccount?, now: @escaping @Sendable () -> Date, log: Logger?
  ) {
    self.phones = phones
    self.faults = faults
    self.now = now
    self.log = log
    tokens = AccessTokens(account)
    state.withLock { $0.lastMessage = UInt64.random(in: 0..<1 << 48) }
    faults.observe { [weak self] in self?.announceStreams($0) }
  }

  var counters: ServerCounters { state.withLock { $0.counters } }

  // MARK: HTTP/2

  private let connections = Mutex<[Int: ServerConnection]>([:])

  package func opened(_ connection: ServerConnection) {
    connections.withLock { $0[connection.id] = connection }
    state.withLock { state in
      state.counters.connections += 1
      state.counters.openConnections += 1
      state.requests[connection.id] = 0
    }
    if let limit = faults.faults.maximumStreams { connection.setMaximumStreams(limit) }
  }

  package func closed(_ connection: ServerConnection) {
    connections.withLock { _ = $0.removeValue(forKey: connection.id) }
    state.withLock { state in
      if state.requests.removeValue(forKey: connection.id) != nil { state.counters.openConnections -= 1 }
    }
  }

  private func announceStreams(_ faults: Faults) {
    let all = connections.withLock { Array($0.values) }
    for connection in all { connection.setMaximumStreams(faults.maximumStreams ?? Self.streams) }
  }

  package func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    let streams = request.connection.openStreams
    let number = state.withLock { state in
      let number = (state.requests[request.connection.id] ?? 0) + 1
      state.requests[request.connection.id] = number
      state.counters.mostStreams = max(state.counters.mostStreams, streams)
      return number
    }
    let call = FCMCall(
      method: request.method, target: request.path, authorization: request.fields["authorization"],
      body: request.body, bodyByteCount: request.bodyByteCount, number: number)
    let (verdict, reply) = course(of: call)
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

  // MARK: HTTP/1.1

  /// Answers a request without a connection of this service.
  ///
  /// - Returns: nil if a fault cuts the connection.
  /// - Throws: `CancellationError` when the client gives up a request that a fault leaves unanswered.
  package func answer(_ call: FCMCall) async throws -> FCMReply? {
    let (verdict, reply) = course(of: call)
    switch verdict.action {
    case .refuse, .cut: return nil
    case .keepSilent:
      while true { try await Task.sleep(for: .seconds(3600)) }
    case .proceed, .answer:
      if let delay = verdict.delay { try await Task.sleep(for: delay) }
      return reply
    }
  }

  // MARK: Answers

  /// What becomes of a request. Faults concern messages only: a client could not even sign in with them.
  private func course(of call: FCMCall) -> (FaultBox.Verdict, FCMReply) {
    let isMessage = call.path.last == "messages:send" || call.path.last == "send"
    let verdict = isMessage ? faults.decide(number: call.number, token: Self.token(of: call)) : FaultBox.Verdict()
    var reply: FCMReply
    switch verdict.action {
    case .refuse, .cut: reply = FCMReply([:])
    case .answer(let status, let reason):
      let error = FCMError.simulated(reason, status: status, retryAfter: verdict.retryAfter)
      reply = call.path.last == "send" ? legacyReply(error, to: call) : FCMReply(error)
      note(reply.status, error.code)
      return (verdict, reply)
    case .keepSilent, .proceed:
      do throws(FCMError) {
        reply = try self.reply(to: call)
        note(verdict.action == .proceed ? reply.status : nil, nil)
      } catch {
        reply = FCMReply(error)
        note(verdict.action == .proceed ? reply.status : nil, error.code)
        log?.debug("Message refused.", ["status": error.status, "reason": error.message])
      }
      return (verdict, reply)
    }
    state.withLock { state in
      state.counters.requests += 1
      if verdict.action == .refuse { state.counters.refused += 1 } else { state.counters.unanswered += 1 }
    }
    return (verdict, reply)
  }

  /// - Parameter status: nil: a fault keeps the answer back.
  private func note(_ status: Int?, _ code: String?) {
    state.withLock { state in
      state.counters.requests += 1
      guard let status else { return state.counters.unanswered += 1 }
      state.counters.byStatus[status, default: 0] += 1
      if let code { state.counters.byReason[code, default: 0] += 1 }
    }
  }

  /// The registration token that a message names, for faults of one token.
  private static func token(of call: FCMCall) -> String {
    // A body that cannot be read names none.
    let body = try? JSONValue(parsing: call.body)
    return body?["message"]?["token"]?.string ?? body?["to"]?.string ?? ""
  }

  private func reply(to call: FCMCall) throws(FCMError) -> FCMReply {
    guard call.bodyByteCount <= Self.bodyLimit else {
      throw FCMError(status: 413, message: "Request payload size exceeds the limit: \(Self.bodyLimit) bytes.")
    }
    switch (call.method, call.path.first, call.path.count) {
    case ("POST", "token", 1): return tokens.answer(call.form, now: now())
    case ("POST", "fcm", 2) where call.path[1] == "send", ("POST", "gcm", 2) where call.path[1] == "send":
      return legacy(call)
    case (_, "iid", 2...): return try instanceID(call)
    case (_, "v1", 4...) where call.path[1] == "projects":
      try checkToken(call)
      if call.path[3] == "registrations" { return try registrations(call) }
      guard call.method == "POST", call.path[3...] == ["messages:send"] else { throw .unknownMethod }
      return try send(call)
    default: throw .unknownMethod
    }
  }

  func checkToken(_ call: FCMCall) throws(FCMError) { try tokens.check(call.authorization, now: now()) }

  private func send(_ call: FCMCall) throws(FCMError) -> FCMReply {
    let (message, isDry) = try FCMMessage.read(call.body)
    let id = nextMessageID()
    let name = "projects/\(call.path[2])/messages/\(isDry ? "fake_message_id" : id)"
    switch phones.deliver(message, name: name, isDry: isDry, now: now()) {
    case .success: return FCMReply(["name": .string(name)])
    case .failure(let refusal): throw refusal.error
    }
  }

  /// An ID like `0:1500415314455276%31bd1c9631bd1c96`.
  func nextMessageID() -> String {
    let number = state.withLock { state in
      state.lastMessage += 1
      return state.lastMessage
    }
    let microseconds = Int64(now().timeIntervalSince1970 * 1_000_000)
    let text = String(number, radix: 16)
    return "0:\(microseconds)%\(String(repeating: "0", count: max(0, 16 - text.count)))\(text)"
  }
}
