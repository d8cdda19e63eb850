import Foundation
import JSON
import Mail
import Model
import OpenSSL
import Reactor
import Store
import Synchronization

/// Asks a provider of OpenID Connect. Its discovery document and its keys are kept for an hour.
final class OIDCProvider: Sendable {
  /// What is known of a provider.
  private struct Known: Sendable {
    let metadata: OIDCMetadata
    var keys: OIDCKeys
    let readAt: Date
    var keysReadAt: Date
  }

  /// How long documents are kept, in seconds.
  private static let lifetime: TimeInterval = 3600
  /// How soon keys are asked for again because of a key that is not among them, in seconds.
  private static let keyPause: TimeInterval = 60
  /// Seconds for one answer.
  private static let patience = 10
  /// Requests that may wait for a thread.
  private static let queue = 32

  private let pool: BlockingPool
  private let proxies: ProxyRules
  private let known = Mutex<Known?>(nil)

  init(pool: BlockingPool, proxies: ProxyRules) {
    (self.pool, self.proxies) = (pool, proxies)
  }

  /// What the provider says of itself.
  ///
  /// - Parameter isFresh: asks again, whatever is kept.
  /// - Throws: a `Problem` that says what is wrong.
  func metadata(_ issuer: String, isFresh: Bool = false, now: Date) async throws -> OIDCMetadata {
    try await look(issuer, isFresh: isFresh, now: now).metadata
  }

  /// Forgets the documents, because the settings have changed.
  func forget() { known.withLock { $0 = nil } }

  private func look(_ issuer: String, isFresh: Bool = false, now: Date) async throws -> Known {
    if !isFresh, let kept = known.withLock({ $0 }), kept.metadata.issuer == issuer,
      (0..<Self.lifetime).contains(now.timeIntervalSince(kept.readAt))
    {
      return kept
    }
    let document = try await read(OIDCMetadata.address(of: issuer))
    let metadata = try OIDCMetadata(document, issuer: issuer, isUsable: { WebAddress.isUsable($0) })
    let found = Known(metadata: metadata, keys: try await keys(metadata), readAt: now, keysReadAt: now)
    known.withLock { $0 = found }
    return found
  }

  private func keys(_ metadata: OIDCMetadata) async throws -> OIDCKeys {
    guard let keys = OIDCKeys(try await read(metadata.keys)) else {
      throw Problem("", OIDCMessage.noKeys, ["url": metadata.keys])
    }
    return keys
  }

  /// The keys after the provider may have changed them; not more often than once a minute.
  private func newKeys(_ kept: Known, now: Date) async throws -> OIDCKeys? {
    let isDue = known.withLock { known in
      guard let last = known?.keysReadAt, now.timeIntervalSince(last) >= Self.keyPause else { return false }
      known?.keysReadAt = now
      return true
    }
    guard isDue else { return nil }
    let keys = try await keys(kept.metadata)
    known.withLock { known in if known?.metadata == kept.metadata { known?.keys = keys } }
    return keys
  }

  // MARK: Sign-in

  /// Exchanges a code for the person.
  ///
  /// - Parameters:
  ///   - redirect: the address to which the code came.
  ///   - signedInSince: see `IDTokenRule`.
  /// - Throws: a `Problem` that says why the sign-in is refused.
  func person(
    code: String, flow: OIDCFlow, redirect: String, settings: OIDCSettings, signedInSince: Date?, now: Date
  ) async throws -> OIDCPerson {
    let found = try await look(settings.issuer, now: now)
    let answer = try await exchange(code, flow, redirect, settings, found.metadata)
    guard let text = answer["id_token"]?.string else { throw Problem("", OIDCMessage.malformed) }
    let token = try OIDCToken(text)
    var verdict = found.keys.check(token)
    if verdict == nil, let keys = try await newKeys(found, now: now) { verdict = keys.check(token) }
    guard let verdict else { throw Problem("", OIDCMessage.key) }
    guard verdict else { throw Problem("", OIDCMessage.signature) }
    let access = answer["access_token"]?.string
    let rule = IDTokenRule(
      issuer: settings.issuer, clientID: settings.clientID, nonce: flow.nonce,
      accessTokenHash: access.map(token.hash(ofAccessToken:)), signedInSince: signedInSince)
    if let problem = rule.problem(token.claims, now: now) { throw problem }
    return try await completed(
      OIDCPerson(token.claims, roleClaim: settings.roleClaim), access, settings, found.metadata)
  }

