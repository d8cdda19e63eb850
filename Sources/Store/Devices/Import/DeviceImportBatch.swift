package import Foundation
internal import Model
package import SQLite

/// Lines of an import that are registered in one transaction.
package struct DeviceImportBatch: Sendable {
  /// Lines for one transaction: each commit writes every page of the token index that it touched, see
  /// `Device.register`.
  package static let size = 20_000

  private var lines: [DeviceImport.Line] = []

  /// An empty batch.
  package init() {}

  /// Whether there is nothing to register.
  package var isEmpty: Bool { lines.isEmpty }
  /// Whether it is time to register.
  package var isFull: Bool { lines.count >= Self.size }

  /// Adds a line.
  package mutating func add(_ line: DeviceImport.Line) { lines.append(line) }

  /// Gives the lines so far away, and begins anew.
  package mutating func take() -> DeviceImportBatch {
    defer { self = DeviceImportBatch() }
    return self
  }

  /// What became of a batch.
  package struct Outcome: Sendable {
    /// New devices.
    package var added = 0
    /// Known devices.
    package var updated = 0
    /// Lines that were left out.
    package var rejected: [RejectedLine] = []
  }

  /// Registers the devices. Runs of lines of the same app go together, so that their order stays.
  ///
  /// - Parameter actor: who does it, for the timeline.
  package func register(_ database: Database, by actor: String, now: Date) throws -> Outcome {
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
      let problems = line.device.problems(rule: app.aliasRule.flatMap(AliasRule.init) ?? .none)
      if !problems.isEmpty {
        outcome.rejected.append(RejectedLine(line: line.number, problems: problems))
      } else if groups.last?.app.id == app.id {
        groups[groups.count - 1].lines.append(line)
      } else {
        groups.append((app, [line]))
      }
    }
    for group in groups {
      let results = try Device.register(
        database, app: group.app.id, group.lines.map(\.device.registration), by: actor, now: now)
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
