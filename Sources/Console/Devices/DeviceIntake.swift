import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// Registers devices while their lines arrive. Each batch is one transaction with its audit entry, so that other
/// writers get their turn in between.
struct DeviceIntake {
  private(set) var report: DeviceImportReport
  private var parser: DeviceLineParser
  private var batch = DeviceImportBatch()
  /// Lines of other apps are refused as those of unknown apps are; nil: none.
  private let apps: Set<String>?
  private let context: any ActorContext

  /// - Parameter errorLimit: how many rejected lines the report keeps.
  init(
    _ parser: DeviceLineParser, for context: any ActorContext, only apps: Set<String>? = nil,
    errorLimit: Int = DeviceImportReport.errorLimit
  ) {
    (self.parser, self.apps, self.context) = (parser, apps, context)
    report = DeviceImportReport(errorLimit: errorLimit)
  }

  /// - Throws: `Problems` if the header of a CSV is wrong. Nothing is registered then.
  mutating func take(_ bytes: [UInt8]) async throws { try await take(parser.push(bytes)) }

  /// Registers the remaining lines.
  /// - Throws: as ``take(_:)``.
  mutating func finish() async throws {
    try await take(parser.finish())
    if !batch.isEmpty { try await register() }
  }

  private mutating func take(_ found: [Result<DeviceImport.Line, RejectedLine>]) async throws {
    for line in found {
      switch line {
      case .success(let line) where apps.map({ !$0.contains(line.device.app) }) ?? false:
        let problem = Problem("app", ImportMessage.appUnknown, ["app": line.device.app])
        report.add(RejectedLine(line: line.number, problems: [problem]))
      case .success(let line):
        batch.add(line)
        // A piece can hold any number of lines.
        if batch.isFull { try await register() }
      case .failure(let rejected):
        if parser.isStopped { throw Problems(rejected.problems) }
        report.add(rejected)
      }
    }
  }

  /// The error to answer after one that ended the import: it tells what is in already.
  func broken(by error: any Error) -> any Error {
    guard let cause = error as? SQLiteError, cause.isBusy || cause.isOfDisk, let left = report.brokenOff else {
      return error
    }
    return BrokenImport(cause: cause, left: left)
  }

  private mutating func register() async throws {
    let (lines, context) = (batch.take(), context)
    let outcome = try await context.store.write { database in
      let outcome = try lines.register(
        database, leaving: try context.leaving(database), by: context.actor, now: context.now)
      if outcome.added + outcome.updated > 0 {
        try context.record(
          database, "device.import", "devices",
          ["added": .integer(Int64(outcome.added)), "updated": .integer(Int64(outcome.updated))])
      }
      return outcome
    }
    report.add(outcome)
  }
}

/// An import that ended before its last line, after some of its devices were stored.
struct BrokenImport: Error {
  let cause: SQLiteError
  /// What was stored, and how to go on.
  let left: Problem
}