  /// Adds what the userinfo endpoint says (OpenID Connect Core 1.0 §5.3): some providers tell only there that an address
  /// is not verified. Without its answer, an ID token goes that says all of it.
  private func completed(
    _ person: OIDCPerson, _ access: String?, _ settings: OIDCSettings, _ metadata: OIDCMetadata
  ) async throws -> OIDCPerson {
    guard let access, let url = metadata.userInfo else { return person }
    let lacksValues = settings.roleClaim != nil && person.values.isEmpty
    let answer: JSONValue
    do {
      answer = try await read(url, headers: [(name: "Authorization", value: "Bearer \(access)")])
    } catch is Problem where person.isVerified && !lacksValues {
      return person
    }
    let more = OIDCPerson(answer, roleClaim: settings.roleClaim)
    // §5.3.2: otherwise the answer may be about somebody else.
    guard more.subject == person.subject else { throw Problem("", OIDCMessage.wrongClaim, ["claim": "sub"]) }
    var person = person
    person.add(more)
    return person
  }

  private func exchange(
    _ code: String, _ flow: OIDCFlow, _ redirect: String, _ settings: OIDCSettings, _ metadata: OIDCMetadata
  ) async throws -> JSONValue {
    var fields = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
      ("code_verifier", flow.verifier),
    ]
    var headers = [(name: "Accept", value: "application/json")]
    if let secret = settings.clientSecret, metadata.authentication == .basic {
      // RFC 6749 §2.3.1: both are escaped first.
      let pair = "\(OIDCFlow.escaped(settings.clientID)):\(OIDCFlow.escaped(secret))"
      headers.append((name: "Authorization", value: "Basic \(Data(pair.utf8).base64EncodedString())"))
    } else {
      fields.append(("client_id", settings.clientID))
      if let secret = settings.clientSecret { fields.append(("client_secret", secret)) }
    }
    let request = WebRequest(
      url: metadata.token, headers: headers, body: Array(OIDCFlow.query(fields).utf8),
      type: "application/x-www-form-urlencoded")
    let answer = try await ask(request, isPost: true)
    // For a body that is not JSON, the status is reported.
    let json = try? JSONValue(parsing: answer.body)
    if answer.status == 200, let json { return json }
    if json?["error"]?.string == "invalid_client" { throw Problem("", OIDCMessage.client) }
    throw Problem(
      "", OIDCMessage.exchange,
      ["error": OIDCFlow.words(json?["error"]?.string, json?["error_description"]?.string) ?? "\(answer.status)"])
  }

  // MARK: HTTP

  private func read(_ url: String, headers: [(name: String, value: String)] = []) async throws -> JSONValue {
    let accept = [(name: "Accept", value: "application/json")]
    let answer = try await ask(WebRequest(url: url, headers: accept + headers), isPost: false)
    guard answer.status == 200 else {
      throw Problem("", OIDCMessage.status, ["url": url, "status": "\(answer.status)"])
    }
    // The error names the address, which helps more than the message of the parser.
    guard let json = try? JSONValue(parsing: answer.body), json.object != nil else {
      throw Problem("", OIDCMessage.notJSON, ["url": url])
    }
    return json
  }

  private func ask(_ request: WebRequest, isPost: Bool) async throws -> WebAnswer {
    let transport = WebTransport(timeout: Self.patience, proxies: proxies)
    do {
      return try await pool.run(waiting: Self.queue) {
        try isPost ? transport.post(request) : transport.get(request)
      }
    } catch let error as MailError {
      throw Problem("", OIDCMessage.unreachable, ["url": request.url, "detail": "\(error)"])
    } catch is BlockingPoolFull {
      throw PasswordsBusy()
    }
  }
}
