import Foundation
import Model
import SQLite
import Store

/// Registers parsed devices in transactions of many devices each.
struct DeviceImportRun {
  let store: Store
  let isDryRun: Bool
  let now: Date
  let rejected: (RejectedLine) -> Void
  private(set) var report = DeviceImportReport()
  private var batch = DeviceImportBatch()

  init(store: Store, isDryRun: Bool, now: Date, rejected: @escaping (RejectedLine) -> Void) {
    (self.store, self.isDryRun, self.now, self.rejected) = (store, isDryRun, now, rejected)
  }

  mutating func take(
    _ parser: DeviceLineParser, from source: DevicesImportCommand.Source, progress: (DeviceImportReport) -> Void
  ) throws {
    var parser = parser
    while true {
      let bytes = try source.next()
      for result in bytes.isEmpty ? parser.finish() : parser.push(bytes) {
        switch result {
        case .success(let line): batch.add(line)
        case .failure(let line):
          report.add(line)
          rejected(line)
        }
      }
      if batch.isFull { try register() }
      progress(report)
      if bytes.isEmpty || parser.isStopped { break }
    }
    try register()
  }

  private struct DryRun: Error { let outcome: DeviceImportBatch.Outcome }

  private mutating func register() throws {
    let lines = batch.take()
    guard !lines.isEmpty else { return }
    let outcome: DeviceImportBatch.Outcome
    do {
      outcome = try store.writeSync { database in
        let outcome = try lines.register(database, by: commandActor, now: now)
        // Rolls the batch back. Its counts are correct within the batch.
        if isDryRun { throw DryRun(outcome: outcome) }
        return outcome
      }
    } catch let dryRun as DryRun {
      outcome = dryRun.outcome
    }
    report.add(outcome)
    for line in outcome.rejected { rejected(line) }
  }
}
