import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import SQLite
import Store
import TestSupport
import Testing

@Suite("Certificate tracker")
struct CertificateTrackerTests {
  private let now = Date(timeIntervalSince1970: 1_795_176_000)

  private func withStore(_ body: (Store, String) throws -> Void) throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let path = folder.path + "/test.sqlite"
    let store = try Store.openNew(path: path, sealer: SealingKey(), now: now)
    defer { store.close() }
    try body(store, path)
  }

  /// A push certificate with its key, as a .p12 with the password `secret`.
  private func p12(until notAfter: Date) throws -> Data {
    let authority = try CertificateAuthority(
      subject: [.init(oid: "2.5.4.3", value: "Test CA")], notBefore: now.addingTimeInterval(-1e6),
      notAfter: now.addingTimeInterval(1e9))
    let blueprint = CertificateBlueprint.applePush(
      topic: "com.example.shop", team: "TEAM123456", notBefore: now.addingTimeInterval(-1000),
      notAfter: notAfter)
    let (certificate, key) = try authority.issue(blueprint)
    return try PKCS12.create(certificate: certificate, key: key, password: "secret")
  }

  private func keep(_ store: Store, _ data: Data, _ labels: CertificateTracker.Labels) throws -> TrackedCertificate {
    let file = try CertificateFile.inspect(data: data, fileName: labels.fileName, password: "secret")
    return try store.writeSync { database in
      try CertificateTracker.keep(database, file, labels, sealer: store.sealer, by: "anna", now: now)
    }
  }

  @Test("a certificate that was kept without its key gets it; nothing is kept twice, and what was noted stays")
  func completed() throws {
    try withStore { store, _ in
      let p12 = try p12(until: now.addingTimeInterval(86_400 * 90))
      let whole = try CertificateFile.inspect(data: p12, password: "secret")
      let cer = try CertificateFile.inspect(data: try #require(whole.certificate).der)
      func keep(_ file: CertificateFile, _ name: String, note: String? = nil) throws -> TrackedCertificate {
        try store.writeSync { database in
          try CertificateTracker.keep(
            database, file, .init(fileName: name, note: note), sealer: store.sealer, by: "anna", now: now)
        }
      }
      let first = try keep(cer, "push.cer", note: "from the portal")
      #expect(!first.details.hasPrivateKey)
      let second = try keep(whole, "push.p12")
      #expect(second.id == first.id && second.details.hasPrivateKey && second.details.fileName == "push.cer")
      try store.readSync { database in
        #expect(try TrackedCertificate.all(database).count == 1)
        let material = try TrackedCertificate.material(database, id: first.id, sealer: store.sealer)
        #expect(try PrivateKey(pem: String(decoding: material, as: UTF8.self)).matches(try #require(whole.certificate)))
        let facts = try CertificateContents.find(database, certificate: first.id)
        #expect(facts?.notes.note == "from the portal" && facts?.says["has_private_key"] == true)
      }
      for again in [whole, cer] {
        let refused = #expect(throws: Problems.self) { try keep(again, "again.p12") }
        #expect(refused?.all.map(\.code) == ["certificate.duplicate"])
      }
    }
  }

  @Test("a key that does not open is as good as none; a database that fails keeps nothing without its key")
  func keyFinder() throws {
    try withStore { store, _ in
      let order = SigningOrder.push(topic: "com.example.shop", app: nil)
      let made = try SigningRequest.make(order)
      let kept = try store.writeSync { try SigningRequest.keep($0, made, sealer: store.sealer, by: "anna", now: now) }
      let authority = try CertificateAuthority(
        subject: [.commonName("CA")], notBefore: now - 1000, notAfter: now + 86_400 * 90)
      let block = try #require(try PEMBlock.all(in: Data(kept.details.pem.utf8)).first)
      let publicKey = try #require(CertificateRequest(der: block.content)?.publicKey)
      let certificate = try authority.issue(
        .applePush(topic: "com.example.shop", team: "TEAM123456", notBefore: now - 1000, notAfter: now + 86_400 * 60),
        for: publicKey)
      let file = try CertificateFile.inspect(data: certificate.der)
      func isFound(_ sealer: any Sealer) throws -> Bool {
        try store.readSync { try KeyFinder.joined($0, file, sealer: sealer).file.privateKey != nil }
      }
      #expect(try isFound(store.sealer))
      #expect(try !isFound(SealingKey()), "another key file")
      #expect(try !isFound(KeyRing(nil, path: "none") { throw SealingMismatch.missing }), "no key file")
      #expect(throws: SQLiteError.self) {
        try store.writeSync { database in
          try database.run("ALTER TABLE certificate_requests RENAME TO broken")
          _ = try KeyFinder.joined(database, file, sealer: store.sealer)
        }
      }
    }
  }

  @Test("a file whose key is found here still says why its certificate was chosen")
  func joined() throws {
    let key = try PrivateKey.generateP256()
    let authority = try CertificateAuthority(
      subject: [.commonName("CA")], notBefore: now - 1000, notAfter: now + 86_400 * 90)
    let both = try [30.0, 60].map { days in
      try authority.issue(
        .applePush(topic: "com.example.shop", team: "TEAM123456", notBefore: now - 1000, notAfter: now + 86_400 * days),
        for: key.publicKey)
    }
    let file = try CertificateFile.inspect(data: Data(both.map(\.pem).joined().utf8))
    #expect(file.choice == .endsLast && !file.hasPrivateKey)
    let joined = file.joined(with: key)
    #expect(joined.choice == .endsLast && joined.hasPrivateKey)
  }

  @Test("when an issuer in a host's chain ends first, the line names it, and says whose the serial number is")
  func issuerEndsFirst() {
    let item = TrackedExpiry(
      key: "hosts/1", name: "mail.example.com:443", kind: .host, serial: "0A",
      notAfter: now.addingTimeInterval(5 * 86_400),
      endingIssuer: "CN=R3, O=CA")
    let lines = ExpiryReport([item], now: now).lines()
    #expect(lines.count == 1 && lines[0].hasPrefix("URGENT   mail.example.com:443: 5 days left, until"), "\(lines)")
    #expect(lines[0].hasSuffix("when “CN=R3, O=CA” in its chain expires, before its own certificate (serial 0A)"))
    #expect(JSONValue(written: item)["ending_issuer"] == "CN=R3, O=CA")
  }

  @Test("exactly 30 days left warns, 30 days and one second does not", arguments: [(0.0, Int32(1)), (1.0, Int32(0))])
  func boundary(extra: Double, code: Int32) throws {
    try withStore { store, _ in
      _ = try keep(store, try p12(until: now.addingTimeInterval(30 * 86_400 + extra)), .init(fileName: "push.p12"))
      let report = try store.readSync { try CertificateTracker.report($0, now: now) }
      #expect(report.exitCode == code)
      #expect(report.findings.first?.daysLeft == 30)
    }
  }

  @Test("a private key comes back from its seal, and stands nowhere readable in the file")
  func sealed() throws {
    try withStore { store, path in
      let kept = try keep(store, try p12(until: now.addingTimeInterval(86_400 * 365)), .init(fileName: "push.p12"))
      #expect(kept.details.hasPrivateKey)
      let material = try store.readSync { try TrackedCertificate.material($0, id: kept.id, sealer: store.sealer) }
      let pem = String(decoding: material, as: UTF8.self)
      #expect(try PrivateKey(pem: pem).matches(try Certificate(pem: try #require(kept.details.publicPEM))))
      let secret = try #require(pem.split(separator: "\n").dropFirst().first)
      for suffix in ["", "-wal"] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
        #expect(bytes.range(of: Data(secret.utf8)) == nil)
        #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil)
      }
    }
  }

  @Test("the same file twice is refused, and named")
  func duplicate() throws {
    try withStore { store, _ in
      let data = try p12(until: now.addingTimeInterval(86_400))
      _ = try keep(store, data, .init(fileName: "push.p12"))
      let problems = #expect(throws: Problems.self) { _ = try keep(store, data, .init(fileName: "again.p12")) }
      #expect(problems?.all.map(\.code) == ["certificate.duplicate"])
      #expect(try store.readSync { try TrackedCertificate.all($0).count } == 1)
    }
  }

  @Test("a .p8 needs its key id and team id; with them it never expires")
  func key() throws {
    try withStore { store, _ in
      let pem = Data(try PrivateKey.generateP256().pkcs8PEM.utf8)
      let problems = #expect(throws: Problems.self) { _ = try keep(store, pem, .init(fileName: "key.p8")) }
      #expect(problems?.all.map(\.field) == ["key_id", "team_id"])
      let kept = try keep(store, pem, .init(fileName: "AuthKey_ABCDE12345.p8", teamID: " TEAM123456 "))
      #expect(kept.details.keyID == "ABCDE12345" && kept.details.teamID == "TEAM123456")
      let report = try store.readSync { try CertificateTracker.report($0, now: now) }
      #expect(report.exitCode == 0 && report.findings.first?.band == .neverExpires)
    }
  }

  @Test("a row that cannot be understood is not passed over")
  func unreadable() throws {
    try withStore { store, _ in
      _ = try keep(store, try p12(until: now.addingTimeInterval(86_400 * 365)), .init(fileName: "push.p12"))
      try store.writeSync { _ = try $0.run("UPDATE certificates SET kind = 'novel'") }
      let report = try store.readSync { try CertificateTracker.report($0, now: now) }
      #expect(report.exitCode == 3 && report.unreadable.count == 1)
    }
  }

  @Test("a report of some things says of them what the whole report says")
  func some() throws {
    try withStore { store, _ in
      for days in [3.0, 40, 400] {
        _ = try keep(store, try p12(until: now + days * 86_400), .init(fileName: "\(days).p12"))
      }
      try store.writeSync { database in
        for name in ["a.example.com", "b.example.com"] {
          let host = try WatchedHost.add(database, HostAddress(host: name, port: 443), by: "anna", now: now)
          try database.run("UPDATE watched_hosts SET sha256 = 'AB', not_after = ? WHERE id = ?", now + 864_000, host.id)
        }
      }
      let whole = try store.readSync { try CertificateTracker.report($0, now: now) }
      #expect(whole.findings.count == 5)
      let keys: Set = ["certificates/1", "certificates/3", "hosts/2"]
      // Neither what is gone nor what is no key is found.
      let asked = keys.union(["certificates/99", "hosts/99", "apps/1", "certificates/x", "certificates"])
      let some = try store.readSync { try CertificateTracker.report($0, of: asked, now: now) }
      #expect(some.findings == whole.findings.filter { keys.contains($0.item.key ?? "") })
      #expect(some.findings.count == 3)
      let none = try store.readSync { try CertificateTracker.report($0, of: [], now: now) }
      #expect(none.findings.isEmpty)
    }
  }
}
