package import Foundation
import JSON
internal import Mail
internal import OpenSSL
package import Reactor
internal import SQLite
package import Store

/// Posts events to webhooks, signed as Standard Webhooks says (docs/protocols.md §9).
package struct WebhookSender: Sendable {
  private let pool: BlockingPool
  private let proxies: ProxyRules
  private let address: @Sendable () -> String?

  /// - Parameters:
  ///   - pool: its threads wait for receivers, and limit how many requests are open at a time.
  ///   - proxies: which webhooks are reached through a proxy.
  ///   - address: the beginning of links; nil: events have none.
  package init(pool: BlockingPool, proxies: ProxyRules, address: @escaping @Sendable () -> String?) {
    (self.pool, self.proxies, self.address) = (pool, proxies, address)
  }

  /// Sends one event. Every failure is an answer.
  ///
  /// - Parameter secrets: that sign, the newest first.
  package func send(_ event: WebhookContent, to url: String, secrets: [String], now: Date) async
    -> WebhookDelivery.Answer
  {
    let body = event.body(address: address())
    let seconds = Int(now.timeIntervalSince1970.rounded(.down))
    let codes = secrets.map { WebhookSignature.code(id: event.uid, seconds: seconds, body: body, secret: $0) }
    let request = WebRequest(
      url: url,
      headers: [
        (name: "webhook-id", value: event.uid), (name: "webhook-timestamp", value: "\(seconds)"),
        (name: "webhook-signature", value: codes.joined(separator: " ")),
      ], body: body)
    let (start, proxies) = (ContinuousClock.now, proxies)
    func milliseconds() -> Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }
    do {
      let answer = try await pool.run { try WebTransport(proxies: proxies).post(request) }
      // The status stands beside the words.
      let words = answer.words.dropFirst("\(answer.status) ".count)
      return WebhookDelivery.Answer(
        status: answer.status, milliseconds: milliseconds(), words: String(words), retryAfter: answer.retryAfter)
    } catch {
      // The library's words alone: that no answer came, readers see in their language.
      let words = (error as? MailError).flatMap { $0.words.isEmpty ? nil : $0.words } ?? "\(error)"
      return WebhookDelivery.Answer(status: nil, milliseconds: milliseconds(), words: words)
    }
  }
}

extension WebhookSender {
  /// Sends a test event at once, and records it with an entry of the activity log.
  ///
  /// - Parameter audit: its subject and detail are filled in.
  /// - Throws: `StoreError.notFound`.
  package func test(
    _ id: Int64, in store: Store, audit: NewAuditEntry, now: Date
  ) async throws -> (Webhook, WebhookDelivery) {
    let sealer = store.sealer
    let (webhook, secrets) = try await store.read { database in
      (try Webhook.get(database, id: id), try Webhook.secrets(database, id: id, sealer: sealer))
    }
    let test = WebhookDelivery.test(id, now: now)
    let answer = await send(
      WebhookContent(test: test, at: now), to: secrets.address, secrets: webhook.signing(secrets, now: now), now: now)
    return try await store.write { database in
      var entry = audit
      (entry.subject, entry.detail) = ("webhook \(id)", ["accepted": .bool(answer.isGood)])
      try AuditEntry.add(database, entry, now: now)
      return (webhook, try WebhookDelivery.add(database, test: test, webhook: id, answer, now: now))
    }
  }
}

/// What is posted for an event.
package struct WebhookContent: Sendable {
  /// `webhook-id`.
  package let uid: String
  let type: String
  let at: Date
  /// JSON.
  let data: String
  let path: String?

  package init(_ event: WebhookDelivery) {
    (uid, type, at, data, path) = (event.uid, event.type, event.createdAt, event.data, event.path)
  }

  /// A test event.
  package init(test: (uid: String, data: String), at: Date) {
    (uid, data, path, self.at) = (test.uid, test.data, nil, at)
    type = WebhookDelivery.test
  }

  /// `type`, `timestamp` and `data`, with the address of the page that shows more.
  func body(address: String?) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("type", type)
      json.member("timestamp", at)
      json.object("data") { json in
        // Stored by us, so it can be read.
        json.members(of: (try? JSONValue(parsing: Array(data.utf8))) ?? .null)
        if let address, let path { json.member("url", address + path) }
      }
    }
    return json.bytes
  }
}

/// `webhook-signature` of Standard Webhooks.
package enum WebhookSignature {
  /// `v1,` and the Base64 of HMAC-SHA256 over ID, time and body with points between them. The key is what stands behind
  /// `whsec_`, decoded from Base64.
  ///
  /// - Parameter seconds: since 1970, as in `webhook-timestamp`.
  package static func code(id: String, seconds: Int, body: [UInt8], secret: String) -> String {
    let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst("whsec_".count)) : secret
    let key = Data(base64Encoded: text) ?? Data()
    return "v1," + Data(HMAC.sha256(key: key, Data("\(id).\(seconds).".utf8) + Data(body))).base64EncodedString()
  }
}
