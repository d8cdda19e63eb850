import Foundation
import HTTP2
import JSON
import Model
import OpenSSL
import Reactor
import Text

/// The OAuth access token of a service account, fetched with a signed assertion (RFC 7523; docs/protocols.md §3.1).
///
/// One for all requests: fetched when the first is to be sent, kept as long as it lives, and replaced before it ends
/// while requests still use it.
final class AccessToken: RequestAuthorization {
  private let account: ServiceAccount
  private let path: String
  private let tools: ProviderTools
  private var group: ClientGroup?

  /// As in the field `authorization`.
  private var text: String?
  private var fetchedAt = Date.distantPast
  private var expiresAt = Date.distantPast
  private var renewAt = Date.distantPast
  private var isAsking = false
  private var isStopped = false
  /// Why the last attempt failed without a verdict on the account.
  private var trouble: String?
  private(set) var clockLead: Int?
  private var refusal: String?
  private var failures = 0
  /// Runs until the next attempt may be made.
  private var pause: EventLoop.Timer?

  var changed: () -> Void = {}

  /// Seconds before its end at which a token is replaced; at most half of its life.
  static let margin: TimeInterval = 300
  /// A refused token younger than this many seconds is not replaced: a new one would be refused too.
  static let minimumAge: TimeInterval = 60
  /// Every assertion is for this audience, wherever the token URI points (docs/protocols.md §3.1).
  static let audience = ServiceAccount.googleTokenURI
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  /// - Parameter trust: PEM certificates for a token URI that is not Google's; nil: the system's.
  init(_ account: ServiceAccount, trust: [UInt8]?, _ tools: ProviderTools) throws {
    (self.account, self.tools) = (account, tools)
    guard let address = URLComponents(string: account.tokenURI), let host = address.host,
      let port = UInt16(exactly: address.port ?? 443)
    else {
      throw ProviderProblem("The token URI \(account.tokenURI) of the service account is not a URL.")
    }
    path =
      (address.percentEncodedPath.isEmpty ? "/" : address.percentEncodedPath)
      + (address.percentEncodedQuery.map { "?\($0)" } ?? "")
    let isGoogle = account.tokenURI == ServiceAccount.googleTokenURI
    let tls = try TLSContext.client(
      trust: tools.trust(isGoogle ? nil : trust), identity: nil, alpn: ["h2"])
    var connections = tools.connections
    connections.maximumConnections = 1
    connections.connection.requestTimeout = .seconds(20)
    // The file names the address.
    if !isGoogle { connections.connection.targets = connections.connection.proxies.targets }
    group = ClientGroup(
      loop: tools.loop,
      endpoint: Endpoint(host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port, tls: tls),
      configuration: connections, resolver: tools.resolver, handler: self)
  }

  func current(at now: Date) -> AuthorizationState {
    if let refusal = refusal.take() { return .refused(reason: refusal) }
    // After the clock was set back, the remaining life is unknown.
    if let text, now < expiresAt, now >= fetchedAt {
      if now >= renewAt { ask(now) }
      return .value(text)
    }
    text = nil
    ask(now)
    if let refusal = refusal.take() { return .refused(reason: refusal) }
    return .awaited(trouble: trouble)
  }

  func renew(at now: Date) -> Bool {
    guard text != nil else { return true }
    if abs(now.timeIntervalSince(fetchedAt)) < Self.minimumAge { return false }
    text = nil
    return true
  }

  func stop() {
    isStopped = true
    pause?.cancel()
    group?.stop()
  }

  // MARK: Asking

