import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// `POST /api/v1/devices/import`: reads while it writes, so that its size is of no matter to memory.
enum DeviceImportAPI {
  /// Some ten million devices.
  static let bodyLimit = 4 << 30

  static func add(to routes: inout ConsoleRouter) {
    let options = Route.Options(bodyLimit: bodyLimit, streamsBody: true)
    routes.call(.post, "/devices/import", role: .operator, options: options) { call in try await read(call) }
  }

  private static func format(_ request: Request) throws -> DeviceImport.Format {
    switch request.mediaType {
    case "application/x-ndjson": return .ndjson
    case "text/csv": return .csv
    default: throw HTTPError(.unsupportedMediaType, "The body must be application/x-ndjson or text/csv.")
    }
  }

  private static func read(_ call: APIContext) async throws -> Response {
    var parser = DeviceLineParser(format: try format(call.request))
    var report = DeviceImportReport()
    var batch = DeviceImportBatch()
    func take(_ found: [Result<DeviceImport.Line, RejectedLine>]) async throws {
      for line in found {
        switch line {
        case .success(let line):
          batch.add(line)
          // However many lines a piece holds: others want to write in between.
          if batch.isFull { report.add(try await register(batch.take(), call)) }
        case .failure(let rejected):
          // The header of a CSV is wrong: nothing was read, and nothing will be.
          if parser.isStopped { throw Problems(rejected.problems) }
          report.add(rejected)
        }
      }
    }
    for try await piece in call.request.body {
      try await take(parser.push(piece))
    }
    try await take(parser.finish())
    if !batch.isEmpty { report.add(try await register(batch.take(), call)) }
    return APIContext.answer(report.json)
  }

  /// Registers a batch in one transaction, with its line in the audit.
  private static func register(_ batch: DeviceImportBatch, _ call: APIContext) async throws -> DeviceImportBatch.Outcome
  {
    try await call.store.write { database in
      let outcome = try batch.register(database, by: call.actor, now: call.now)
      let audit = call.audit(
        "device.import", "devices",
        ["added": .integer(Int64(outcome.added)), "updated": .integer(Int64(outcome.updated))])
      if outcome.added + outcome.updated > 0 { try AuditEntry.add(database, audit, now: call.now) }
      return outcome
    }
  }
}
