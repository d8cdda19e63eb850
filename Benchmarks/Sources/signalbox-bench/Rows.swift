import Foundation
import Glibc
import Model
import SQLite
import Store

/// A database with very many deliveries, made in bulk in the schema as it is: rows first, then the indexes, as a
/// migration of that size would do it. Nothing of it is synced: what is lost is made again.
struct RowsBuilder {
  let database: Database
  let rows: Int
  let devices: Int
  /// Pushes without deliveries, for the history.
  let pushes: Int

  /// A row of deliveries, of its indexes, and a page that is half empty: more than it ever was.
  static let bytesOfRow = 64
  static let bytesOfDevice = 260
  static let bytesOfPush = 900

  init(path: String, rows: Int, devices: Int, pushes: Int) throws {
    try Store.open(path: path, sealer: NoSealer(), now: Date()).close()
    database = try Database(path: path)
    (self.rows, self.devices, self.pushes) = (rows, devices, pushes)
    try database.script(
      "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -262144; PRAGMA temp_store = FILE")
  }

  /// Makes everything, and tells how long each part took.
  func build() throws {
    try timed("devices") { try makeDevices() }
    if rows > 0 {
      try timed("pushes") { try makePushes() }
      try withoutIndexes(of: "deliveries") { try timed("deliveries") { try makeDeliveries() } }
      try timed("counters") { try count() }
    }
    try database.script("PRAGMA journal_mode = WAL")
    database.close()
  }

  private func timed(_ name: String, _ body: () throws -> Void) rethrows {
    let start = ContinuousClock.now
    try body()
    print("  \(name): \(Int((ContinuousClock.now - start) / .milliseconds(1))) ms")
    fflush(nil)
  }

  /// Indexes are made when all rows are there: in one pass, and dense.
  private func withoutIndexes(of table: String, _ body: () throws -> Void) throws {
    let indexes = try database.fetchAll(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY name",
      table
    ) { ($0.text(0), $0.text(1)) }
    for index in indexes { try database.execute("DROP INDEX \(index.0)") }
    try body()
    for index in indexes { try timed("index \(index.0)") { try database.execute(index.1) } }
  }