  private func ask(_ now: Date) {
    guard !isAsking, pause == nil, !isStopped else { return }
    let issued = Int64(now.timeIntervalSince1970.rounded(.down))
    let assertion: String
    do {
      assertion = try JSONWebToken.sign(
        .rs256, key: account.key, header: [("typ", "JWT"), ("kid", .string(account.privateKeyID))],
        claims: [
          ("iss", .string(account.clientEmail)), ("scope", .string(Self.scope)), ("aud", .string(Self.audience)),
          ("iat", .integer(issued)), ("exp", .integer(issued + 3600)),
        ])
    } catch {
      return refused("The key cannot sign: \(error)", now)
    }
    isAsking = true
    var batch = RequestBatchBuilder(
      template: RequestTemplate(fields: [HeaderField("content-type", "application/x-www-form-urlencoded")]),
      capacity: 1)
    let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    batch.append(id: 0, path: path, body: Array((grant + assertion).utf8))
    group?.submit(batch.build())
  }

  private func take(_ body: [UInt8], _ now: Date) {
    let json = (try? JSONValue(parsing: body)) ?? .null  // what is not JSON has no token
    guard let token = json["access_token"]?.string, !token.isEmpty, token.isPlainASCII else {
      return later("the token service's answer holds no access token", after: nil)
    }
    let life = TimeInterval(min(max(json["expires_in"]?.integer ?? 3600, 1), 86_400))
    text = "Bearer \(token)"
    fetchedAt = now
    expiresAt = now.addingTimeInterval(life)
    renewAt = expiresAt.addingTimeInterval(-min(Self.margin, life / 2))
    (trouble, failures) = (nil, 0)
  }

  private func refused(_ reason: String, _ now: Date) {
    // The present token may still work until its end.
    if text != nil, now < expiresAt { renewAt = now.addingTimeInterval(Self.minimumAge) } else { refusal = reason }
    (trouble, failures) = (nil, 0)
  }

  private func later(_ reason: String, after requested: Duration?) {
    failures += 1
    trouble = reason
    let growing = Duration.seconds(min(300, 1 << min(failures - 1, 9)))
    pause = tools.loop.schedule(after: max(growing, requested ?? .zero) * Double.random(in: 1...1.25)) { [weak self] in
      // The next attempt is made for requests that wait, which ask again.
      self?.pause = nil
    }
  }
}

extension AccessToken: ClientGroupHandler {
  func group(_ group: ClientGroup, ended answers: [Answer]) {
    isAsking = false
    guard !isStopped, let answer = answers.first else { return }
    let now = tools.clock()
    switch answer.result {
    case .answered(200, let detail): take(detail?.body ?? [], now)
    case .answered(let status, let detail):
      let retryAfter = detail?.fields["retry-after"].flatMap { RetryAfter.wait($0, now: now) }
      clockLead = detail?.clockLead(at: now) ?? clockLead
      if status == 408 || status == 429 || status >= 500 {
        later("the token service \(group.endpoint.authority) answers \(status)", after: retryAfter)
      } else {
        refused(Self.reason(status, detail?.body ?? []), now)
      }
    case .notProcessed, .unknown: later("the token service \(group.endpoint.authority) does not answer", after: nil)
    }
    // The next token is needed in an hour.
    group.replaceConnections()
    changed()
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {
    guard case .failing(let error) = state, isAsking else { return }
    trouble = "the token service: \(error.message)"
    changed()
  }

  func group(_ group: ClientGroup, heard goAway: GoAway) {}
  func groupWillSend(_ group: ClientGroup) {}

  /// `invalid_grant (Invalid JWT Signature.)`: OAuth's code (RFC 6749 §5.2), with its description.
  static func reason(_ status: Int, _ body: [UInt8]) -> String {
    let json = (try? JSONValue(parsing: body)) ?? .null  // a body that is not JSON says nothing
    let code = json["error"]?.string.map { $0.singleLine.abbreviated(to: 80) } ?? "HTTP \(status)"
    let description = json["error_description"]?.string.map { $0.singleLine.abbreviated(to: 120) }
    guard Reason.of(code).retry == .afterCredential else {
      return Reason.combined(.credentialRefused, after: description.map { "\(code): \($0)" } ?? code)
    }
    return description.map { "\(code) (\($0))" } ?? code
  }
}
