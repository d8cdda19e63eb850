import Certificates
import Foundation
import Glibc
import OpenSSL
import Model
import Reactor
import SQLite
import Store
import Text

/// Checks an installation. Read-only, and safe beside a running server.
struct Doctor {
  struct Finding: Sendable, Hashable {
    enum Level: String, Sendable, CaseIterable {
      case ok, warning, error
    }

    /// What was checked, e.g. `secret.key`.
    let subject: Message
    let level: Level
    let message: Message
    /// The fix; nil if there is nothing to do.
    var remedy: Message?
  }

  let directory: DataDirectory
  let environment: [String: String]
  var proxies = ProxyRules.none
  let now: Date
  /// Whether the whole database is read, which takes minutes for many gigabytes.
  var isThorough = true

  /// All checks that need no network.
  func findings() -> [Finding] {
    guard access(directory.path, F_OK) == 0 else {
      return [
        Finding(
          subject: "data", level: .error, message: "\(directory.path) does not exist",
          remedy: "Set it with --data or SIGNALBOX_DATA. signalbox serve creates a new one.")
      ] + proxy() + [clock(latest: nil), trustStore()] + ownTrust() + serverCertificate()
    }
    var findings = [folder(), disk(), keyFile()]
    var latest: Date?
    if Replacement(directory: directory).pending != nil {
      findings.append(
        Finding(
          subject: "database", level: .warning, message: "a restore was interrupted; nothing is lost",
          remedy: "The next command that opens the folder finishes it, e.g. signalbox apps list."))
    } else if directory.exists {
      findings += database(&latest)
    } else if let obstacle = directory.obstacle {
      findings.append(
        Finding(
          subject: "database", level: .error, message: "\(obstacle)",
          remedy: "Check that this user can write to the data folder, or choose another one with --data."))
    } else if !directory.remains.isEmpty {
      findings.append(
        Finding(
          subject: "database", level: .error,
          message: "\(directory.database) is missing: there is only \(directory.remains.joined(separator: ", "))",
          remedy: "Put it back, or run signalbox restore <backup>."))
    } else {
      findings.append(
        Finding(
          subject: "database", level: .warning, message: "\(directory.database) does not exist yet",
          remedy: "signalbox serve creates it. Or choose another folder with --data."))
    }
    return findings + proxy() + [clock(latest: latest), trustStore()] + ownTrust() + serverCertificate()
  }

  private func keyFile() -> Finding {
    do {
      if try directory.nextKey() != nil {
        return Finding(
          subject: "secret.key", level: .warning, message: "a key rotation was interrupted; nothing is lost",
          remedy: "Run signalbox rotate-key to finish it. The next server start does that too.")
      }
      if let key = try SealingKey.load(path: directory.keyFile) {
        if let known = directory.exists ? try directory.sealingIdentifier() : nil, known != key.identifier {
          return Finding(
            subject: "secret.key", level: .error,
            message: "encryption key \(key.identifier) does not match this database, which is encrypted with \(known)",
            remedy: """
              Restore the right file. If it is lost, run signalbox rotate-key --lost and upload everything again.
              """)
        }
        return Finding(
          subject: "secret.key", level: .ok, message: "encryption key \(key.identifier), readable only by its owner")
      }
      guard directory.exists else {
        return Finding(
          subject: "secret.key", level: .ok,
          message: "does not exist yet; it is created with the database")
      }
      return Finding(
        subject: "secret.key", level: .error, message: "\(directory.keyFile) is missing",
        remedy: """
          Copy it back from where you keep it; backups do not contain it. If it is lost, run signalbox rotate-key --lost \
          and upload everything again.
          """)
    } catch is SQLiteError {
      // What is wrong with the database is a finding of its own.
      return Finding(
        subject: "secret.key", level: .warning, message: "cannot be compared with the database, which cannot be read",
        remedy: "Fix the database first, then run signalbox doctor again.")
    } catch {
      // The error says what to do.
      return Finding(subject: "secret.key", level: .error, message: "\(error)")
    }
  }

  // MARK: The database

