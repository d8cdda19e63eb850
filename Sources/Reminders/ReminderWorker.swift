import Calendar
package import Certificates
package import Foundation
package import Logging
internal import Mail
internal import Model
internal import SQLite
package import Store

/// Looks what is due, and sends it: every minute in the server, once in `check-certificates --notify`.
///
/// Any number may work on one database at a time: a step is claimed by one, a message is leased by one.
package struct ReminderWorker: Sendable {
  /// What one look came to.
  package struct Look: Sendable {
    /// How everything stands.
    package let report: ExpiryReport
    /// Messages that were taken over.
    package var sent = 0
    /// To whom and why it failed, one line each.
    package var failures: [String] = []
    /// What is being sent by somebody else, one line each.
    package var elsewhere: [String] = []
  }

  private let store: Store
  private let courier: Courier
  private let source: CheckRun.Source
  private let log: Logger

  /// A check of the server is written down only so often, in seconds.
  private static let checkInterval: TimeInterval = 600
  package init(store: Store, courier: Courier, source: CheckRun.Source, log: Logger) {
    self.store = store
    self.courier = courier
    self.source = source
    self.log = log.labelled("Reminders")
  }

  /// Looks every minute, until the task is cancelled. Whatever goes wrong, it goes on.
  package func run(clock: @escaping @Sendable () -> Date) async {
    while !Task.isCancelled {
      do {
        _ = try await look(clock: clock)
      } catch {
        log.error("could not check certificates", ["error": "\(error)"])
      }
      // Cancelled: the loop ends.
      try? await Task.sleep(for: .seconds(60))
    }
  }

  /// Looks once: claims what is due, then sends everything whose time has come.
  ///
  /// - Parameters:
  ///   - clock: looked at again for each message: sending one takes its time, and another process goes on meanwhile.
  ///   - days: from how many days before its end on something is reported; nothing for reminders.
  package func look(
    clock: @escaping @Sendable () -> Date, within days: Int = Expiry.warningDays
  ) async throws -> Look {
    let now = clock()
    let (source, ignoresHour) = (source, source == .cron)
    let (plan, runs) = try await store.read { database in
      (try ReminderPlan(database, now: now, ignoringHour: ignoresHour, within: days), try CheckRun.all(database))
    }
    let check = CheckRun(source: source, at: now, exitCode: Int(plan.report.exitCode))
    let isFresh = runs.contains { run in
      run.source == source && run.exitCode == check.exitCode
        && abs(now.timeIntervalSince(run.at)) < Self.checkInterval
    }
    if !isFresh || source == .cron || !plan.isEmpty {
      let count = try await store.write { database in
        try check.keep(database)
        // Once more, under the lock: another process may have been quicker.
        return plan.isEmpty
          ? 0 : try ReminderPlan(database, now: now, ignoringHour: ignoresHour, within: days).claim(database, now: now)
      }
      if count > 0 { log.notice("reminders due", ["messages": count]) }
    }
    var look = Look(report: plan.report)
    for message in try await store.read({ try ReminderMessage.pending($0) }) {
      guard try await !send(message.id, clock: clock, &look) else { continue }
      let left = try await store.read { try ReminderMessage.find($0, id: message.id) }
      if let left, left.state == .pending { note(left, now: clock(), &look) }
    }
    return look
  }

  /// Says of a message that is not sent now why it is not.
  private func note(_ message: ReminderMessage, now: Date, _ look: inout Look) {
    let whom = "\(message.channel.rawValue) to \(message.target)"
    if message.isLeased(now) {
      look.elsewhere.append(
        "\(whom): another process is sending it; if that process has ended, it is retried after "
          + "\(Timestamp.text(message.leasedUntil))")
    } else if message.attempts > 0 {
      look.failures.append(
        "\(whom): \(message.answer ?? "not taken"); retried after \(Timestamp.text(message.nextTryAt))")
    }
  }

  /// What is needed to send one message.
  private struct Parcel: Sendable {
    let message: ReminderMessage
    let receiver: Receiver
    let secrets: Receiver.Secrets
    let entries: [ReminderContent.Entry]
    let zone: TimeZone
    let mail: MailSettings?
  }

  /// Sends a message, unless its time has not come or somebody else has it.
  ///
  /// - Returns: whether it was this worker's to send.
  private func send(
    _ id: Int64, clock: @escaping @Sendable () -> Date, _ look: inout Look
  ) async throws -> Bool {
    let taken = try await store.write { try ReminderMessage.lease($0, id: id, now: clock()) }
    guard let message = taken else { return false }
    let now = clock()
    var answer: String
    do {
      guard let parcel = try await parcel(message, now: now), !parcel.entries.isEmpty else {
        try await store.write {
          try message.record($0, .dropped, answer: "its content is out of date", now: now)
        }
        return true
      }
      let content = ReminderContent(
        parcel.entries, texts: courier.texts[parcel.receiver.details.language], zone: parcel.zone,
        address: courier.address, identifier: message.uid, now: now)
      answer = try await courier.send(
        content, over: message.channel, to: parcel.secrets, mail: parcel.mail)
    } catch {
      try await fail(message, error, now: clock(), &look)
      return true
    }
    let (words, sentAt) = (answer, clock())
    try await store.write { try message.record($0, .sent, answer: words, now: sentAt) }
    look.sent += 1
    log.notice("reminder sent", ["channel": message.channel.rawValue, "message": message.uid])
    return true
  }

  private func fail(_ message: ReminderMessage, _ error: any Error, now: Date, _ look: inout Look) async throws {
    let pause = RetryPause.seconds(afterAttempt: message.attempts, asked: (error as? MailError)?.retryAfter)
    let isOver = now.timeIntervalSince(message.createdAt) > RetryPause.patience
    let words = "\(error)"
    try await store.write { database in
      try message.record(
        database, isOver ? .dropped : .pending, answer: words, nextTry: now.addingTimeInterval(pause), now: now)
    }
    look.failures.append("\(message.channel.rawValue) to \(message.target): \(words)")
    log.warning(
      "reminder not delivered",
      ["channel": message.channel.rawValue, "attempts": message.attempts, "error": words])
  }

  /// What the message tells of, as it is now: what was renewed or removed meanwhile is left out.
  private func parcel(_ message: ReminderMessage, now: Date) async throws -> Parcel? {
    let sealer = store.sealer
    return try await store.read { database in
      guard let receiver = try message.receiverID.flatMap({ try Receiver.find(database, id: $0) }),
        receiver.details.isActive
      else { return nil }
      let wanted = Set(
        try Reminder.of(database, message: message.id).map {
          Acknowledgement.Subject(key: $0.itemKey, fingerprint: $0.fingerprint)
        })
      let uses = try TrackedCertificate.uses(database)
      let entries = try CertificateTracker.report(database, of: Set(wanted.map(\.key)), now: now).findings
        .filter { finding in finding.item.subject.map(wanted.contains) ?? false }
        .map { ReminderContent.Entry(item: $0.item, uses: Self.uses($0.item, uses), planned: $0.planned) }
      return Parcel(
        message: message, receiver: receiver,
        secrets: try Receiver.secrets(database, id: receiver.id, sealer: sealer), entries: entries,
        zone: try ReminderSettings.load(database).zone,
        mail: message.channel == .email ? try MailSettings.load(database, sealer: sealer) : nil)
    }
  }

  private static func uses(
    _ item: TrackedExpiry, _ uses: [Int64: [TrackedCertificate.Use]]
  ) -> [TrackedCertificate.Use] {
    let parts = (item.key ?? "").split(separator: "/")
    guard parts.count == 2, parts[0] == "certificates", let id = Int64(parts[1]) else { return [] }
    return uses[id] ?? []
  }
}
