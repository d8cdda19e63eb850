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
      // Who may not see the receivers does not learn their addresses here, nor by what mail servers answer.
      return APIContext.answer(page) { json($0, showsReceivers: call.principal.role >= .admin) }
    }
  }

  /// The schema `Reminder`.
  private static func json(_ row: ReminderLog.Row, showsReceivers: Bool) -> JSONValue {
    let message = row.message
    return [
      "id": .string(message.uid), "channel": .string(message.channel.rawValue),
      "target": showsReceivers ? .string(message.target) : .null,
      "receiver": message.receiverID.map { .integer($0) } ?? .null, "state": .string(message.state.rawValue),
      "attempts": .number(message.attempts), "answer": .optional(showsReceivers ? message.answer : nil),
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
