import Foundation
import Mustache
import Reminders
import Store

/// `/settings/reminders`: the steps, the hour, the daily checks, and the messages sent.
struct ReminderSettingsView: PageView {
  static let template = "settings/reminders"
  static let section: Section? = .settings

  let form: Form
  let errors: FieldErrors
  /// As it is saved.
  let ladder: LadderView
  let zones: [String]
  let checks: [CheckRow]
  let command: String
  let messages: [ReminderRow]
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .optional("problem") { $0.errors.others(["days", "hour", "zone"]) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .view("days") { FieldView(value: $0.form.raw("days"), error: $0.errors["days"]) },
    .view("hour") { FieldView(value: $0.form.raw("hour"), error: $0.errors["hour"]) },
    .view("zone") { FieldView(value: $0.form.raw("zone"), error: $0.errors["zone"]) },
    .view("ladder") { $0.ladder },
    .list("zones") { $0.zones },
    .list("checks") { $0.checks },
    .text("command") { $0.command },
    .flag("has_messages") { !$0.messages.isEmpty },
    .list("messages") { $0.messages },
    .view("pager") { $0.pager },
  ]
}

/// A source of daily certificate checks, and its last run.
struct CheckRow: View {
  let name: String
  let at: Date?
  let isLate: Bool
  let state: String
  /// Whether it can be removed from the list.
  let isForgettable: Bool

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .view("at") { $0.at.map { MomentView(date: $0) } },
    .text("tone") { $0.isLate ? "red" : $0.at == nil ? "none" : "" },
    .text("state") { $0.state },
    .flag("forgettable") { $0.isForgettable },
  ]
}

/// A reminder message, for `settings/_messages`.
struct ReminderRow: View {
  let message: ReminderMessage
  let channel: String
  /// The certificate or host.
  let what: String
  let state: String
  let answer: String
  /// Whether to show addresses, and answers, which may repeat them.
  let showsReceivers: Bool

  static let fields: [Field<Self>] = [
    .text("target") { $0.showsReceivers ? $0.message.target : "" },
    .text("channel") { $0.channel },
    .view("at") { MomentView(date: $0.message.sentAt ?? $0.message.createdAt) },
    .text("what") { $0.what },
    .text("state") { $0.state },
    .text("tone") {
      $0.message.state == .sent ? "" : $0.message.state == .pending && $0.message.attempts > 0 ? "red" : "none"
    },
    .text("answer") { $0.showsReceivers ? $0.answer : "" },
  ]
}

extension ReminderLog {
  func messages(_ texts: Texts, showsItems: Bool, showsReceivers: Bool, itemKey: String? = nil) -> [ReminderRow] {
    rows.map { row in
      let mine = row.reminders.filter { itemKey == nil || $0.itemKey == itemKey }
      let incident = row.message.incidentID.map { [texts("reminders.incident", ["id": "\($0)"])] } ?? []
      let subjects = row.message.approvalID == nil ? incident : [texts("reminders.approval")]
      return ReminderRow(
        message: row.message, channel: texts("settings.channels.\(row.message.channel.rawValue)"),
        what: texts.phrases(
          subjects
            + mine.map { reminder in
              let step = Self.step(reminder.step, texts)
              return showsItems ? texts.labelled(reminder.itemName, step) : step
            }), state: texts("reminders.states.\(row.message.state.rawValue)"),
        answer: row.message.answer.map(texts.answer) ?? "", showsReceivers: showsReceivers)
    }
  }
}
