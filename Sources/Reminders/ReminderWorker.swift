import Calendar
package import Certificates
package import Foundation
package import Logging
internal import Mail
internal import Model
internal import SQLite
package import Store

/// Finds and sends due reminders: every minute in the server, once in `check-certificates --notify`.
///
/// Several processes may share a database: each step is claimed once, each message leased once.
package struct ReminderWorker: Sendable {
  /// The result of one round.
  package struct Look: Sendable {
    /// The state of everything that can expire.
    package let report: ExpiryReport
    /// How many messages were accepted.
    package var sent = 0
    /// Receiver and reason of each failure.
    package var failures: [String] = []
    /// Messages that another process is sending.
    package var elsewhere: [String] = []
  }

  private let store: Store
  private let courier: Courier
  private let source: CheckRun.Source
  private let log: Logger

  /// The shortest time in seconds between two recorded checks of the server.
  private static let checkInterval: TimeInterval = 600
  package init(store: Store, courier: Courier, source: CheckRun.Source, log: Logger) {
    self.store = store
    self.courier = courier
    self.source = source
    self.log = log.labelled("Reminders")
  }

  /// Runs a round every minute until the task is cancelled, whatever fails.
  package func run(clock: @escaping @Sendable () -> Date) async {
    while !Task.isCancelled {
      do {
        _ = try await look(clock: clock)
      } catch {
        if !Task.isCancelled { log.error("could not check certificates", ["error": "\(error)"]) }
      }
      // Cancelled: the loop ends.
      try? await Task.sleep(for: .seconds(60))
    }
  }

  /// Runs one round: claims due reminders, then sends every message whose time has come.
  ///
  /// - Parameters:
  ///   - clock: read again for each message, because sending takes time and other processes continue.
  ///   - days: how many days before its end something is reported; does not affect reminders.
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
        // Checked again under the lock: another process may have been faster.
        return plan.isEmpty
          ? 0 : try ReminderPlan(database, now: now, ignoringHour: ignoresHour, within: days).claim(database, now: now)
      }
      if count > 0 { log.notice("reminders due", ["messages": count]) }
    }
    var look = Look(report: plan.report)
    for message in try await store.read({ try ReminderMessage.pending($0) }) {
      // The program is stopping: the next start sends the rest.
      if Task.isCancelled { break }
      guard try await !send(message.id, clock: clock, &look) else { continue }
      let left = try await store.read { try ReminderMessage.find($0, id: message.id) }
      if let left, left.state == .pending { note(left, now: clock(), &look) }
    }
    return look
  }

  /// Records why a message is not sent now.
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

  /// Everything needed to send one message.
  private struct Parcel: Sendable {
    let message: ReminderMessage
    let language: String
    let secrets: Receiver.Secrets
    var entries: [ReminderContent.Entry] = []
    var notice: ReminderContent.Notice?
    var request: ReminderContent.Request?
    let zone: TimeZone
    let mail: MailSettings?
  }

  /// Sends a message, unless its time has not come or another process has it.
  ///
  /// - Returns: whether this worker sent it.
  private func send(
    _ id: Int64, clock: @escaping @Sendable () -> Date, _ look: inout Look
  ) async throws -> Bool {
    let taken = try await store.write { try ReminderMessage.lease($0, id: id, now: clock()) }
    guard let message = taken else { return false }
    let now = clock()
    var answer: String
    do {
      guard let parcel = try await parcel(message, now: now),
        !parcel.entries.isEmpty || parcel.notice != nil || parcel.request != nil
      else {
        try await store.write {
          try message.record($0, .dropped, answer: "its content is out of date", now: now)
        }
        return true
      }
      let content = ReminderContent(
        parcel.entries, notice: parcel.notice, request: parcel.request, texts: courier.texts[parcel.language],
        zone: parcel.zone, address: courier.address, identifier: message.uid, now: now)
      answer = try await courier.send(
        content, over: message.channel, to: parcel.secrets, mail: parcel.mail)
    } catch let error as CancellationError {
      // The program is stopping, which is no failure of the receiver: the lease ends by itself.
      throw error
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

  /// The present state of the message's items; renewed and removed ones are left out.
  private func parcel(_ message: ReminderMessage, now: Date) async throws -> Parcel? {
    let sealer = store.sealer
    return try await store.read { database in
      if let id = message.approvalID {
        // Nothing is sent of a request that is decided, or to a person who may no longer decide.
        guard let approval = try Approval.find(database, id: id), approval.decision == nil, approval.expiresAt > now,
          let person = try approval.deciders(database).first(where: { $0.name == message.target })
        else { return nil }
        return Parcel(
          message: message, language: person.language ?? "en", secrets: Receiver.Secrets(address: person.name),
          request: try ReminderContent.Request(approval, database), zone: try ReminderSettings.load(database).zone,
          mail: try MailSettings.load(database, sealer: sealer))
      }
      guard let receiver = try message.receiverID.flatMap({ try Receiver.find(database, id: $0) }),
        receiver.details.isActive
      else { return nil }
      let secrets = try Receiver.secrets(database, id: receiver.id, sealer: sealer)
      let zone = try ReminderSettings.load(database).zone
      let mail = message.channel == .email ? try MailSettings.load(database, sealer: sealer) : nil
      if let id = message.incidentID {
        // Of an incident that closed before anybody was told, or that is open again, nothing is sent.
        guard let incident = try Incident.find(database, id: id),
          (incident.state(at: now) == .closed) == message.isEnd,
          let app = try App.find(database, id: incident.place.app)
        else { return nil }
        return Parcel(
          message: message, language: receiver.details.language, secrets: secrets,
          notice: ReminderContent.Notice(incident, app: app.name), zone: zone, mail: mail)
      }
      let wanted = Set(
        try Reminder.of(database, message: message.id).map {
          Acknowledgement.Subject(key: $0.itemKey, fingerprint: $0.fingerprint)
        })
      let uses = try TrackedCertificate.uses(database)
      let entries = try CertificateTracker.report(database, of: Set(wanted.map(\.key)), now: now).findings
        .filter { finding in finding.item.subject.map(wanted.contains) ?? false }
        .map { ReminderContent.Entry(item: $0.item, uses: Self.uses($0.item, uses), planned: $0.planned) }
      return Parcel(
        message: message, language: receiver.details.language, secrets: secrets, entries: entries, zone: zone,
        mail: mail)
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
