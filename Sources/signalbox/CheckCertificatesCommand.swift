import Certificates
import Foundation
import OpenSSL
import Push
import Store

/// `signalbox check-certificates`: works whether or not the server runs.
enum CheckCertificatesCommand {
  static func run(data: String, days: Int, isJSON: Bool) -> Int32 {
    let path = data + "/signalbox.sqlite"
    guard FileManager.default.fileExists(atPath: path) else {
      Signalbox.complain("there is no \(path). Name the data folder with --data or SIGNALBOX_DATA.")
      return 3
    }
    do {
      // Nothing is unsealed here: the key file is not needed to read dates.
      let store = try Store.open(path: path, sealer: SealingKey(), readers: 1, now: Date())
      defer { store.close() }
      let report = try store.readSync { try CertificateTracker.report($0, now: Date(), within: days) }
      print(isJSON ? report.json.text(pretty: true) : report.lines(includingFine: true).joined(separator: "\n"))
      return report.exitCode
    } catch {
      Signalbox.complain("\(path): \(error)")
      return 3
    }
  }
}
