package import Foundation
package import JSON
package import Model
package import SQLite

package enum SmokeRunState: String, Sendable, CaseIterable {
  case running
  /// Every device got the answer that is expected.
  case passed
  case failed
}

/// Why a run failed, apart from its devices.
package enum SmokeRunError: String, Sendable, CaseIterable {
  /// The server stopped before the run had ended.
  case interrupted
  /// The push was refused, or given up as a whole.
  case notSent = "not_sent"
  /// Somebody canceled the push.
  case canceled
  /// Some devices had no outcome in time.
  case timedOut = "timed_out"
  /// The push reached no device.
  case nobody
}

/// One run of a smoke test.
package struct SmokeRun: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let testID: Int64
  package let state: SmokeRunState
  package let error: SmokeRunError?
  /// What was wrong with the push, in English.
  package let detail: String?
  /// As the test was when it ran.
  package let expected: SmokeExpectation
  package let push: Int64?
  /// The push's public ID; nil: it was refused.
  package let pushUID: String?
  /// How many were compared.
  package let devices: Int
  package let differences: [SmokeDifference]
  package let source: PushSource
  package let startedBy: String
  package let startedAt: Date
  package let endedAt: Date?

  /// Seconds in which every device must have an outcome.
  package static let patience: TimeInterval = 600
  /// Runs that are kept for each test.
  package static let kept = 500
  /// Seconds for a receipt to travel.
  private static let receiptSlack: TimeInterval = 2

  private static let columns = """
    r.id, r.test_id, r.state, r.error, r.detail, r.expected, r.push_id, p.uid, r.devices, r.differences, r.source,
    r.started_by, r.started_at, r.ended_at
    """
  private static let from = "smoke_runs r LEFT JOIN pushes p ON p.id = r.push_id"

  private init(_ row: borrowing Row) throws {
    (id, testID, state) = (row.int64(0), row.int64(1), try row.value(2, as: SmokeRunState.self))
    error = row.optionalText(3).flatMap(SmokeRunError.init)
    detail = row.optionalText(4)
    expected = try SmokeTest.expectation(row.text(5))
    (push, pushUID, devices) = (row.optionalInt64(6), row.optionalText(7), row.int(8))
    differences = (try JSONValue(parsing: Array(row.text(9).utf8)).array ?? []).compactMap(SmokeDifference.init)
    source = try row.value(10, as: PushSource.self)
    (startedBy, startedAt, endedAt) = (row.text(11), row.date(12), row.optionalDate(13))
  }

  package static func find(_ database: Database, id: Int64) throws -> SmokeRun? {
    try database.fetchOne("SELECT \(columns) FROM \(from) WHERE r.id = ?", id) { try SmokeRun($0) }
  }

  package static let noun = "run"

  /// A page of a test's runs, newest first.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, test: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<SmokeRun> {
    let found = try database.fetchAll(
      "SELECT \(columns) FROM \(from) WHERE r.test_id = ? AND r.id < ? ORDER BY r.id DESC LIMIT ?", test,
      try position(cursor) ?? .max, limit + 1
    ) { try SmokeRun($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// The row IDs of runs that have not ended.
  package static func running(_ database: Database) throws -> [Int64] {
    try database.fetchAll("SELECT id FROM smoke_runs INDEXED BY smoke_runs_going WHERE state = 'running'") {
      $0.int64(0)
    }
  }

  /// The time in which ``endIfDone(_:id:isOver:now:)`` ends no run.
  package static func quietTime(_ database: Database) throws -> QuietTime {
    try QuietTime(until: running(database).map { try get(database, id: $0).due(database) })
  }

  /// When the run ends if nothing changes until then.
  private func due(_ database: Database) throws -> Date {
    guard let push = try self.push.flatMap({ try Push.find(database, id: $0) }) else { return .distantPast }
    guard push.hasEveryOutcome else { return startedAt.addingTimeInterval(Self.patience) }
    guard push.state == .finished, let seconds = expected.displayedWithin,
      try expected.waits(for: answers(database, push))
    else { return .distantPast }
    return (push.finishedAt ?? startedAt).addingTimeInterval(Double(seconds) + Self.receiptSlack)
  }

  // MARK: Running

  /// Begins a run, in the transaction that stores its push.
  ///
  /// - Parameters:
  ///   - push: nil: the push was refused, as `detail` says; the run has failed.
  package static func start(
    _ database: Database, _ test: SmokeTest, push: Push?, detail: String? = nil, source: PushSource,
    by entry: NewAuditEntry, now: Date
  ) throws -> SmokeRun {
    try database.run(
      """
      INSERT INTO smoke_runs(test_id, state, error, detail, expected, push_id, devices, differences, source, started_by,
        started_at, ended_at)
      VALUES (?, ?, ?, ?, ?, ?, 0, '[]', ?, ?, ?, ?)
      """, test.id, push == nil ? SmokeRunState.failed.rawValue : SmokeRunState.running.rawValue,
      push == nil ? SmokeRunError.notSent.rawValue : nil, detail, test.expected.json.text(), push?.id, source.rawValue,
      entry.actor, now, push == nil ? now : nil)
    let id = database.lastInsertedID
    try database.run(
      """
      DELETE FROM smoke_runs WHERE test_id = ?1 AND id <=
        (SELECT id FROM smoke_runs WHERE test_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
      """, test.id, kept)
    try test.note(database, "smoke_test.run", entry, now: now)
    return try get(database, id: id)
  }

  /// Ends all runs that the process before this one left.
  ///
  /// - Returns: how many.
  @discardableResult
  package static func interrupt(_ database: Database, now: Date) throws -> Int {
    try database.run(
      "UPDATE smoke_runs SET state = 'failed', error = 'interrupted', ended_at = ? WHERE state = 'running'", now)
  }

  /// Ends a run once its push has ended and nothing more is awaited. Idempotent: whoever looks first ends it.
  ///
  /// - Parameter isOver: whether the caller waits no longer.
  /// - Returns: the run as it is now.
  /// - Throws: `StoreError.notFound`.
  package static func endIfDone(_ database: Database, id: Int64, isOver: Bool = false, now: Date) throws -> SmokeRun {
    let run = try get(database, id: id)
    guard run.state == .running, try isOver || run.due(database) <= now else { return run }
    guard let push = try run.push.flatMap({ try Push.find(database, id: $0) }) else {
      return try run.end(database, .notSent, now: now)
    }
    guard push.hasEveryOutcome else { return try run.end(database, .timedOut, now: now) }
    switch push.state {
    case .cancelled: return try run.end(database, .canceled, now: now)
    case .failed: return try run.end(database, .notSent, detail: push.error, now: now)
    case .needsApproval, .queued, .sending, .paused, .finished: break
    }
    let answers = try run.answers(database, push)
    return try run.end(
      database, answers.isEmpty ? .nobody : nil, devices: answers.count,
      run.expected.differences(in: answers, isOver: true), now: now)
  }

  private func end(
    _ database: Database, _ error: SmokeRunError?, detail: String? = nil, devices: Int = 0,
    _ differences: [SmokeDifference] = [], now: Date
  ) throws -> SmokeRun {
    let state: SmokeRunState = error == nil && differences.isEmpty ? .passed : .failed
    try database.run(
      """
      UPDATE smoke_runs SET state = ?, error = ?, detail = ?, devices = ?, differences = ?, ended_at = ? WHERE id = ?
      """, state.rawValue, error?.rawValue, detail, devices,
      String(decoding: JSONWriter.bytes(of: differences), as: UTF8.self), now, id)
    return try Self.get(database, id: id)
  }

  /// What each device of the push got, and each device that is named but was not sent to.
  private func answers(_ database: Database, _ push: Push) throws -> [SmokeAnswer] {
    // One more than a test may reach: the audience can grow between counting and sending.
    let sent = try Delivery.list(database, push: push.id, limit: SmokeExpectation.reachLimit + 1).items
    var answers = sent.map { one in
      SmokeAnswer(
        device: one.delivery.deviceID, name: one.device?.smokeName ?? "\(one.delivery.deviceID)",
        keys: one.device?.smokeKeys ?? [], outcome: one.delivery.outcome, reason: one.delivery.reason,
        displayedAfter: one.receipt?.displayedAt.map { $0.timeIntervalSince(one.delivery.at) })
    }
    for named in expected.devices where !answers.contains(where: { $0.keys.contains(named.device) }) {
      let device = try Device.find(database, app: push.appID, named: named.device)
      answers.append(
        SmokeAnswer(
          device: device?.id, name: device?.smokeName ?? named.device, keys: [named.device], outcome: nil,
          stateReason: device?.state == .active ? nil : device?.stateReason))
    }
    return answers
  }
}

extension Push {
  fileprivate var hasEveryOutcome: Bool { state.isOver && waiting == 0 && !isSettling }
}

extension Device {
  /// The names by which a smoke test may know a device.
  package var smokeKeys: [String] { [token.text] + (registrationID.map { [$0] } ?? []) }

  fileprivate var smokeName: String { name ?? registrationID ?? String(token.text.prefix(16)) }

  fileprivate static func find(_ database: Database, app: Int64, named name: String) throws -> Device? {
    if let device = try find(database, app: app, registrationID: name) { return device }
    // A text that is not a token names no device.
    guard let token = try? DeviceToken(parsing: name, platforms: Set(Platform.allCases)) else { return nil }
    return try find(database, app: app, token: token)
  }
}

/// A smoke test as the API and the command line show it, with its last run.
package struct SmokeTestAnswer: Sendable, JSONObject {
  package let test: SmokeTest
  /// Bundle ID.
  package let app: String
  package let last: SmokeRun?

  package init(_ database: Database, _ test: SmokeTest) throws {
    self.test = test
    app = try App.get(database, id: test.appID).bundleID
    last = try SmokeRun.list(database, test: test.id, limit: 1).items.first
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", test.id)
    json.member("name", test.name)
    json.member("app", app)
    json.member("push", test.draft?.json ?? [:])
    json.member("expected", test.expected.json)
    json.member("created_by", test.createdBy)
    json.member("created_at", test.createdAt)
    json.member("changed_at", test.changedAt)
    json.member("last_run", last)
  }
}

extension SmokeRun: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("smoke_test", testID)
    json.member("state", state.rawValue)
    json.member("error", error?.rawValue)
    json.member("detail", detail)
    json.member("push", pushUID)
    json.member("devices", devices)
    json.array("differences", differences) { json, difference in difference.write(to: &json) }
    json.member("source", source.rawValue)
    json.member("started_by", startedBy)
    json.member("started_at", startedAt)
    json.member("finished_at", endedAt)
  }

  /// The run as a test case of JUnit, in English.
  ///
  /// - Parameters:
  ///   - test: the smoke test's name.
  ///   - app: bundle ID.
  package func junit(_ test: String, app: String) -> JUnitReport.Case {
    JUnitReport.Case(
      name: test, group: app, time: (endedAt ?? startedAt).timeIntervalSince(startedAt), failure: failure,
      detail: differences.map(\.sentence).joined(separator: "\n"))
  }

  /// What failed, in English, for the command line and JUnit; nil: it passed or is running.
  package var failure: String? {
    guard state == .failed else { return nil }
    switch error {
    case .interrupted: return "The server stopped before the run had ended."
    case .notSent: return detail ?? "The push was not sent."
    case .canceled: return "Someone canceled the push."
    case .timedOut: return "Some devices had no outcome in time."
    case .nobody: return "The push reached no device."
    case nil: return "\(differences.count) of \(devices) devices got another answer than expected."
    }
  }
}
