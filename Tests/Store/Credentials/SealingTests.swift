import Foundation
import OpenSSL
import SQLite
import Testing

@testable import Store

@Suite("Sealed values and the key that they are sealed with")
struct SealingTests {
  @Test("every sealed column of the schema is in the list: a change of the key leaves none behind")
  func complete() throws {
    try withDatabase { database in
      let found = try database.fetchAll(
        """
        SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND c.type = 'BLOB' AND c.name LIKE 'sealed%'
        """
      ) { SealedColumn($0.text(0), $0.text(1)) }
      #expect(Set(found) == Set(SealedColumn.all))
      #expect(found.count >= 3)
      for column in SealedColumn.all {
        let ids = try database.int(
          "SELECT count(*) FROM pragma_table_info(?) WHERE name = 'id' AND pk = 1", column.table)
        #expect(ids == 1, "\(column.table) has no row id")
      }
    }
  }

  private func add(_ database: Database, _ sealer: any Sealer, _ secret: String = "secret") throws -> Int64 {
    try TrackedCertificate.add(
      database, .init(kind: "apns_key", name: "key", fileName: "x"), material: Array(secret.utf8), sealer: sealer,
      by: "test", now: noon
    ).id
  }

  @Test("everything is re-sealed, and opens only with the new key")
  func reseal() throws {
    try withDatabase { database in
      let (old, new) = (SealingKey(), SealingKey())
      let id = try add(database, old)
      let candidate = try CertificateCandidate.add(
        database, certificate: id, content: Array("file".utf8), sealer: old, by: "test", now: noon)
      let request = try SigningRequest.add(
        database,
        .init(purpose: .push, subject: "CN=x", algorithm: .rsa2048, publicKeySHA256: "ab", pem: "PEM"),
        key: Array("key".utf8), sealer: old, by: "test", now: noon)
      let result = try Sealing.reseal(database, from: old, to: new, now: noon)
      #expect(result.count == 3 && result.closed.isEmpty)
      #expect(try TrackedCertificate.material(database, id: id, sealer: new) == Array("secret".utf8))
      let found = try CertificateCandidate.find(database, uid: candidate.uid, sealer: new, now: noon)
      #expect(found?.content == Array("file".utf8))
      let awaited = try SigningRequest.awaited(database, publicKeySHA256: "ab", sealer: new)
      #expect(awaited?.key == Array("key".utf8) && awaited?.request == request)
      #expect(try Sealing.state(database, new) == .fits)
      #expect(try Sealing.state(database, old) == .other(database: new.identifier))
      for table in ["certificates", "certificate_candidates", "certificate_requests"] {
        #expect(try Sealing.closed(database, in: table, old).count == 1)
      }
    }
  }

  @Test("what the old key does not open is left as it is, and named")
  func damaged() throws {
    try withDatabase { database in
      let (old, new) = (SealingKey(), SealingKey())
      let (good, bad) = (try add(database, old), try add(database, old))
      try database.run("UPDATE certificates SET sealed = x'0102' WHERE id = ?", bad)
      #expect(try Sealing.state(database, old) == .fits, "one damaged row is no other key")
      #expect(try Sealing.closed(database, in: "certificates", old) == [bad])
      let result = try Sealing.reseal(database, from: old, to: new, now: noon)
      #expect(result.count == 1 && result.closed == [Sealing.Closed(table: "certificates", id: bad)])
      #expect(try TrackedCertificate.material(database, id: good, sealer: new) == Array("secret".utf8))
      #expect(try Sealing.closed(database, in: "certificates", new) == [bad])
    }
  }

  @Test("a second key in one database is refused, and so is none; a new beginning allows it")
  func mismatch() throws {
    try withDatabase { database in
      let (old, new) = (SealingKey(), SealingKey())
      let id = try add(database, old)
      #expect(throws: SealingMismatch.other) { try database.transaction { try add(database, new) } }
      let ring = KeyRing(nil, path: "/x/secret.key") { new }
      #expect(try Sealing.state(database, ring) == .missing)
      #expect(throws: SealingMismatch.missing) { try database.transaction { try add(database, ring) } }
      #expect(throws: SealingMismatch.missing) { try TrackedCertificate.material(database, id: id, sealer: ring) }
      try ring.makeIfMissing()
      #expect(try Sealing.state(database, ring) == .other(database: old.identifier))
      try Sealing.beginAnew(database, ring, now: noon)
      let second = try add(database, ring, "second")
      #expect(try TrackedCertificate.material(database, id: second, sealer: ring) == Array("second".utf8))
      #expect(try Sealing.closed(database, in: "certificates", ring) == [id])
      try TrackedCertificate.refill(database, id: id, material: Array("again".utf8), sealer: ring, now: noon)
      #expect(try Sealing.closed(database, in: "certificates", ring).isEmpty)
      #expect(try TrackedCertificate.material(database, id: id, sealer: ring) == Array("again".utf8))
    }
  }

