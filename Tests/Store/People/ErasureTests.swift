import Foundation
import JSON
import OpenSSL
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite("Deleted secrets are nowhere in the file")
struct ErasureTests {
  private static let sealer = SealingKey()

  /// A database in a folder of its own, and what was sealed in it at any time.
  private func withFile(_ body: (DatabasePool, String) throws -> Void) throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let pool = try DatabasePool(path: folder + "/test.sqlite", readers: 1)
    defer { pool.close() }
    try pool.migrate(Schema.migrator, at: noon.milliseconds)
    try body(pool, folder + "/test.sqlite")
  }

  /// How many of the texts stand in the file or its log: the middle of each, which no other has.
  private func found(_ texts: [[UInt8]], _ path: String) throws -> Int {
    let files = try ["", "-wal"].map { suffix in
      FileManager.default.fileExists(atPath: path + suffix)
        ? try Data(contentsOf: URL(fileURLWithPath: path + suffix)) : Data()
    }
    return texts.count { text in
      let middle = Data(text[(text.count / 2 - 12)..<(text.count / 2 + 12)])
      return files.contains { $0.range(of: middle) != nil }
    }
  }

  /// Everything that is sealed now.
  private func sealed(_ database: Database) throws -> [[UInt8]] {
    try SealedColumn.all.flatMap { column in
      try database.fetchAll("SELECT \(column.column) FROM \(column.table)") { $0.blob(0) }
    }
    .filter { $0.count > 40 }
  }

  /// Secrets of every kind: short ones that share a page, and long ones with pages of their own.
  private func fill(_ database: Database) throws {
    for number in 0..<30 {
      let length = number % 3 == 0 ? 9000 : 1700
      try TrackedCertificate.add(
        database, .init(kind: "apns_key", name: "key \(number)", fileName: "x"),
        material: [UInt8](repeating: UInt8(number), count: length), sealer: Self.sealer, by: "test", now: noon)
      _ = try Receiver.add(
        database, .init(channel: .slack, name: "r\(number)", target: "x"),
        .init(address: "https://example.com/\(number)", secret: "s"), sealer: Self.sealer, by: "test", now: noon)
      _ = try SigningRequest.add(
        database, .init(purpose: .host, subject: "CN=x", algorithm: .p256, publicKeySHA256: "\(number)", pem: "x"),
        key: [UInt8](repeating: 1, count: 1800), sealer: Self.sealer, by: "test", now: noon)
      _ = try CertificateCandidate.add(
        database, certificate: Int64(number + 1), content: [UInt8](repeating: 2, count: 20_000), sealer: Self.sealer,
        by: "test", now: noon)
    }
    try MailPassword.set(database, "a password of some length, twice", sealer: Self.sealer, now: noon)
  }

  @Test("removed, replaced or used up: no byte of it is left in the file or its log")
  func removed() throws {
    try withFile { pool, path in
      try pool.writeSync { try fill($0) }
      let old = try pool.readSync { try sealed($0) }
      try pool.checkpoint(waiting: true)
      #expect(old.count == 121)
      #expect(try found(old, path) == 121, "the test sees what is there")
      try pool.writeSync { database in
        for id in 1...30 {
          if id % 2 == 0 {
            try TrackedCertificate.delete(database, id: Int64(id))
            try Receiver.delete(database, id: Int64(id))
          } else {
            try TrackedCertificate.refill(
              database, id: Int64(id), material: [UInt8](repeating: 9, count: 500 * id), sealer: Self.sealer, now: noon)
            let receiver = try Receiver.get(database, id: Int64(id))
            try Receiver.update(
              database, id: receiver.id, receiver.details, .init(address: "https://example.com/new"),
              sealer: Self.sealer, now: noon)
          }
        }
        for request in try SigningRequest.all(database) {
          try SigningRequest.fulfil(database, id: request.id, by: 1, sealer: Self.sealer, now: noon)
        }
        try CertificateCandidate.sweep(database, now: noon + CertificateCandidate.lifetime)
        try MailPassword.set(database, nil, sealer: Self.sealer, now: noon)
      }
      try pool.checkpoint(waiting: true)
      #expect(try found(old, path) == 0)
      #expect(try found(try pool.readSync { try sealed($0) }, path) == 30, "what is kept is still there")
    }
  }

  @Test("re-sealed with another key: the old bytes are gone, also where a row grew or moved")
  func resealed() throws {
    try withFile { pool, path in
      try pool.writeSync { try fill($0) }
      let old = try pool.readSync { try sealed($0) }
      let new = SealingKey()
      let count = try pool.writeSync { try Sealing.reseal($0, from: Self.sealer, to: new, now: noon).count }
      #expect(count == 121)
      try pool.checkpoint(waiting: true)
      #expect(try found(old, path) == 0)
    }
  }

  @Test("rewriting the file removes what a former version left in free pages")
  func vacuumed() throws {
    try withFile { pool, path in
      let old = try pool.writeSync { database in
        try fill(database)
        return try sealed(database)
      }
      try pool.writeSync { database in
        try database.script("PRAGMA secure_delete = OFF")
        try database.script("DELETE FROM certificate_candidates; DELETE FROM receivers; DELETE FROM certificates")
      }
      try pool.checkpoint(waiting: true)
      #expect(try found(old, path) > 31, "it was left")
      try pool.vacuum()
      #expect(try found(old, path) == 31, "requests and the password are kept")
      #expect(try pool.readSync { try $0.int("PRAGMA freelist_count") } == 0)
    }
  }

  @Test("the log is emptied when there are no readers, and blocks no one otherwise")
  func log() async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let pool = try DatabasePool(path: folder + "/test.sqlite", readers: 1)
    defer { pool.close() }
    try pool.migrate(Schema.migrator, at: noon.milliseconds)
    func logSize() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: folder + "/test.sqlite-wal")[.size] as? Int ?? -1
    }
    let other = try Database(path: folder + "/test.sqlite", mode: .reader)
    try other.script("BEGIN")
    _ = try other.int("SELECT count(*) FROM apps")
    _ = try await pool.write { try App.add($0, bundleID: "com.example.a", name: "A", now: noon) }
    // A busy machine may make one try slow. Whoever waits for the reader is slow at each: 5 seconds.
    let clock = ContinuousClock()
    var quickest = Duration.seconds(60)
    for _ in 0..<10 where quickest >= .seconds(3) {
      let start = clock.now
      #expect(try await pool.emptyLogIfIdle().isPartial)
      quickest = min(quickest, clock.now - start)
    }
    #expect(quickest < .seconds(3), "it waited for the reader")
    #expect(try logSize() > 0)
    try other.script("COMMIT")
    other.close()
    #expect(try await !pool.emptyLogIfIdle().isPartial)
    #expect(try logSize() == 0)
    #expect(try pool.writeSync { try $0.int("PRAGMA busy_timeout") } == 5000, "others are waited for again")
    #expect(try pool.writeSync { try $0.int("PRAGMA secure_delete") } == 1)
  }
}
