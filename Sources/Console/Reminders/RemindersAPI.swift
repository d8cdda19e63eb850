import Foundation
import HTTPServer
import JSON
import Model
import Reminders
import SQLite
import Store

enum RemindersAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/reminders", role: .viewer) { call in
      let (limit, cursor) = try APIQuery.page(call.request)
      let page = try await call.store.read { database in
        let log = try ReminderLog(database, cursor: cursor, limit: limit)
        return Page(items: log.rows, next: log.next)
      }
      // Without the right to see receivers, the caller gets no addresses and no mail server answers, which may repeat
      // them.
      return APIContext.answer(page.map { ReminderAnswer(row: $0, showsReceivers: call.principal.role >= .admin) })
    }
  }
}

private struct ReminderAnswer: JSONObject {
  let row: ReminderLog.Row
  let showsReceivers: Bool

  func writeMembers(to json: inout JSONWriter) {
    let message = row.message
    json.member("id", message.uid)
    json.member("channel", message.channel.rawValue)
    json.member("target", showsReceivers ? message.target : nil)
    json.member("receiver", message.receiverID)
    json.member("state", message.state.rawValue)
    json.member("attempts", message.attempts)
    json.member("answer", showsReceivers ? message.answer : nil)
    json.member("created_at", message.createdAt)
    json.member("sent_at", message.sentAt)
    json.objects("items", row.reminders) { json, reminder in
      json.member("key", reminder.itemKey)
      json.member("name", reminder.itemName)
      json.member("step", reminder.step)
      json.member("sha256", reminder.fingerprint.isEmpty ? nil : reminder.fingerprint)
    }
  }
}
