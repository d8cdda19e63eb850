import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// `POST /api/v1/devices/import`: reads while it writes, so that its size is of no matter to memory.
enum DeviceImportAPI {
  /// Some ten million devices.
  static let bodyLimit = 4 << 30
  /// Devices of one transaction: few enough that others may write in between.
  static let batchSize = 5000

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
    var result = ImportResult()
    var batch: [DeviceImport.Line] = []
    func take(_ found: [Result<DeviceImport.Line, RejectedLine>]) throws {
      for line in found {
        switch line {
        case .success(let line): batch.append(line)
        case .failure(let rejected):
          // The header of a CSV is wrong: nothing was read, and nothing will be.
          if parser.isStopped { throw Problems(rejected.problems) }
          result.reject(rejected)
        }
      }
    }
    for try await piece in call.request.body {
      try take(parser.push(piece))
      while batch.count >= batchSize {
        result.add(try await register(Array(batch.prefix(batchSize)), call))
        batch.removeFirst(batchSize)
      }
    }
    try take(parser.finish())
    if !batch.isEmpty { result.add(try await register(batch, call)) }
    result.lines = parser.count
    return APIContext.answer(result.json)
  }

  /// Registers the devices of some lines in one transaction.
  private static func register(_ lines: [DeviceImport.Line], _ call: APIContext) async throws -> ImportResult {
    try await call.store.write { database in
      var result = ImportResult()
      var apps: [String: App?] = [:]
      var byApp: [Int64: [DeviceImport.Line]] = [:]
      for line in lines {
        let name = line.device.app
        let app = try apps[name] ?? App.find(database, bundleID: name)
        apps[name] = .some(app)
        guard let app else {
          let problem = Problem("app", ImportMessage.appUnknown, ["app": name])
          result.reject(RejectedLine(line: line.number, problems: [problem]))
          continue
        }
        let problems = line.device.problems(rule: app.rule)
        if problems.isEmpty {
          byApp[app.id, default: []].append(line)
        } else {
          result.reject(RejectedLine(line: line.number, problems: problems))
        }
      }
      for (app, lines) in byApp {
        let results = try Device.register(
          database, app: app, lines.map(\.device.registration), by: call.actor, now: call.now)
        for (line, outcome) in zip(lines, results) { result.take(outcome, line: line.number) }
      }
      let names = apps.compactMap { $0.value?.bundleID }.sorted().map { JSONValue.string($0) }
      let audit = call.audit(
        "device.import", "devices",
        [
          "apps": .array(names), "added": .integer(Int64(result.added)), "updated": .integer(Int64(result.updated)),
          "first_line": .integer(Int64(lines[0].number)),
        ])
      if result.added + result.updated > 0 { try AuditEntry.add(database, audit, now: call.now) }
      return result
    }
  }
}

/// What became of the lines.
struct ImportResult: Sendable {
  /// Rejected lines that are named; the others are only counted.
  static let errorLimit = 1000

  var lines = 0
  private(set) var added = 0
  private(set) var updated = 0
  private(set) var rejected = 0
  private var errors: [RejectedLine] = []

  mutating func take(_ outcome: RegistrationResult, line: Int) {
    switch outcome {
    case .added: added += 1
    case .updated: updated += 1
    case .rejected(let problem): reject(RejectedLine(line: line, problems: [problem]))
    }
  }

  mutating func reject(_ line: RejectedLine) {
    rejected += 1
    if errors.count < Self.errorLimit { errors.append(line) }
  }

  mutating func add(_ other: ImportResult) {
    added += other.added
    updated += other.updated
    rejected += other.rejected
    errors = Array((errors + other.errors).prefix(Self.errorLimit))
  }

  /// The schema `ImportResult`.
  var json: JSONValue {
    let sorted = errors.sorted { $0.line < $1.line }
    return [
      "lines": .integer(Int64(lines)), "added": .integer(Int64(added)), "updated": .integer(Int64(updated)),
      "rejected": .integer(Int64(rejected)), "errors": .array(sorted.map(\.json)),
    ]
  }
}

extension RejectedLine {
  /// A line with one field that is wrong names it; with several, the message does.
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["line": .integer(Int64(line))]
    if problems.count == 1 {
      members["message"] = .string(problems[0].text)
    } else {
      members["message"] = .string(problems.map(\.description).joined(separator: "; "))
    }
    if let field = problems.first?.field, !field.isEmpty { members["field"] = .string(field) }
    return .object(members)
  }
}
