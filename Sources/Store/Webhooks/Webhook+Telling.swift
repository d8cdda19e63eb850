import Foundation
import JSON
import Model
internal import OpenSSL
internal import SQLite

/// What happened to a device that webhooks are told of. Collected while devices are written: an app without a webhook
/// pays one query for a batch in which something happened, and nothing for other batches.
struct DeviceNews {
  let device: Int64
  let app: Int64
  let event: Webhook.Event
  /// Beside the description of the device.
  let detail: [String: JSONValue]
}

extension Webhook {
  /// The most devices of one event.
  static let devicesOfEvent = 500
  /// More pending events of a webhook are dropped: a receiver that is down must not fill the disk.
  static let pendingLimit = 2000

  /// Tells of a push that has ended, once. Nothing happens while it is under way or settling.
  static func tell(_ database: Database, ofPush id: Int64, now: Date) throws {
    let webhooks = try database.fetchAll(
      """
      SELECT w.id FROM pushes p JOIN webhooks w ON w.app_id IS NULL OR w.app_id = p.app_id
      WHERE p.id = ? AND w.is_active = 1 AND instr(w.events, ?) > 0
        AND p.state IN ('finished', 'cancelled', 'failed') AND p.settling = 0
      """, id, " \(Event.pushFinished.rawValue) "
    ) { $0.int64(0) }
    guard !webhooks.isEmpty else { return }
    let push = try Push.get(database, id: id)
    let data = try describe(database, push)
    for webhook in webhooks {
      // A push ends once; its ID in the event's makes a repeated call harmless.
      try add(
        database, webhook, uid: "evt_\(push.uid)_\(webhook)", .pushFinished, data, path: "/pushes/\(push.uid)", now: now
      )
    }
  }

  /// Tells of an incident that has opened or closed, once for each opening.
  static func tell(_ database: Database, ofIncident id: Int64, _ event: Event, now: Date) throws {
    let webhooks = try database.fetchAll(
      """
      SELECT w.id FROM incidents i JOIN webhooks w ON w.app_id IS NULL OR w.app_id = i.app_id
      WHERE i.id = ? AND w.is_active = 1 AND instr(w.events, ?) > 0
      """, id, " \(event.rawValue) "
    ) { $0.int64(0) }
    guard !webhooks.isEmpty else { return }
    let incident = try Incident.get(database, id: id)
    let reason = Reason.of(incident.cause.reason)
    let data: JSONValue = [
      "id": .integer(id), "app": .string(try App.get(database, id: incident.place.app).bundleID),
      "environment": .string(incident.place.environment.rawValue),
      "provider": .string(incident.place.provider.rawValue), "kind": .string(incident.cause.kind.rawValue),
      "reason": .string(incident.cause.reason), "cause": .string(reason.cause), "remedy": .string(reason.remedy),
      "state": .string(incident.state(at: now).rawValue), "devices": .integer(Int64(incident.devices)),
      "opened_at": JSONValue(written: incident.openedAt), "closed_at": JSONValue(written: incident.closedAt),
      "closed_by": incident.closedBy.map { .string($0) } ?? .null,
    ]
    for webhook in webhooks {
      // The turn changes with each opening.
      try add(
        database, webhook, uid: "evt_\(event.rawValue)_\(id)_\(incident.turn)_\(webhook)", event, data,
        path: "/incidents/\(id)", now: now)
    }
  }

  /// Tells of a push or a schedule that waits for a second person, or no longer does.
  static func tell(_ database: Database, of approval: Approval, now: Date) throws {
    let (uid, app, environment, title, sendAt): (String, Int64, Environment, String?, Date?)
    switch approval.subject {
    case .push(let id):
      let push = try Push.get(database, id: id)
      (uid, app, environment) = (push.uid, push.appID, push.environment)
      (title, sendAt) = (push.title ?? push.body, push.sendAt)
    case .schedule(let id):
      let schedule = try Schedule.get(database, id: id)
      (uid, app, environment) = (schedule.uid, schedule.appID, schedule.environment)
      (title, sendAt) = (schedule.title ?? schedule.body, nil)
    }
    let path = (approval.subject.noun == "push" ? "/pushes/" : "/schedules/") + uid
    let event = approval.decision == nil ? Event.pushNeedsApproval : .pushApprovalClosed
    let webhooks = try told(database, app: app, of: event)
    guard !webhooks.isEmpty else { return }
    var data: [String: JSONValue] = [
      "id": .string(uid), "kind": .string(approval.subject.noun),
      "app": .string(try App.get(database, id: app).bundleID), "environment": .string(environment.rawValue),
      "asked_by": .string(approval.asker.name), "asked_at": JSONValue(written: approval.askedAt),
      "expires_at": JSONValue(written: approval.expiresAt),
      "reach": approval.reach.map { .integer(Int64($0)) } ?? .null,
      "title": title.map { .string($0) } ?? .null, "send_at": JSONValue(written: sendAt),
    ]
    if let decision = approval.decision {
      let closing: [String: JSONValue] = [
        "decision": .string(decision.rawValue), "decided_at": JSONValue(written: approval.decidedAt),
        "decided_by": approval.decidedBy.map { .string($0) } ?? .null,
        "remark": approval.remark.map { .string($0) } ?? .null,
      ]
      data.merge(closing) { $1 }
    }
    let word = approval.decision == nil ? "approval" : "approval_closed"
    for webhook in webhooks {
      try add(
        database, webhook, uid: "evt_\(word)_\(approval.id)_\(webhook)", event, .object(data), path: path, now: now)
    }
  }

