import CSQLite
import Foundation
import Model
import TestSupport
import Testing

@testable import SQLite
@testable import Store

/// A sealer for tests: what it makes opens only at the place for which it was made.
struct TestSealer: Sealer {
  struct Refused: Error {}

  func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    [UInt8(associatedData.count)] + associatedData + bytes.map { $0 ^ 0x5a }
  }

  func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    guard bytes.first == UInt8(associatedData.count), bytes.dropFirst().starts(with: associatedData) else {
      throw Refused()
    }
    return bytes.dropFirst(1 + associatedData.count).map { $0 ^ 0x5a }
  }
}

/// A time to count from: 2026-11-20 12:00:00 UTC.
let noon = Date(milliseconds: 1_795_176_000_000)

/// The database in memory with today's schema.
func withDatabase(_ body: (Database) throws -> Void) throws {
  let database = try Database(path: ":memory:")
  defer { database.close() }
  try load(EmptyDatabase.bytes, into: database)
  try body(database)
}

/// Makes a database in memory a copy of a file, with the settings that it had
/// (https://www.sqlite.org/c3ref/deserialize.html).
private func load(_ file: Data, into database: Database) throws {
  let bytes = sqlite3_malloc64(UInt64(file.count)).assumingMemoryBound(to: UInt8.self)
  file.copyBytes(to: bytes, count: file.count)
  // A log needs a file: the two versions in the header say that there is none
  // (https://www.sqlite.org/fileformat.html §1.3.3).
  (bytes[18], bytes[19]) = (1, 1)
  let size = Int64(file.count)
  let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
  let code = try sqlite3_deserialize(database.connection(), "main", bytes, size, size, flags)
  try #require(code == SQLITE_OK)
  try database.script("PRAGMA cache_size = -65536; PRAGMA secure_delete = ON")
}

/// The same with one app.
func withApp(_ body: (Database, App) throws -> Void) throws {
  try withDatabase { database in
    try body(database, App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon))
  }
}

/// A token of 32 bytes that begins with the number.
func token(_ number: Int) -> DeviceToken {
  DeviceToken(
    bytes: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } + [UInt8](repeating: 7, count: 28))
}

func registration(
  _ number: Int, _ environment: Environment = .production, _ platform: Platform = .ios, alias: String? = nil,
  tags: [String] = [], registrationID: String? = nil
) -> Registration {
  var registration = Registration(token: token(number), environment: environment, platform: platform)
  if let alias { registration.alias = .set(alias) }
  if !tags.isEmpty { registration.tags = .set(tags) }
  if let registrationID { registration.registrationID = .set(registrationID) }
  return registration
}

/// Registers and returns the ids, in order.
@discardableResult
func register(
  _ database: Database, _ app: App, _ registrations: [Registration], now: Date = noon
) throws -> [Int64] {
  try Device.register(database, app: app.id, registrations, now: now).compactMap(\.deviceID)
}

func newPush(_ app: App, uid: String = "p1") -> NewPush {
  NewPush(
    uid: uid, seed: 0xfeed_face_cafe_beef, appID: app.id, environment: .production, draftJSON: #"{"app":"x"}"#,
    source: .web, createdBy: "anna")
}

extension DeviceCounters {
  /// How many counters differ from the rows that they count.
  static func faults(_ database: Database) throws -> Int {
    let devices = """
      SELECT app_id, environment, platform, coalesce(provider, platform), state, count(*) AS count
      FROM devices GROUP BY 1, 2, 3, 4, 5
      """
    let tags = """
      SELECT m.tag_id, d.environment, d.platform, coalesce(d.provider, d.platform), d.state, count(*) AS count
      FROM device_tags m JOIN devices d ON d.id = m.device_id GROUP BY 1, 2, 3, 4, 5
      """
    return try [("device_counters", "app_id", devices), ("tag_counters", "tag_id", tags)].reduce(0) { sum, table in
      let kept = "SELECT \(table.1), environment, platform, provider, state, count FROM \(table.0) WHERE count <> 0"
      return try sum
        + database.int("SELECT count(*) FROM (SELECT * FROM (\(kept)) EXCEPT SELECT * FROM (\(table.2)))")
        + database.int("SELECT count(*) FROM (SELECT * FROM (\(table.2)) EXCEPT SELECT * FROM (\(kept)))")
    }
  }
}

/// How SQLite means to run a query, one line a step.
func plan(_ database: Database, _ query: (sql: String, arguments: [SQLiteValue])) throws -> [String] {
  try database.fetchAll("EXPLAIN QUERY PLAN " + query.sql, arguments: query.arguments) { $0.text(3) }
}

/// The statements that `body` is the first to run, as SQLite lists them (https://www.sqlite.org/stmt.html).
func statements(_ database: Database, _ body: () throws -> Void) throws -> [String] {
  let list = "SELECT sql FROM sqlite_stmt"
  let before = Set(try database.fetchAll(list) { $0.text(0) })
  try body()
  return try database.fetchAll(list) { $0.text(0) }.filter { !before.contains($0) && $0 != list }
}

/// How SQLite means to run a statement, whatever is bound.
func plan(_ database: Database, of sql: String) throws -> [String] {
  let statement = try database.prepare("EXPLAIN QUERY PLAN " + sql)
  var steps: [String] = []
  while try statement.step() { steps.append(statement.row.text(3)) }
  return steps
}

/// Steps that would look at every row of a table, or sort or build a table of unknown size.
func slowSteps(_ plan: [String]) -> [String] {
  let bounded = plan.filter { $0.hasPrefix("CO-ROUTINE") }.map { "SCAN " + $0.dropFirst("CO-ROUTINE ".count) }
  return plan.filter { step in
    (step.hasPrefix("SCAN") && step != "SCAN m" && !bounded.contains(step) && !step.contains("SUBQUERY"))
      || step.hasPrefix("MATERIALIZE")
      || step.contains("AUTOMATIC")
  }
}
