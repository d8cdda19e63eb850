import Foundation
import JSON
import Model
import OpenSSL
import Synchronization

@testable import Simulator

/// The simulated FCM without sockets, with one Android phone and a clock that the test moves.
final class FCMScene: Sendable {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)
  /// Made once: an RSA key takes some tenths of a second.
  private static let madeKey = Result { try PrivateKey.generateRSA() }
  static var key: PrivateKey { get throws { try madeKey.get() } }

  let simulator: PushSimulator
  let phone: SimulatedPhone
  private let clock: Clock
  private let token = Mutex("")

  private final class Clock: Sendable {
    let date = Mutex(FCMScene.start)
  }

  var book: PhoneBook { simulator.phones }
  var now: Date { clock.date.withLock { $0 } }

  init(_ change: (inout PushSimulator.Configuration) throws -> Void = { _ in }) async throws {
    let clock = Clock()
    self.clock = clock
    var configuration = PushSimulator.Configuration()
    configuration.now = { clock.date.withLock { $0 } }
    try change(&configuration)
    simulator = try PushSimulator(configuration: configuration)
    phone = try simulator.phones.add(
      NewPhone(name: "Pixel", platform: .android, environment: .development, topic: "com.example.shop"))
    let reply = try await signIn()
    let access = try JSONValue(parsing: reply.body)["access_token"]?.string ?? ""
    token.withLock { $0 = access }
  }

  func pass(_ seconds: TimeInterval) { clock.date.withLock { $0 += seconds } }

  /// The phone as it is now.
  func current() throws -> SimulatedPhone {
    guard let phone = book.phone(phone.id) else { throw PhoneBookError.noSuchPhone(phone.id) }
    return phone
  }

  /// What the phone received, newest first.
  func titles() throws -> [String] { try current().received.map { $0.alert.title ?? "-" } }

  // MARK: Calls

  func assertion(
    _ changes: [(String, JSONWebToken.Claim?)] = [], key: PrivateKey? = nil
  ) throws -> String {
    let time = Int64(now.timeIntervalSince1970)
    var claims: [(String, JSONWebToken.Claim)] = [
      ("iss", "test@simulator.iam.gserviceaccount.com"), ("aud", "https://oauth2.googleapis.com/token"),
      ("scope", "https://www.googleapis.com/auth/firebase.messaging"), ("iat", .integer(time)),
      ("exp", .integer(time + 3600)),
    ]
    for (name, value) in changes {
      claims.removeAll { $0.0 == name }
      if let value { claims.append((name, value)) }
    }
    return try JSONWebToken.sign(
      .rs256, key: key ?? Self.key, header: [("typ", "JWT"), ("kid", "abc")], claims: claims)
  }

  func signIn(_ assertion: String? = nil, grant: String? = nil) async throws -> SimulatedReply {
    let grant = grant ?? "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    let assertion = try assertion ?? self.assertion()
    return try await call("POST", "/token", body: "grant_type=\(grant)&assertion=\(assertion)", authorization: "")
  }

  /// - Parameter authorization: nil: the access token of the scene.
  func call(
    _ method: String, _ target: String, body: String = "", authorization: String? = nil
  ) async throws -> SimulatedReply {
    let bearer = token.withLock { "Bearer \($0)" }
    let reply = try await simulator.fcm.answer(
      SimulatedCall(
        method: method, target: target, authorization: authorization ?? bearer, body: Array(body.utf8)))
    guard let reply else { throw CancellationError() }
    return reply
  }

  @discardableResult
  func send(_ message: JSONValue, dry: Bool = false) async throws -> SimulatedReply {
    let body: JSONValue = ["message": message, "validate_only": .bool(dry)]
    return try await call("POST", "/v1/projects/simulator/messages:send", body: body.text())
  }

  /// Sends a notification to the phone.
  @discardableResult
  func notify(
    _ title: String, high: Bool = false, ttl: String? = nil, collapseKey: String? = nil, tag: String? = nil,
    channel: String? = nil
  ) async throws -> SimulatedReply {
    var notification: [String: JSONValue] = [:]
    notification["tag"] = tag.map { .string($0) }
    notification["channel_id"] = channel.map { .string($0) }
    var android: [String: JSONValue] = ["priority": high ? "HIGH" : "NORMAL", "notification": .object(notification)]
    android["ttl"] = ttl.map { .string($0) }
    android["collapse_key"] = collapseKey.map { .string($0) }
    return try await send([
      "token": .string(try current().tokenText), "notification": ["title": .string(title)],
      "android": .object(android),
    ])
  }

  func legacy(_ body: JSONValue, key: String = "key=server") async throws -> SimulatedReply {
    try await call("POST", "/fcm/send", body: body.text(), authorization: key)
  }
}

extension SimulatedReply {
  /// The body; null if it is no JSON.
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }

  /// The codes and reasons of a refusal's details.
  var codes: [String] {
    (json["error"]?["details"]?.array ?? []).compactMap { $0["errorCode"]?.string ?? $0["reason"]?.string }
  }

  /// The wrong fields of a refusal.
  var fields: [String] {
    (json["error"]?["details"]?.array ?? []).flatMap { $0["fieldViolations"]?.array ?? [] }
      .compactMap { $0["field"]?.string }
  }
}
