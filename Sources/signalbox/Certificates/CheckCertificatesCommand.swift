import Arguments
import Certificates
import Foundation
import JSON
import Logging
import OpenSSL
import Model
import Reactor
import Reminders
import Store
import Text

/// `signalbox check-certificates`: works with or without a running server.
enum CheckCertificatesCommand {
  private static let within = Option(
    "within", "days", "Report items that expire within this time.", default: 30, showing: "30d", parseDays)
  private static let nagios = Flag("nagios", "Print one status line for Nagios-compatible monitoring.")

  private static let notify = Flag(
    "notify", "Send due reminders by email and webhook. Each reminder is sent once, even if the server checks too.")
  private static let address = Option<String?>(
    "address", "url", "The console's public URL for links in reminders, e.g. https://push.example.com.", parseAddress
  ).configuration

  private static let noProbe = Flag(
    "no-probe",
    "Skip checking watched hosts and use the last results. By default, results older than an hour are refreshed.")

  static let command = Command<Action>(
    "check-certificates", "Check when certificates, keys, profiles, and hosts expire. For cron.",
    discussion: """
      Exit codes: 0: nothing expires within the limit. 1: something expires within the limit or is not valid yet. 2: \
      something has expired, expires within 7 days, or has a private key that cannot be decrypted. 3: a check failed or \
      a reminder could not be sent.
      """,
    parameters: [
      CommonOptions.data.parameter, within.parameter, CommonOptions.json.parameter, nagios.parameter, noProbe.parameter,
      notify.parameter, address.parameter, CommonOptions.resources.parameter, CommonOptions.proxy.parameter,
      CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter, CommonOptions.allowHTTP.parameter,
    ]
  ) { values, io in
    guard !values[nagios] || !values[CommonOptions.json] else {
      throw CommandFailure.usage("Use either --json or --nagios.")
    }
    let io = try io.calling(values)
    if !values[noProbe] { await probe(data: values[CommonOptions.data], io: io) }
    let code =
      values[notify]
      ? await notifying(
        data: values[CommonOptions.data], days: values[within], isJSON: values[CommonOptions.json],
        isNagios: values[nagios], address: values[address], resources: values[CommonOptions.resources], io: io)
      : plain(values, io)
    // If the output failed, nobody saw the report.
    return io.outputFailure() == nil ? code : 3
  }

  private static func plain(_ values: Parsed, _ io: CommandIO) -> Int32 {
    run(
      data: values[CommonOptions.data], days: values[within], isJSON: values[CommonOptions.json],
      isNagios: values[nagios], io: io)
  }

  static func run(data: String, days: Int, isJSON: Bool, isNagios: Bool = false, io: CommandIO = .standard) -> Int32 {
    let directory = DataDirectory(data, environment: io.environment)
    let now = io.now()
    do {
      let store = try Self.open(directory, io)
      defer { store.close() }
      let report = try store.readSync {
        try CertificateTracker.report($0, sealer: store.sealer, now: now, within: days)
      }
      tell(report, isJSON: isJSON, isNagios: isNagios, io)
      return report.exitCode
    } catch {
      return fail(error, directory, isNagios: isNagios, io)
    }
  }

  /// Opens the store. Dates can be read without the key file; the report then says what cannot be opened.
  private static func open(_ directory: DataDirectory, _ io: CommandIO) throws -> Store {
    try directory.mustExist()
    var key: SealingKey?
    var trouble: KeyRing.Trouble?
    do { key = try directory.storedKey() } catch {
      io.note("\(error)")
      if case .damaged? = error as? SealingKeyFileError { trouble = .malformed } else { trouble = .unreadable }
    }
    let ring = KeyRing(key, path: directory.keyFile, trouble: trouble) { throw SealingMismatch.missing }
    return try directory.openStore(ring, readers: 1, now: io.now())
  }

  private static func tell(_ report: ExpiryReport, isJSON: Bool, isNagios: Bool, _ io: CommandIO) {
    let lines = report.lines(includingFine: true, in: io.translation)
    io.hint(
      ifEmpty: lines,
      """
      nothing is watched yet; add a file: signalbox certificates add <file>, or a host: signalbox certificates watch \
      <host>
      """)
    if isNagios {
      io.print(report.nagios)
    } else if isJSON {
      io.print(report.prettyJSON)
    } else {
      for line in lines { io.print(line) }
    }
  }

  private static func fail(_ error: any Error, _ directory: DataDirectory, isNagios: Bool, _ io: CommandIO) -> Int32 {
    let isNamed = error is CommandFailure || "\(error)".contains(directory.database)
    let text: Message = isNamed ? "\(error)" : "\(directory.database): \(error)"
    if isNagios { io.print("CERTIFICATES UNKNOWN - \(singleLine(text.description).withoutBars)") }
    io.complain(text)
    return 3
  }

  /// Like ``run(data:days:isJSON:isNagios:io:)``, but also sends due reminders, with or without a running server.
  ///
  /// - Returns: the report's exit code; 3 in place of 0 and 1 if a reminder could not be sent.
  static func notifying(
    data: String, days: Int, isJSON: Bool, isNagios: Bool = false, address: String? = nil, resources: String? = nil,
    io: CommandIO = .standard
  ) async -> Int32 {
    let directory = DataDirectory(data, environment: io.environment)
    do {
      let store = try Self.open(directory, io)
      defer { store.close() }
      let pool = BlockingPool(name: "mail", threads: 1)
      defer { pool.stop() }
      let courier = try Courier(
        folder: try Resources.find(resources) + "/Templates/mail", address: address, pool: pool,
        proxies: io.proxies)
      // Failures are reported once, below.
      let log = Logger(label: "signalbox", level: .critical, sink: StreamSink.standardError(.text))
      let look = try await ReminderWorker(store: store, courier: courier, source: .cron, log: log).look(
        clock: io.now, within: days)
      // The worker looks at dates alone.
      let (sealer, now) = (store.sealer, io.now())
      let report = try await store.read { try CertificateTracker.report($0, sealer: sealer, now: now, within: days) }
      tell(report, isJSON: isJSON, isNagios: isNagios, io)
      for message in look.elsewhere { io.note("reminder waiting: \(singleLine(io.recorded(message)))") }
      for failure in look.failures { io.complain("reminder not sent: \(singleLine(io.recorded(failure)))") }
      let code = report.exitCode
      return look.failures.isEmpty || code == 2 ? code : 3
    } catch {
      return fail(error, directory, isNagios: isNagios, io)
    }
  }

  /// Checks the watched hosts whose last check is more than an hour old, several at a time.
  ///
  /// An error is only noted: the report fails on a broken store by itself.
  private static func probe(data: String, io: CommandIO) async {
    let directory = DataDirectory(data, environment: io.environment)
    guard directory.exists else { return }
    let pool = BlockingPool(name: "probe", threads: 8)
    defer { pool.stop() }
    do {
      // Nothing sealed is read or written here.
      let ring = KeyRing(nil, path: directory.keyFile) { throw SealingMismatch.missing }
      let store = try directory.openStore(ring, readers: 1, now: io.now())
      defer { store.close() }
      let watch = HostWatch(store, clock: io.now, look: HostWatch.look(try HostProbe(proxies: io.proxies), on: pool))
      try await watch.look { hosts, now in HostSchedule.olderThan(3600, hosts, now: now) }
    } catch {
      io.note("could not check watched hosts: \(singleLine(io.text("\(error)")))")
    }
  }
}
