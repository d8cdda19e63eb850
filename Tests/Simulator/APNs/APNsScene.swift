import Certificates
import Foundation
import OpenSSL
import Model
import TestSupport

@testable import Simulator

/// Keys and certificates as Apple and its customers have them, made once for all tests.
struct APNsWorld: Sendable {
  static let topic = "com.example.app"
  static let team = "TEAM000001"
  static let keyID = "KEY0000001"
  static let token = String(repeating: "0123456789abcdeF", count: 4)
  static let now = Date(timeIntervalSince1970: 1_795_000_000)

  private static let made = Result { try APNsWorld() }
  static var shared: APNsWorld { get throws { try made.get() } }

  let key: PrivateKey
  let otherKey: PrivateKey
  let authority: CertificateAuthority

  private init() throws {
    key = try .generateP256()
    otherKey = try .generateP256()
    authority = try CertificateAuthority(
      subject: [.commonName("Test Authority")], notBefore: Self.now - 86_400, notAfter: Self.now + 86_400)
  }

  /// `authorization` with a token as a provider makes it.
  func bearer(
    _ keyID: String = keyID, team: String = team, age: TimeInterval = 60, key: PrivateKey? = nil,
    extra: [(String, JSONWebToken.Claim)] = []
  ) throws -> String {
    let issuedAt = Int64((Self.now - age).timeIntervalSince1970)
    let token = try JSONWebToken.sign(
      .es256, key: key ?? self.key, header: [("kid", .string(keyID))],
      claims: [("iss", .string(team)), ("iat", .integer(issuedAt))] + extra)
    return "bearer \(token)"
  }

  /// A push certificate for ``topic``; without `extensions` for both environments, with `.voip` and `.complication`.
  func certificate(
    _ extensions: AppleMarks? = nil, topic: String = topic, days: ClosedRange<Double> = -1...1
  ) throws -> Certificate {
    try authority.issue(
      .applePush(
        topic: topic, team: Self.team, extensions: extensions, notBefore: Self.now + days.lowerBound * 86_400,
        notAfter: Self.now + days.upperBound * 86_400)
    ).certificate
  }
}

/// A good call and all that surrounds it, for a test to change.
struct APNsScene {
  var method = "POST"
  var path = "/3/device/\(APNsWorld.token)"
  var headers: [(name: String, value: String)] = []
  var body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)
  var environment = Environment.production
  var keys: [String: APNsKey]
  var topics: Set<String>?
  var certificate: Certificate?
  var now = APNsWorld.now
  var ledger = APNsLedger()

  /// A call with a provider token.
  init(_ world: APNsWorld) throws {
    keys = [APNsWorld.keyID: APNsKey(team: APNsWorld.team, publicKey: world.key.publicKey)]
    headers = [
      (":method", "POST"), ("host", "api.push.apple.com"), ("authorization", try world.bearer()),
      ("apns-topic", APNsWorld.topic), ("apns-push-type", "alert"),
      ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b"),
    ]
  }

  /// Sets a header, takes it away (nil), or adds it.
  subscript(name: String) -> String? {
    get { headers.first { $0.name == name }?.value }
    set {
      headers.removeAll { $0.name == name }
      if let newValue { headers.append((name, newValue)) }
    }
  }

  /// A call with a certificate instead.
  mutating func show(_ certificate: Certificate) {
    self.certificate = certificate
    self["authorization"] = nil
  }

  mutating func judge() -> Result<AcceptedPush, APNsRejection> {
    let validator = APNsValidator(environment: environment, knownKeys: keys, knownTopics: topics)
    return validator.judge(
      APNsCall(method: method, path: path, headers: headers, body: body, bodyByteCount: body.count),
      identity: APNsConnectionIdentity(certificate: certificate), ledger: &ledger, now: now)
  }

  /// Why the call is refused, nil if it is not.
  mutating func reason() -> String? {
    if case .failure(let rejection) = judge() { rejection.reason } else { nil }
  }
}
