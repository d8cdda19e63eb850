package import Foundation
import HTTP2
import JSON
import Logging
import Model
import Synchronization

/// The simulated Firebase Cloud Messaging: `messages:send` of HTTP v1, its access tokens, topics by both of its
/// interfaces, and the legacy protocol (docs/protocols.md §3). Every project exists.
///
/// It answers over HTTP/2 as the handler of a server, and over HTTP/1.1 through ``answer(_:)``.
package final class FCMService: CallService {
  /// As Google's servers announce.
  package static let streams: UInt32 = 100
  /// Bytes of a body: 1,000 registration tokens of the legacy protocol with the longest message.
  package static let bodyLimit = 1 << 20

  package let faults: FaultBox
  package static let server = SimulatedServer.fcm

  package let desk = CallDesk()
  package let requests: RequestBook
  let phones: PhoneBook
  package let now: @Sendable () -> Date
  private let tokens: AccessTokens
  /// The only project that exists; nil: all do.
  private let project: String?
  private let log: Logger?
  private let lastMessage: Mutex<UInt64>

  init(
    phones: PhoneBook, requests: RequestBook, faults: FaultBox, account: FCMServiceAccount?,
    now: @escaping @Sendable () -> Date, log: Logger?
  ) {
    (self.phones, self.requests, self.faults, self.now, self.log) = (phones, requests, faults, now, log)
    tokens = AccessTokens(account)
    project = account?.project
    lastMessage = Mutex(UInt64.random(in: 0..<1 << 48))
    faults.observe { [weak self] in self?.announceStreams($0) }
  }

  /// A signed assertion, and the access token for it.
  package func isSecret(_ call: SimulatedCall) -> Bool { Self.tokenPaths.contains(call.path) }

  // MARK: Answers

  /// What becomes of a request. Faults concern messages only: a client could not even sign in with them.
  package func course(of call: SimulatedCall) -> (FaultBox.Verdict, SimulatedReply) {
    let isMessage = call.path.last == "messages:send" || call.path.last == "send"
    let verdict = isMessage ? faults.decide(number: call.number, token: Self.token(of: call)) : FaultBox.Verdict()
    var reply: SimulatedReply
    switch verdict.action {
    case .refuse, .cut: reply = SimulatedReply([:])
    case .answer(let status, let reason):
      let error = FCMError.simulated(reason, status: status, retryAfter: verdict.retryAfter)
      reply = call.path.last == "send" ? legacyReply(error, to: call) : SimulatedReply(error)
      reply.reason = error.code
      desk.note(reply.status, error.code)
      return (verdict, reply)
    case .keepSilent, .proceed:
      do throws(FCMError) {
        reply = try self.reply(to: call)
        desk.note(verdict.action == .proceed ? reply.status : nil, nil)
      } catch {
        reply = SimulatedReply(error)
        reply.reason = error.code
        desk.note(verdict.action == .proceed ? reply.status : nil, error.code)
        log?.debug("Message refused.", ["status": error.status, "reason": error.message])
      }
      return (verdict, reply)
    }
    desk.noteLost(isRefused: verdict.action == .refuse)
    return (verdict, reply)
  }

  /// The registration token that a message names, for faults of one token.
  private static func token(of call: SimulatedCall) -> String {
    if call.isForm { return call.form["registration_id"] ?? "" }
    // A body that cannot be read names none.
    let body = try? JSONValue(parsing: call.body)
    return body?["message"]?["token"]?.string ?? body?["to"]?.string ?? ""
  }

  private func reply(to call: SimulatedCall) throws(FCMError) -> SimulatedReply {
    guard call.bodyByteCount <= Self.bodyLimit else {
      throw FCMError(status: 413, message: "Request payload size exceeds the limit: \(Self.bodyLimit) bytes.")
    }
    switch (call.method, call.path.first, call.path.count) {
    case ("POST", _, _) where Self.tokenPaths.contains(call.path): return tokens.answer(call.form, now: now())
    case ("POST", "fcm", 2) where call.path[1] == "send", ("POST", "gcm", 2) where call.path[1] == "send":
      return legacy(call)
    case (_, "iid", 2...): return try instanceID(call)
    case (_, "v1", 4...) where call.path[1] == "projects":
      try checkToken(call)
      if let project, call.path[2] != project { throw .otherProject(call.path[2]) }
      if call.path[3] == "registrations" { return try registrations(call) }
      guard call.method == "POST", call.path[3...] == ["messages:send"] else { throw .unknownMethod }
      return try send(call)
    default: throw .unknownMethod
    }
  }

  /// Google's addresses of ``AccessTokens``. Some libraries have an older one built in, whatever `token_uri` says:
  /// firebase-admin for Node.js, the second.
  private static let tokenPaths: Set<[String]> = [["token"], ["o", "oauth2", "token"], ["oauth2", "v4", "token"]]

  func checkToken(_ call: SimulatedCall) throws(FCMError) { try tokens.check(call.authorization, now: now()) }

  private func send(_ call: SimulatedCall) throws(FCMError) -> SimulatedReply {
    let (message, isDry) = try FCMMessage.read(call.body)
    let id = nextMessageID()
    let name = "projects/\(call.path[2])/messages/\(isDry ? "fake_message_id" : id)"
    switch phones.deliver(message, name: name, isDry: isDry, now: now()) {
    case .success(let landing):
      var reply = SimulatedReply(["name": .string(name)])
      if !isDry { reply.landing = landing }
      return reply
    case .failure(let refusal): throw refusal.error
    }
  }

  /// An ID like `0:1500415314455276%31bd1c9631bd1c96`.
  func nextMessageID() -> String {
    let number = lastMessage.withLock { last in
      last += 1
      return last
    }
    let microseconds = Int64(now().timeIntervalSince1970 * 1_000_000)
    let text = String(number, radix: 16)
    return "0:\(microseconds)%\(String(repeating: "0", count: max(0, 16 - text.count)))\(text)"
  }
}
