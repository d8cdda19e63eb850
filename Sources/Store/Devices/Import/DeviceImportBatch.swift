package import Foundation
internal import Model
package import SQLite

/// Lines of an import registered in one transaction.
package struct DeviceImportBatch: Sendable {
  /// Lines per transaction: each commit writes every changed page of the token index, see `Device.register`.
  package static let size = 20_000
  /// Lines per savepoint of that transaction. Each change of a device that a trigger looks at walks through all pages that
  /// its savepoint has changed so far: with one savepoint for all lines, it took five times as long.
  private static let savepoint = 1000

  private var lines: [DeviceImport.Line] = []

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }
  package var isFull: Bool { lines.count >= Self.size }

  package mutating func add(_ line: DeviceImport.Line) { lines.append(line) }

  /// Returns the lines, and empties the batch.
  package mutating func take() -> DeviceImportBatch {
    defer { self = DeviceImportBatch() }
    return self
  }

  package struct Outcome: Sendable {
    package var added = 0
    package var updated = 0
    /// Skipped lines.
    package var rejected: [RejectedLine] = []
  }

  /// Registers the devices, runs of one app's lines together, so that the order is kept.
  ///
  /// - Parameters:
  ///   - actor: for the timeline.
  ///   - leaving: refused: lines that take a device out of production are rejected.
  package func register(
    _ database: Database, leaving: LeavingProduction = .allowed, by actor: String, now: Date
  ) throws -> Outcome {
    var outcome = Outcome()
    var apps: [String: App?] = [:]
    var groups: [(app: App, lines: [DeviceImport.Line])] = []
    for line in lines {
      let name = line.device.app
      let known = try apps[name] ?? App.find(database, bundleID: name)
      apps[name] = .some(known)
      guard let app = known else {
        outcome.rejected.append(
          RejectedLine(line: line.number, problems: [Problem("app", ImportMessage.appUnknown, ["app": name])]))
        continue
      }
      let problems = line.device.problems(rule: app.rule)
      if !problems.isEmpty {
        outcome.rejected.append(RejectedLine(line: line.number, problems: problems))
      } else if let last = groups.last, last.app.id == app.id, last.lines.count < Self.savepoint {
        groups[groups.count - 1].lines.append(line)
      } else {
        groups.append((app, [line]))
      }
    }
    for group in groups {
      let results = try Device.register(
        database, app: group.app.id, group.lines.map(\.device.registration), leaving: leaving, by: actor, now: now)
      for (line, result) in zip(group.lines, results) {
        switch result {
        case .added: outcome.added += 1
        case .updated: outcome.updated += 1
        case .rejected(let problem):
          outcome.rejected.append(RejectedLine(line: line.number, problems: [problem]))
        }
      }
    }
    return outcome
  }
}
