import Foundation
import Push
import SQLite
import Store

/// Registers what a parser reads, in transactions of many devices.
struct DeviceImportRun {
  /// What became of an import: the API's schema `ImportResult`.
  struct Report: Sendable {
    var lines = 0
    var added = 0
    var updated = 0
    var rejected = 0
    /// The first of them.
    var errors: [RejectedLine] = []

    static let errorLimit = 1000

    var json: JSONValue {
      let list = errors.flatMap { line in
        line.problems.map { problem -> JSONValue in
          var members: [String: JSONValue] = ["line": .number(line.line), "message": .string(problem.text)]
          if !problem.field.isEmpty { members["field"] = .string(problem.field) }
          return .object(members)
        }
      }
      return [
        "lines": .number(lines), "added": .number(added), "updated": .number(updated), "rejected": .number(rejected),
        "errors": .array(list),
      ]
    }
  }

  let store: Store
  let isDryRun: Bool
  let now: Date
  let rejected: (RejectedLine) -> Void
  private(set) var report = Report()
  private var apps: [String: App] = [:]
  private var waiting: [DeviceImport.Line] = []

  /// Each commit writes every page of the token index that it touched; see `Device.register`.
  private static let batch = 20_000

  init(store: Store, isDryRun: Bool, now: Date, rejected: @escaping (RejectedLine) -> Void) {
    self.store = store
    self.isDryRun = isDryRun
    self.now = now
    self.rejected = rejected
  }

  /// Reads everything.
  mutating func take(
    _ parser: DeviceLineParser, from source: DevicesImportCommand.Source, progress: (Report) -> Void
  ) throws {
    var parser = parser
    while true {
      let bytes = try source.next()
      try take(bytes.isEmpty ? parser.finish() : parser.push(bytes))
      progress(report)
      if bytes.isEmpty || parser.isStopped { break }
    }
    try register()
  }

  private mutating func take(_ results: [Result<DeviceImport.Line, RejectedLine>]) throws {
    for result in results {
      report.lines += 1
      switch result {
      case .success(let line): waiting.append(line)
      case .failure(let line): reject(line)
      }
    }
    if waiting.count >= Self.batch { try register() }
  }

  private mutating func reject(_ line: RejectedLine) {
    report.rejected += 1
    if report.errors.count < Report.errorLimit { report.errors.append(line) }
    rejected(line)
  }

  /// Keeps what waits, in one transaction: runs of lines of the same app together, so that their order stays.
  private mutating func register() throws {
    let lines = waiting
    waiting = []
    guard !lines.isEmpty else { return }
    var good: [(app: App, lines: [DeviceImport.Line])] = []
    for line in lines {
      guard let app = try app(line.device.app) else {
        let problem = Problem("app", ImportMessage.appUnknown, ["app": line.device.app])
        reject(RejectedLine(line: line.number, problems: [problem]))
        continue
      }
      let problems = line.device.problems(rule: app.aliasRule.flatMap(AliasRule.init) ?? .none)
      if !problems.isEmpty {
        reject(RejectedLine(line: line.number, problems: problems))
      } else if good.last?.app.id == app.id {
        good[good.count - 1].lines.append(line)
      } else {
        good.append((app, [line]))
      }
    }
    let results = try registered(good)
    for (line, result) in zip(good.flatMap(\.lines), results) {
      switch result {
      case .added: report.added += 1
      case .updated: report.updated += 1
      case .rejected(let problem): reject(RejectedLine(line: line.number, problems: [problem]))
      }
    }
  }

  private struct DryRun: Error { let results: [RegistrationResult] }

  private func registered(_ groups: [(app: App, lines: [DeviceImport.Line])]) throws -> [RegistrationResult] {
    do {
      return try store.writeSync { database in
        let results = try groups.flatMap { group in
          try Device.register(
            database, app: group.app.id, group.lines.map(\.device.registration), by: "cli", now: now)
        }
        // Undone by the error; the numbers are true nevertheless, within a batch.
        if isDryRun { throw DryRun(results: results) }
        return results
      }
    } catch let dryRun as DryRun {
      return dryRun.results
    }
  }

  private mutating func app(_ bundleID: String) throws -> App? {
    if let app = apps[bundleID] { return app }
    let app = try store.readSync { try App.find($0, bundleID: bundleID) }
    if let app { apps[bundleID] = app }
    return app
  }
}