  private func database(_ latest: inout Date?) -> [Finding] {
    var findings: [Finding] = []
    if let mode = mode(directory.database), mode & 0o077 != 0 {
      findings.append(
        Finding(
          subject: "database", level: .warning,
          message: "other users can read \(directory.database) (mode \(Self.octal(mode)))",
          remedy: "chmod 600 \(directory.database)"))
    }
    guard access(directory.database, R_OK | W_OK) == 0 else {
      return findings + [Self.unwritable("database", directory.database)]
    }
    do {
      let database = try Database(path: directory.database, mode: .reader)
      defer { database.close() }
      let pending = try Schema.migrator.pending(database)
      let faults = isThorough ? try database.integrityCheck(limit: 3) : []
      if isThorough {
        findings.append(
          faults.isEmpty
            ? Finding(subject: "database", level: .ok, message: "integrity check passed")
            : Finding(
              subject: "database", level: .error, message: "damaged: \(faults.joined(separator: "; "))",
              remedy: "Stop the server, keep a copy of the file, then run signalbox restore <backup>."))
      }
      findings.append(
        pending.isEmpty
          ? Finding(subject: "schema", level: .ok, message: "up to date")
          : Finding(
            subject: "schema", level: .ok,
            message: Message(
              count: pending.count, one: "1 migration runs at the next start",
              other: "\(pending.count) migrations run at the next start")))
      guard faults.isEmpty, pending.isEmpty else { return findings }
      findings.append(activity(try AuditChain.check(database)))
      latest = try database.fetchOne(
        "SELECT max(coalesce((SELECT max(at) FROM audit), 0), coalesce((SELECT max(created_at) FROM pushes), 0))"
      ) { Date(timeIntervalSince1970: Double($0.int64(0)) / 1000) }
      return try findings + credentials(database) + apps(database) + webhooks(database)
    } catch let error as MigrationError {
      let remedy: Message =
        if case .unreleased = error {
          "Start with a new data folder (--data), or keep using the program that made this one."
        } else {
          "Start the version that wrote it, or restore a backup."
        }
      return findings + [Finding(subject: "schema", level: .error, message: "\(error)", remedy: remedy)]
    } catch {
      return findings + [
        Finding(subject: "database", level: .error, message: "\(error)", remedy: Self.remedy(ofDatabase: error))
      ]
    }
  }

  private func activity(_ report: AuditChain.Report) -> Finding {
    guard !report.faults.isEmpty else {
      return Finding(
        subject: "activity log", level: .ok,
        message: Message(
          count: report.entries, one: "1 entry, none missing or changed",
          other: "\(report.entries) entries, none missing or changed"))
    }
    let words = report.faults.map { fault -> Message in
      switch fault {
      case .missing(let first, let last) where first == last: "entry \(first) is missing"
      case .missing(let first, let last): "entries \(first) to \(last) are missing"
      case .changed(let id): "entry \(id) was changed, or the one before it was replaced"
      case .deleted(let count, let recorded):
        Message(
          count: count, one: "1 failed sign-in is gone, but retention recorded \(recorded)",
          other: "\(count) failed sign-ins are gone, but retention recorded \(recorded)")
      }
    }
    return Finding(
      subject: "activity log", level: .error, message: words.dropFirst().reduce(words[0]) { "\($0); \($1)" },
      remedy: "Compare it with a backup or an export. Someone changed the database outside of Signalbox.")
  }

  private func credentials(_ database: Database) throws -> [Finding] {
    let report = try CertificateTracker.report(database, now: now)
    var findings = report.findings.filter { $0.band.needsSomebody }.map(expiring)
    findings += report.unreadable.map { item in
      let isHost = item.key?.hasPrefix("hosts/") == true
      return Finding(
        subject: isHost ? "watched host" : "certificate", level: isHost ? .warning : .error,
        message: item.problem.map { "\(singleLine(item.name)): \($0)" }
          ?? "\(singleLine(item.name)): \(singleLine(item.reason))",
        remedy: isHost
          ? "Check that it is running and that this machine can reach it, or stop watching it." : "Upload it again.")
    }
    // An unreadable key file was reported before.
    let key = try? directory.storedKey()
    let reason = key.map { (try? Sealing.state(database, $0)) ?? .fits } ?? .missing
    let words: Message =
      switch ClosedReason(reason) {
      case .missing, .malformed, .unreadable: "its private key cannot be decrypted without secret.key"
      case .other: "secret.key is not the key it was encrypted with"
      case .damaged: "secret.key does not decrypt it: the row is damaged or was encrypted with an earlier key"
      }
    let ring = KeyRing(key, path: directory.keyFile) { throw SealingMismatch.missing }
    findings += try TrackedCertificate.unreadable(database, sealer: ring).map {
      Finding(
        subject: "certificate", level: .error, message: "\(singleLine($0.details.name)): \(words)",
        remedy: reason == .fits
          ? "Upload it again with signalbox certificates renew \($0.id) <file>."
          : "Restore the key it was stored with, or upload it again.")
    }
    if findings.isEmpty {
      let days = Message(count: report.withinDays, one: "1 day", other: "\(report.withinDays) days")
      let text: Message =
        report.findings.isEmpty
        ? "none is stored yet" : "none of \(report.findings.count) expires within \(days)"
      findings = [Finding(subject: "certificate", level: .ok, message: text)]
    }
    return findings
  }

