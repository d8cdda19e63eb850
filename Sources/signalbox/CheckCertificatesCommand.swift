import Arguments
import Certificates
import Foundation
import OpenSSL
import Push
import Store

/// `signalbox check-certificates`: works whether or not the server runs.
enum CheckCertificatesCommand {
  private static let within = Option(
    "within", "days", "Report what ends within so many days.", default: 30, showing: "30d", parseDays)
  private static let nagios = Flag("nagios", "One line as Nagios and its like want it.")

  static let command = Command<Action>(
    "check-certificates", "Tells how long every certificate, key and profile lasts; for cron.",
    discussion: """
      Exit 0: all fine. 1: something ends within the limit. 2: something is over, has 7 days or less, or its \
      private key does not open. 3: could not tell.
      """,
    parameters: [
      CommonOptions.data.parameter, within.parameter, CommonOptions.json.parameter, nagios.parameter,
    ]
  ) { values, io in
    run(
      data: values[CommonOptions.data], days: values[within], isJSON: values[CommonOptions.json],
      isNagios: values[nagios], io: io)
  }

  static func run(
    data: String, days: Int, isJSON: Bool, isNagios: Bool = false, io: CommandIO = .standard
  ) -> Int32 {
    let directory = DataDirectory(data, environment: io.environment)
    let now = io.now()
    do {
      try directory.mustExist()
      // The key file is not needed to read dates; without it is said what cannot be opened.
      var key: SealingKey?
      do { key = try directory.storedKey() } catch { io.note("\(error)") }
      let ring = KeyRing(key, path: directory.keyFile) { throw SealingMismatch.missing }
      let store = try Store.open(path: directory.database, sealer: ring, readers: 1, now: now)
      defer { store.close() }
      let report = try store.readSync {
        try CertificateTracker.report($0, sealer: ring, now: now, within: days)
      }
      if isNagios {
        io.print(line(report))
      } else {
        io.print(isJSON ? report.json.text(pretty: true) : report.lines(includingFine: true).joined(separator: "\n"))
      }
      return report.exitCode
    } catch {
      let text = error is CommandFailure ? "\(error)" : "\(directory.database): \(error)"
      if isNagios { io.print("CERTIFICATES UNKNOWN - \(singleLine(text))") }
      io.complain(text)
      return 3
    }
  }

  /// `STATUS - what needs somebody | performance data` (Monitoring Plugins Development Guidelines).
  private static func line(_ report: ExpiryReport) -> String {
    let words = ["OK", "WARNING", "CRITICAL", "UNKNOWN"]
    let trouble = report.lines(includingFine: false).map { singleLine($0).replacing("|", with: "/") }
    let text = trouble.isEmpty ? "\(report.findings.count) watched, none ends soon" : trouble.joined(separator: "; ")
    let least = report.findings.compactMap(\.daysLeft).min().map { "days_left=\($0);\(report.withinDays);7 " } ?? ""
    return "CERTIFICATES \(words[Int(report.exitCode)]) - \(text) | \(least)watched=\(report.findings.count)"
  }
}