  /// The webhooks that are told of such events of an app.
  private static func told(_ database: Database, app: Int64, of event: Event) throws -> [Int64] {
    try database.fetchAll(
      "SELECT id FROM webhooks WHERE is_active = 1 AND (app_id IS NULL OR app_id = ?) AND instr(events, ?) > 0", app,
      " \(event.rawValue) "
    ) { $0.int64(0) }
  }

  private static func describe(_ database: Database, _ push: Push) throws -> JSONValue {
    let app = try App.get(database, id: push.appID)
    let schedule = try push.scheduleID.flatMap { try Schedule.find(database, id: $0)?.uid }
    var counts: [String: JSONValue] = ["target": push.target.map { .integer(Int64($0)) } ?? .null]
    for kind in OutcomeKind.allCases { counts[kind.name] = .integer(Int64(push.counts[kind])) }
    let reasons = try Delivery.reasonCounts(database, push: push.id).compactMap { count in
      count.reason.map { reason -> JSONValue in
        [
          "provider": .string(count.provider.rawValue), "outcome": .string(count.outcome.name),
          "reason": .string(reason), "count": .integer(Int64(count.count)),
        ]
      }
    }
    let found = try ReceiptCounts.find(database, push: push.id)
    var receipts: [String: JSONValue] = ["devices": .integer(Int64(found.devices))]
    for kind in ReceiptKind.allCases { receipts[kind.name] = .integer(Int64(found[kind])) }
    return [
      "id": .string(push.uid), "app": .string(app.bundleID), "environment": .string(push.environment.rawValue),
      "state": .string(push.state.rawValue), "error": push.error.map { .string($0) } ?? .null,
      "schedule": schedule.map { .string($0) } ?? .null, "source": .string(push.source.rawValue),
      "created_at": JSONValue(written: push.createdAt), "started_at": JSONValue(written: push.startedAt),
      "finished_at": JSONValue(written: push.finishedAt), "counts": .object(counts), "reasons": .array(reasons),
      "receipts": .object(receipts),
    ]
  }

  /// Tells of devices, some hundreds in an event.
  static func tell(_ database: Database, of news: [DeviceNews], now: Date) throws {
    for event in Event.allCases {
      for (appID, news) in Dictionary(grouping: news.filter { $0.event == event }, by: \.app) {
        let webhooks = try told(database, app: appID, of: event)
        guard !webhooks.isEmpty else { continue }
        let app = JSONValue.string(try App.get(database, id: appID).bundleID)
        for start in stride(from: 0, to: news.count, by: devicesOfEvent) {
          let part = news[start..<min(start + devicesOfEvent, news.count)]
          let devices = try part.compactMap { try describe(database, $0) }
          guard !devices.isEmpty else { continue }
          let data: JSONValue = ["app": app, "devices": .array(devices)]
          for webhook in webhooks {
            try add(database, webhook, uid: "evt_\(Random.token(bytes: 18))", event, data, path: nil, now: now)
          }
        }
      }
    }
  }

  /// Nil: the device was removed since.
  private static func describe(_ database: Database, _ news: DeviceNews) throws -> JSONValue? {
    guard let device = try Device.plain(database, id: news.device) else { return nil }
    let members: [String: JSONValue] = [
      "device": .integer(device.id), "token": .string(device.token.text), "platform": .string(device.platform.rawValue),
      "provider": .string(device.provider.rawValue), "environment": .string(device.environment.rawValue),
      "alias": device.alias.map { .string($0) } ?? .null,
      "registration_id": device.registrationID.map { .string($0) } ?? .null,
    ]
    return .object(members.merging(news.detail) { $1 })
  }

  private static func add(
    _ database: Database, _ webhook: Int64, uid: String, _ event: Event, _ data: JSONValue, path: String?, now: Date
  ) throws {
    let waiting = try database.int(
      "SELECT count(*) FROM (SELECT 1 FROM webhook_events WHERE webhook_id = ? AND state = 'pending' LIMIT ?)", webhook,
      pendingLimit)
    guard waiting < pendingLimit else {
      try database.run("UPDATE webhooks SET dropped = dropped + 1 WHERE id = ?", webhook)
      return
    }
    try database.run(
      """
      INSERT OR IGNORE INTO webhook_events(webhook_id, uid, type, data, path, state, created_at, queued_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?6)
      """, webhook, uid, event.rawValue, JSONWriter.text(of: data), path, now)
  }
}