  private func makeDevices() throws {
    let app =
      try App.find(database, bundleID: "com.example.app")
      ?? App.add(database, bundleID: "com.example.app", name: "Example", now: Date())
    let tags = try ["beta", "news"].map { name in
      try database.run("INSERT INTO tags(app_id, name) VALUES (?, ?)", app.id, name)
      return database.lastInsertedID
    }
    let now = Date()
    try withoutIndexes(of: "devices") {
      try withoutIndexes(of: "device_tags") {
        try database.transaction {
          try database.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
            INSERT INTO devices(id, app_id, environment, platform, state, token, alias, created_at, registered_at, seen_at)
            SELECT i, ?2, 2, 1, 1, randomblob(32), 'user-' || (i - 1), ?3, ?3, ?3 FROM n
            """, devices, app.id, now)
          for (tag, every) in zip(tags, [3, 5]) {
            try database.run(
              """
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + ?2 FROM n WHERE i + ?2 <= ?1)
              INSERT INTO device_tags(tag_id, device_id) SELECT ?3, i FROM n
              """, devices, every, tag)
          }
        }
      }
    }
    try database.script(
      """
      INSERT INTO device_counters SELECT 1, 2, 1, 1, 1, count(*) FROM devices;
      INSERT INTO tag_counters SELECT tag_id, 2, 1, 1, 1, count(*) FROM device_tags GROUP BY tag_id;
      """)
  }

  private func makePushes() throws {
    let now = Date()
    let step = 730 * 86_400.0 / Double(pushes)
    try database.transaction {
      for number in 0..<pushes {
        let at = now.addingTimeInterval(-Double(pushes - number) * step)
        var new = NewPush(
          uid: "psh_\(number)", seed: UInt64(number), appID: 1,
          environment: number % 7 == 0 ? .development : .production,
          draftJSON: #"{"app":"com.example.app","environment":"production","platforms":["ios"],"audience":"all","#
            + #""notification":{"title":"Order \#(number) is on its way","body":"It arrives tomorrow, between nine and "#
            + #"twelve. Open the app to choose another day."},"options":{"ttl":86400,"priority":10}}"#,
          source: number % 3 == 0 ? .web : .api, createdBy: "bench")
        new.title = "Order \(number) is on its way"
        new.body = "It arrives tomorrow, between nine and twelve. Open the app to choose another day."
        new.searchTerms = ["beta"]
        let push = try Push.create(database, new, now: at)
        _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: at)
        _ = try Push.move(database, id: push.id, from: [.sending], to: .finished, now: at)
      }
    }
  }

  /// How many devices the push of this number has: mostly everybody or a fifth, and the rest of the rows.
  private var sizes: [Int] {
    var sizes: [Int] = []
    var left = rows
    while left > 0 {
      let size = min(left, sizes.count % 2 == 0 ? devices : max(1, devices / 5))
      sizes.append(size)
      left -= size
    }
    return sizes
  }

  /// The pushes with deliveries, spread over all: the first id, and from one to the next.
  var broadcasts: [(push: Int64, size: Int)] {
    let sizes = sizes
    let stride = max(1, pushes / sizes.count)
    return sizes.enumerated().map { (Int64($0.offset * stride + 1), $0.element) }
  }

  private func makeDeliveries() throws {
    let words = ["BadDeviceToken", "Unregistered", "InternalServerError", "TooManyRequests"]
    for word in words { try database.run("INSERT INTO reasons(text) VALUES (?)", word) }
    for (number, item) in broadcasts.enumerated() {
      // The last but one: nearly nobody was reached, 14 of them for a rare reason; the others: three of a hundred not.
      let isDisaster = number == max(0, broadcasts.count - 2)
      let every = isDisaster ? 1 : 33
      _ = try database.transaction {
        try database.run(
          """
          WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
          INSERT INTO deliveries(push_id, device_id, outcome, status, reason_id, at, duration_ms, attempts)
          SELECT ?2, 1 + i * ?3,
            CASE WHEN i >= ?1 - 60 THEN 1 WHEN i % ?4 <> 0 THEN 1 WHEN i % 2 = 0 THEN 2 ELSE 3 END,
            CASE WHEN i >= ?1 - 60 THEN 200 WHEN i % ?4 <> 0 THEN 200 WHEN i % 2 = 0 THEN 400 ELSE 410 END,
            CASE WHEN i >= ?1 - 60 THEN NULL WHEN i % ?4 <> 0 THEN NULL
              WHEN ?5 AND i % 2 = 0 AND i % (?1 / 14 + 1) < 2 THEN 4 WHEN i % 2 = 0 THEN 1 ELSE 2 END,
            p.created_at + i / 100, 20 + i % 100, 1
          FROM n, pushes p WHERE p.id = ?2
          """, item.size, item.push, max(1, devices / item.size), every, isDisaster ? 1 : 0)
      }
    }
  }

  private func count() throws {
    try database.transaction {
      for item in broadcasts {
        try database.run(
          """
          INSERT INTO push_reasons SELECT push_id, 1, 1, outcome, ifnull(reason_id, 0), count(*) FROM deliveries
          WHERE push_id = ? GROUP BY outcome, reason_id
          """, item.push)
        try database.run(
          """
          UPDATE pushes SET target = ?2,
            accepted = (SELECT sum(count) FROM push_reasons WHERE push_id = ?1 AND outcome = 1),
            failed = coalesce((SELECT sum(count) FROM push_reasons WHERE push_id = ?1 AND outcome = 2), 0),
            dead_token = coalesce((SELECT sum(count) FROM push_reasons WHERE push_id = ?1 AND outcome = 3), 0)
          WHERE id = ?1
          """, item.push, item.size)
        _ = try database.run("INSERT INTO push_latencies VALUES (?, 4, ?)", item.push, item.size)
      }
    }
  }
}

/// Nothing secret is kept in a database that is made to be measured.
struct NoSealer: Sealer {
  func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] { bytes }
  func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] { bytes }
}
