import Foundation
import HTTPServer
import Push
import Reminders
import SQLite
import Store

/// `/api/v1/reminders`: what was sent, to whom, when, and what was answered.
enum RemindersAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/reminders", role: .viewer) { call in
      var query = APIQuery(call.request)
      let (limit, cursor) = (query.limit(), query.cursor())
      try query.finish()
      let page = try await call.store.read { database in
        let log = try ReminderLog(database, cursor: cursor, limit: limit)
        return Page(items: log.rows, next: log.next)
      }
      return APIContext.answer(page) { json($0) }
    }
  }

  /// The schema `Reminder`.
  private static func json(_ row: ReminderLog.Row) -> JSONValue {
    let message = row.message
    return [
      "id": .string(message.uid), "channel": .string(message.channel.rawValue), "target": .string(message.target),
      "receiver": message.receiverID.map { .integer($0) } ?? .null, "state": .string(message.state.rawValue),
      "attempts": .number(message.attempts), "answer": .optional(message.answer),
      "created_at": .time(message.createdAt), "sent_at": .optional(message.sentAt),
      "items": .array(
        row.reminders.map { reminder in
          [
            "key": .string(reminder.itemKey), "name": .string(reminder.itemName), "step": .number(reminder.step),
            "sha256": .optional(reminder.fingerprint.isEmpty ? nil : reminder.fingerprint),
          ]
        }),
    ]
  }
}

/// `/api/v1/certificates/{id}/acknowledgement`: "I am on it until …".
enum AcknowledgementAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.put, "/certificates/:id/acknowledgement", role: .operator) { call in
      let id: Int64 = try call.request.parameter("id")
      let fields = JSONFields(try await call.body())
      let until = fields.time("until", required: true)
      let limit = CertificateReminders.longest
      if let until, until <= call.now || until > call.now.addingTimeInterval(Double(limit + 1) * 86_400) {
        fields.report(
          "until",
          Problem(
            "", code: "acknowledgement.until", "Must be a time to come, at most {limit} days ahead.",
            ["limit": String(limit)]))
      }
      try fields.finish()
      guard let until else { throw Problems([Problem("until", FieldMessage.required)]) }
      try await call.store.write { database in
        let subject = CertificateReminders.subject(try TrackedCertificate.get(database, id: id))
        try Acknowledgement.set(database, subject, by: call.actor, until: until, now: call.now)
        let audit = call.audit("certificate.acknowledge", "certificate \(id)", ["until": .time(until)])
        try AuditEntry.add(database, audit, now: call.now)
      }
      return APIContext.answer(["by": .string(call.actor), "until": .time(until)])
    }
    routes.call(.delete, "/certificates/:id/acknowledgement", role: .operator) { call in
      let id: Int64 = try call.request.parameter("id")
      try await call.store.write { database in
        let subject = CertificateReminders.subject(try TrackedCertificate.get(database, id: id))
        guard try Acknowledgement.remove(database, subject) else {
          throw StoreError.notFound(noun: "acknowledgement", id: "of certificate \(id)")
        }
        try AuditEntry.add(database, call.audit("certificate.unacknowledge", "certificate \(id)"), now: call.now)
      }
      return APIContext.nothing
    }
  }
}
