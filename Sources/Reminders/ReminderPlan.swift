package import Certificates
package import Foundation
package import SQLite
package import Store

/// Decides which reminders are due for whom, and queues them.
package struct ReminderPlan: Sendable {
  /// A due step, and its receivers.
  struct Due: Sendable {
    let item: TrackedExpiry
    let subject: Acknowledgement.Subject
    let step: ReminderLadder.Step
    let receivers: [Receiver]
  }

  /// The state of everything that can expire.
  package let report: ExpiryReport
  let due: [Due]

  /// Reads everything; changes nothing.
  ///
  /// - Parameter ignoringHour: for cron, which cannot choose its hour.
  package init(_ database: Database, now: Date, ignoringHour: Bool, within days: Int = Expiry.warningDays) throws {
    report = try CertificateTracker.report(database, now: now, within: days)
    let receivers = try Receiver.all(database).filter(\.details.isActive)
    // Without receivers the step stays open until there is one.
    guard !receivers.isEmpty else {
      due = []
      return
    }
    let settings = try ReminderSettings.load(database)
    let sent = try Reminder.steps(database)
    let taken = try Acknowledgement.all(database, now: now)
    let apps = try App.bundleIDs(database)
    due = report.findings.compactMap { finding in
      let item = finding.item
      guard let subject = item.subject, let notAfter = item.notAfter,
        taken[subject].map({ $0.quiet(notAfter: notAfter) <= now }) ?? true
      else { return nil }
      let steps = (sent[subject] ?? []).map(ReminderLadder.Step.init)
      let step = settings.ladder.step(notAfter: notAfter, now: now, sent: steps) { step in
        ignoringHour
          || ReminderLadder.isTime(step, notAfter: notAfter, now: now, hour: settings.hour, zone: settings.zone)
      }
      guard let step else { return nil }
      let wanted = receivers.filter { receiver in
        receiver.details.appID.map { apps[$0] == item.app } ?? true
      }
      return wanted.isEmpty ? nil : Due(item: item, subject: subject, step: step, receivers: wanted)
    }
  }

  /// Whether nothing is due.
  package var isEmpty: Bool { due.isEmpty }

  /// Claims the due steps, and queues one message with all of them for each receiver.
  @discardableResult
  package func claim(_ database: Database, now: Date) throws -> Int {
    var claimed: [Int64: [Int64]] = [:]
    var receivers: [Receiver] = []
    for due in due {
      let id = try Reminder.claim(
        database, due.subject, step: due.step.rawValue, name: due.item.name, now: now)
      guard let id else { continue }
      for receiver in due.receivers {
        if claimed[receiver.id] == nil { receivers.append(receiver) }
        claimed[receiver.id, default: []].append(id)
      }
    }
    for receiver in receivers {
      try ReminderMessage.add(
        database, uid: UUID().uuidString.lowercased(), to: receiver, reminders: claimed[receiver.id] ?? [], now: now)
    }
    return receivers.count
  }
}

extension TrackedExpiry {
  /// The key of its reminders; nil if it is not stored.
  package var subject: Acknowledgement.Subject? {
    key.map { Acknowledgement.Subject(key: $0, fingerprint: sha256) }
  }
}
