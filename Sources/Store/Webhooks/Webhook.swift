package import Foundation
internal import OpenSSL
package import SQLite

/// A URL that is told of events, in the manner of Standard Webhooks (docs/protocols.md §9).
package struct Webhook: Sendable, Hashable, Identifiable, StoredRecord {
  /// What a webhook can be told of. The raw values are stored and used in the API.
  package enum Event: String, Sendable, Hashable, CaseIterable {
    /// A push, also one of a schedule, has ended.
    case pushFinished = "push.finished"
    /// A push or a schedule to production waits for a second person's approval.
    case pushNeedsApproval = "push.needs_approval"
    /// It was approved, rejected or withdrawn, or nobody decided in time.
    case pushApprovalClosed = "push.approval_closed"
    /// A provider said that tokens are no longer valid.
    case deviceDead = "device.dead"
    /// Devices moved to the other environment, to another alias, or to another token.
    case deviceMoved = "device.moved"
    /// An incident opened, for the first time or again.
    case incidentOpened = "incident.opened"
    /// An incident was closed, by a person or because its cause is gone.
    case incidentClosed = "incident.closed"
  }

  package struct Details: Sendable, Hashable {
    package var name: String
    /// The URL's host; the rest may be secret.
    package var target: String
    /// Only events of this app; nil: of every app.
    package var appID: Int64?
    package var events: Set<Event>
    package var isActive: Bool

    package init(
      name: String, target: String, appID: Int64? = nil, events: Set<Event> = Set(Event.allCases),
      isActive: Bool = true
    ) {
      (self.name, self.target, self.appID, self.events) = (name, target, appID, events)
      self.isActive = isActive
    }
  }

  package let id: Int64
  package let details: Details
  /// When an answer 410 switched it off; nil: it did not, or somebody switched it on again.
  package let goneAt: Date?
  /// Failed attempts since the last success.
  package let failures: Int
  package let failingSince: Date?
  package let nextTryAt: Date
  /// Events that were given up before they were sent, because too many waited or for too long.
  package let dropped: Int
  package let pending: Int
  package let createdBy: String
  package let createdAt: Date
  /// When the present secret replaced another; nil: it is the first.
  package let rotatedAt: Date?

  /// The most webhooks: each is looked at for each event.
  package static let limit = 50
  /// How long the former secret signs beside a new one: a day, in seconds.
  package static let rotationTime: TimeInterval = 86_400

  private static let columns = """
    w.id, w.name, w.target, w.app_id, w.events, w.is_active, w.gone_at, w.failures, w.failing_since, w.next_try_at,
    w.dropped, w.created_by, w.created_at, w.rotated_at,
    (SELECT count(*) FROM webhook_events e WHERE e.webhook_id = w.id AND e.state = 'pending')
    """

  private init(_ row: borrowing Row) {
    id = row.int64(0)
    details = Details(
      name: row.text(1), target: row.text(2), appID: row.optionalInt64(3),
      events: Set(row.text(4).split(separator: " ").compactMap { Event(rawValue: String($0)) }), isActive: row.bool(5))
    goneAt = row.optionalDate(6)
    failures = row.int(7)
    failingSince = row.optionalDate(8)
    nextTryAt = row.date(9)
    dropped = row.int(10)
    createdBy = row.text(11)
    createdAt = row.date(12)
    rotatedAt = row.optionalDate(13)
    pending = row.int(14)
  }

  package static func all(_ database: Database) throws -> [Webhook] {
    try database.fetchAll("SELECT \(columns) FROM webhooks w ORDER BY w.name COLLATE NOCASE, w.id") { Webhook($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Webhook? {
    try database.fetchOne("SELECT \(columns) FROM webhooks w WHERE w.id = ?", id) { Webhook($0) }
  }

  package static let noun = "webhook"

  // MARK: Changes

  /// Adds a webhook with a new secret.
  ///
  /// - Returns: the webhook, and the secret, which is not shown again.
  package static func add(
    _ database: Database, _ details: Details, address: String, sealer: any Sealer, by user: String, now: Date
  ) throws -> (webhook: Webhook, secret: String) {
    try database.run(
      """
      INSERT INTO webhooks(name, target, sealed, app_id, events, is_active, created_by, created_at)
      VALUES (?, ?, x'', ?, ?, ?, ?, ?)
      """, details.name, details.target, details.appID, stored(details.events), details.isActive, user, now)
    let (id, secret) = (database.lastInsertedID, newSecret())
    let secrets = Receiver.Secrets(address: address, secret: secret)
    try Sealing.keep(database, secrets.bytes, "webhooks", id, sealer, now: now)
    return (try get(database, id: id), secret)
  }

  /// Changes a webhook. What waits is sent at once: the change may be the cure.
  ///
  /// - Parameter address: nil: unchanged.
  package static func update(
    _ database: Database, id: Int64, _ details: Details, address: String?, sealer: any Sealer, now: Date
  ) throws -> Webhook {
    try database.run(
      """
      UPDATE webhooks SET name = ?, target = ?, app_id = ?, events = ?, is_active = ?,
        gone_at = iif(?5, NULL, gone_at), next_try_at = 0 WHERE id = ?
      """, details.name, details.target, details.appID, stored(details.events), details.isActive, id)
    if let address {
      var secrets = try secrets(database, id: id, sealer: sealer)
      secrets.address = address
      try Sealing.keep(database, secrets.bytes, "webhooks", id, sealer, now: now)
    }
    return try get(database, id: id)
  }

  /// Replaces the secret. For ``rotationTime`` both sign.
  ///
  /// - Returns: the new secret.
  package static func rotate(_ database: Database, id: Int64, sealer: any Sealer, now: Date) throws -> String {
    var secrets = try secrets(database, id: id, sealer: sealer)
    let secret = newSecret()
    secrets.secret = "\(secret) \(secrets.secret.split(separator: " ").first ?? "")"
    try Sealing.keep(database, secrets.bytes, "webhooks", id, sealer, now: now)
    try database.run("UPDATE webhooks SET rotated_at = ? WHERE id = ?", now, id)
    return secret
  }

  /// Deletes a webhook with its events.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func delete(_ database: Database, id: Int64) throws {
    guard try database.run("DELETE FROM webhooks WHERE id = ?", id) > 0 else {
      throw StoreError.notFound(noun: "webhook", id: "\(id)")
    }
  }

  /// Unseals URL and secret; for some time after a rotation the former secret stands behind it, after a blank.
  ///
  /// - Throws: `StoreError.notFound`, or the sealer's error if the row was changed.
  package static func secrets(_ database: Database, id: Int64, sealer: any Sealer) throws -> Receiver.Secrets {
    let sealed = try database.fetchOne("SELECT sealed FROM webhooks WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { throw StoreError.notFound(noun: "webhook", id: "\(id)") }
    return try Receiver.Secrets(
      opened: try sealer.open(sealed, associatedData: place("webhooks", id)), column: "webhooks.sealed")
  }

  /// Whether somebody has to look after it: it has failed for a day, so that events are given up, or its receiver is
  /// gone.
  package func isTroubled(at now: Date) -> Bool {
    if goneAt != nil { return true }
    return details.isActive && failingSince.map { now.timeIntervalSince($0) >= WebhookDelivery.patience } ?? false
  }

  /// The secrets that sign now, the newest first.
  package func signing(_ secrets: Receiver.Secrets, now: Date) -> [String] {
    let all = secrets.secret.split(separator: " ").map(String.init)
    let isOver = rotatedAt.map { now.timeIntervalSince($0) >= Self.rotationTime } ?? true
    return isOver ? Array(all.prefix(1)) : all
  }

  /// Standard Webhooks: 24 to 64 random bytes in Base64.
  private static func newSecret() -> String { "whsec_" + Data(Random.bytes(32)).base64EncodedString() }

  private static func stored(_ events: Set<Event>) -> String {
    " " + Event.allCases.filter(events.contains).map(\.rawValue).joined(separator: " ") + " "
  }
}