  @Test("a database in which nothing is sealed takes any key, and records the first")
  func first() throws {
    try withDatabase { database in
      let (key, other) = (SealingKey(), SealingKey())
      #expect(try Sealing.state(database, other) == .fits)
      let first = try Sealing.recordKey(database, key, now: noon)
      #expect(first == .fits)
      #expect(try Sealing.identifier(database) == key.identifier)
      #expect(try Sealing.recordKey(database, other, now: noon) == .other(database: key.identifier))
    }
  }

  @Test("a key ring opens a value once, and again when it is another one; what does not open stays closed")
  func opensOnce() throws {
    try withDatabase { database in
      let key = SealingKey()
      func ring() -> KeyRing { KeyRing(key, path: "/x") { key } }
      let one = ring()
      let ids = [try add(database, one), try add(database, one, "other")]
      #expect(try Sealing.closed(database, in: "certificates", one).isEmpty)
      // The last byte proves a value unchanged: whoever opens it would notice.
      try database.run(
        "UPDATE certificates SET sealed = CAST(substr(sealed, 1, length(sealed) - 1) || x'00ff' AS BLOB) WHERE id = ?",
        ids[0])
      #expect(try Sealing.closed(database, in: "certificates", one).isEmpty, "it is not opened again")
      #expect(try Sealing.closed(database, in: "certificates", ring()) == [ids[0]])
      #expect(try Sealing.isClosed(database, in: "certificates", id: ids[0], one))
      // A value of another row, and one of another key, are other values.
      try database.run("UPDATE certificates SET sealed = (SELECT sealed FROM certificates WHERE id = ?)", ids[1])
      for _ in 0..<2 { #expect(try Sealing.closed(database, in: "certificates", one) == [ids[0]]) }
      let foreign = try SealingKey().seal(Array("x".utf8), associatedData: Array("certificates/\(ids[1])".utf8)) as Data
      try database.run("UPDATE certificates SET sealed = ? WHERE id = ?", foreign, ids[1])
      #expect(try Sealing.closed(database, in: "certificates", one) == Set(ids))
      let lost = KeyRing(nil, path: "/x") { key }
      #expect(try Sealing.closed(database, in: "certificates", lost) == Set(ids))
    }
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Four bytes of the key in a row, however they are written.
  private func leaks(_ text: String, _ bytes: [UInt8]) -> Bool {
    let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { UInt8($0) }
    let letters = text.lowercased()
    for start in 0...(bytes.count - 4) {
      let window = Array(bytes[start..<start + 4])
      for at in numbers.indices.dropLast(3) where Array(numbers[at..<at + 4]) == window { return true }
      if letters.contains(hexadecimal(window)) { return true }
    }
    // Three bytes are four letters, wherever they begin.
    for shift in 0..<3 {
      let plain = Data(bytes[shift..<shift + 24]).base64EncodedString()
      for part in [plain, plain.replacing("+", with: "-").replacing("/", with: "_")]
      where text.contains(part.dropFirst(4).prefix(8)) { return true }
    }
    return false
  }

  @Test("nothing says anything of the key: neither descriptions, nor errors, nor a debugger's view")
  func quiet() throws {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: 201 &+ $0 &* 37) }
    let key = try #require(SealingKey(bytes: bytes))
    // It would be noticed.
    for text in ["\(bytes)", hexadecimal(bytes), "key=" + Base64URL.encode(bytes)] {
      #expect(leaks(text, bytes), "\(text)")
    }
    let ring = KeyRing(key, path: "/x") { key }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }  // a left-over file fails no test
    let text = Data((Base64URL.encode(bytes) + "x\n").utf8)
    #expect(FileManager.default.createFile(atPath: file, contents: text, attributes: [.posixPermissions: 0o600]))
    let damaged = #expect(throws: SealingKeyFileError.self) { try SealingKey.load(path: file) }
    let closed = #expect(throws: SealingError.self) {
      let sealed: Data = try SealingKey().seal(Data([1]), associatedData: Data())
      _ = try key.open(sealed, associatedData: Data())
    }
    let subjects: [Any] = [
      key, ring, [key], Optional(key) as Any, ["key": key], SealingMismatch.missing, SealingMismatch.other,
      damaged as Any, closed as Any,
    ]
    for subject in subjects {
      var dumped = ""
      dump(subject, to: &dumped)
      for text in [dumped, "\(subject)", String(reflecting: subject)] { #expect(!leaks(text, bytes), "\(text)") }
    }
    #expect(ring.keyIdentifier == key.identifier && !key.identifier.isEmpty)
    #expect("\(key)".contains(key.identifier) && "\(SealingMismatch.missing)".contains("rotate-key"))
  }
}