  /// A certificate that has expired, expires soon, or is not valid yet.
  private func expiring(_ finding: ExpiryReport.Finding) -> Finding {
    let (item, days) = (finding.item, finding.daysLeft ?? 0)
    let (name, end) = (singleLine(item.name), item.notAfter?.text ?? "")
    let message: Message =
      switch finding.band {
      case .expired:
        Expiry.isNeverValid(item.notBefore, item.notAfter)
          ? "\(name): never valid, because it ends before it begins" : "\(name): expired on \(end)"
      case .notYetValid: "\(name): not valid before \(item.notBefore?.text ?? end)"
      case .soon, .urgent, .fine, .neverExpires:
        days == 0
          ? "\(name): expires on \(end), in less than a day"
          : Message(
            count: days, one: "\(name): expires on \(end), in 1 day",
            other: "\(name): expires on \(end), in \(days) days")
      }
    let place = (item.key ?? "").split(separator: "/")
    let remedy: Message
    if finding.band == .notYetValid {
      remedy = "Check this machine's clock. If it is right, use another certificate until then."
    } else if place.first == "hosts" {
      remedy = "Renew the certificate on that host. Signalbox checks it again by itself."
    } else {
      let id = place.last.map(String.init) ?? "<id>"
      remedy = "Get a replacement, then run signalbox certificates renew \(id) <file>."
    }
    let isOver = finding.band == .expired || finding.band == .notYetValid
    return Finding(
      subject: place.first == "hosts" ? "watched host" : "certificate", level: isOver ? .error : .warning,
      message: message, remedy: remedy)
  }

  /// Event webhooks that have failed for a day.
  private func webhooks(_ database: Database) throws -> [Finding] {
    try Webhook.all(database).filter { $0.isTroubled(at: now) }.map { webhook in
      let (name, host) = (singleLine(webhook.details.name), webhook.details.target)
      let state: Message =
        webhook.goneAt.map { "was turned off on \($0.text), because it answered 410" }
        ?? "has accepted no events since \(webhook.failingSince?.text ?? "")"
      return Finding(
        subject: "webhook", level: .warning, message: "\(name) (\(host)) \(state)",
        remedy: "Repair the receiver, then run signalbox webhooks test \(webhook.id).")
    }
  }

  /// Apps with devices but without a working credential.
  private func apps(_ database: Database) throws -> [Finding] {
    try AppOverview.all(database).flatMap { app in
      let id = app.app.bundleID
      let routes = Environment.allCases.flatMap { environment in ProviderKind.allCases.map { (environment, $0) } }
      return routes.compactMap { environment, provider -> Finding? in
        let count = app.count(environment: environment, provider: provider, state: .active)
        let credential = app.credentials.first { $0.provider == provider && $0.environment == environment }
        let reach = app.reachName(provider, environment)
        if let credential, credential.health == .refused {
          let last: Message = credential.lastRefusal.map { " (\($0))" } ?? ""
          return Finding(
            subject: "app", level: .error,
            message: """
              \(id) \(PageWord(environment)) (\(reach)): the credential was refused at its last use\(last)
              """,
            remedy: "\(Remedy(Reason.of(credential.lastRefusal ?? "")))")
        }
        guard credential == nil, count > 0 else { return nil }
        return Finding(
          subject: "app", level: .warning,
          message: Message(
            count: count, one: "\(id) has 1 \(PageWord(environment)) \(reach) device but no credential",
            other: "\(id) has \(count) \(PageWord(environment)) \(reach) devices but no credential"),
          remedy: "Run signalbox certificates add <file> --app \(id) --use-for \(environment.rawValue).")
      }
    }
  }
}
