import Certificates
import Foundation
import JSON
import Model
import SQLite
import Store
import Synchronization
import TestSupport
import OpenSSL
import Reactor
import Testing

@Suite("Watched hosts: rules")
struct HostRuleTests {
  @Test(
    "what people paste is understood",
    arguments: [
      ("example.com", "example.com:443", "tls"), ("example.com:8443", "example.com:8443", "tls"),
      ("https://Example.COM./path?q=1#x", "example.com:443", "tls"),
      ("https://u:p@example.com:444/", "example.com:444", "tls"),
      ("smtp://mail.example.com", "mail.example.com:25", "smtp"),
      ("mail.example.com:587", "mail.example.com:587", "smtp"),
      ("smtps://mail.example.com", "mail.example.com:465", "tls"), ("imap://m.example", "m.example:143", "imap"),
      ("imaps://m.example", "m.example:993", "tls"), ("pop3://m.example", "m.example:110", "pop3"),
      ("postgres://u@db.example/name", "db.example:5432", "postgres"), (" [::1]:444 ", "[::1]:444", "tls"),
      ("2001:db8::1", "[2001:db8::1]:443", "tls"), ("192.0.2.1:25", "192.0.2.1:25", "smtp"),
      ("_srv.example.com", "_srv.example.com:443", "tls"), ("localhost", "localhost:443", "tls"),
    ])
  func addresses(text: String, expected: String, start: String) throws {
    let address = try HostAddress(parsing: text)
    #expect("\(address)" == expected && address.startProtocol.rawValue == start)
    #expect(address.serverName == address.host)
  }

  @Test(
    "what is no address is refused at its field",
    arguments: [
      ("", "host.missing"), ("https://", "host.missing"), ("http://example.com", "host.scheme"),
      ("a b", "host.name"), ("-a.example", "host.name"), ("a..b", "host.name"), ("例子.cn", "host.not_ascii"),
      ("example.com:0", "host.port"), ("example.com:99999", "host.port"), ("example.com:x", "host.port"),
      (String(repeating: "a", count: 64) + ".example", "host.name"), ("a:b:c", "host.name"),
      ("<script>", "host.name"), ("a\u{0}b", "host.name"),
    ])
  func refusals(text: String, code: String) {
    let problems = #expect(throws: Problems.self) { try HostAddress(parsing: text) }
    #expect(problems?.all.map(\.code) == [code] && problems?.all.map(\.field) == ["host"])
  }

  @Test("what was chosen beside the text counts more than the text")
  func choices() throws {
    let chosen = try HostAddress(
      parsing: "mail.example.com:587", startProtocol: .tls, serverName: "Other.example", port: 2000)
    #expect(chosen == HostAddress(host: "mail.example.com", port: 2000, serverName: "other.example"))
    #expect(try HostAddress(parsing: "mail.example.com", startProtocol: .smtp).port == 25)
    let bad = #expect(throws: Problems.self) { try HostAddress(parsing: "a", serverName: "b c", port: 0) }
    #expect(bad?.all.map(\.field) == ["port", "server_name"])
  }

  // MARK: Rows

  private func withStore(_ body: (Store) async throws -> Void) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: SealingKey(), now: noon)
    defer { store.close() }
    try await body(store)
  }

  private static func sighting(
    _ sha256: String = "AA", days: Double = 90, issuerDays: Double? = nil, trust: String = "trusted",
    nameMatches: Bool = true, names: [String] = ["a.example", "*.a.example"], begins: Double = -10,
    issuer: String = "Issuer"
  ) -> HostSighting {
    var chain = [HostSighting.Link(subject: "a.example", sha256: sha256, notAfter: noon + days * day)]
    if let issuerDays {
      chain.append(HostSighting.Link(subject: issuer, sha256: "BB", notAfter: noon + issuerDays * day))
    }
    return HostSighting(
      address: "192.0.2.1:443", tlsVersion: "TLSv1.3", subject: "CN=a.example", issuer: "CN=Issuer", serial: "01",
      sha256: sha256, names: names, notBefore: noon + begins * day, chain: chain, trust: trust,
      nameMatches: nameMatches)
  }

  private func watched(_ database: Database, _ name: String = "a.example") throws -> WatchedHost {
    try WatchedHost.add(database, HostAddress(host: name, port: 443), by: "anna", now: noon)
  }

  @Test("a sighting comes back whole; changes of the certificate and failures are remembered")
  func history() async throws {
    try await withStore { store in
      try await store.write { database in
        let host = try watched(database)
        func note(_ outcome: HostOutcome, _ minutes: Double) throws {
          try WatchedHost.note(database, id: host.id, at: host.address, outcome, now: noon + minutes * 60)
        }
        try note(.success(Self.sighting()), 1)
        let seen = try WatchedHost.get(database, id: host.id)
        #expect(seen.seen == Self.sighting() && seen.failingSince == nil && seen.answeredAt == noon + 60)
        try note(.success(Self.sighting()), 2)
        try note(.failure(HostFailure(.refused, detail: "x")), 3)
        try note(.failure(HostFailure(.refused, detail: "y")), 4)
        try note(.failure(HostFailure(.timeout)), 5)
        let failing = try WatchedHost.get(database, id: host.id)
        #expect(failing.failingSince == noon + 180 && failing.failure?.code == .timeout)
        #expect(failing.seen == Self.sighting(), "the last known certificate stays")
        try note(.success(Self.sighting("CC", days: 400)), 6)
        #expect(
          try HostEvent.list(database, host: host.id).map(\.kind)
            == [.certificate, .answered, .failed, .failed, .certificate])
        #expect(try HostEvent.list(database, host: host.id).first?.notAfter == noon + 400 * day)
        #expect(throws: StoreError.self) { try watched(database) }
        // A probe of the address that it had before is not kept.
        let moved = try WatchedHost.update(
          database, id: host.id, HostAddress(host: "b.example", port: 443), note: "moved")
        #expect(moved.seen == nil && moved.note == "moved")
        try note(.success(Self.sighting()), 7)
        #expect(try WatchedHost.get(database, id: host.id).seen == nil)
        #expect(try WatchedHost.delete(database, id: host.id))
        #expect(try database.int("SELECT count(*) FROM host_events") == 0)
      }
    }
  }

  @Test("a host joins the report; one that shows nothing is told, and its last known end still counts")
  func report() async throws {
    try await withStore { store in
      try await store.write { database in
        let host = try watched(database)
        #expect(try CertificateTracker.report(database, now: noon).exitCode == 3, "not looked at yet")
        try WatchedHost.note(database, id: host.id, at: host.address, .success(Self.sighting()), now: noon)
        let fine = try CertificateTracker.report(database, now: noon)
        #expect(fine.exitCode == 0 && fine.findings.map(\.item.key) == ["hosts/\(host.id)"])
        #expect(fine.findings.first?.item.kind == .host && fine.findings.first?.daysLeft == 90)
        #expect(try CertificateTracker.report(database, now: noon + 4 * day).exitCode == 3, "nobody looks any more")
        try WatchedHost.note(
          database, id: host.id, at: host.address, .failure(HostFailure(.refused, detail: "x")), now: noon + 83 * day)
        let blind = try CertificateTracker.report(database, now: noon + 83 * day)
        #expect(blind.unreadable.map(\.key) == ["hosts/\(host.id)"])
        #expect(blind.exitCode == 2, "seven days are left by what is known")
        #expect(try CertificateTracker.report(database, now: noon + 80 * day).exitCode == 3)
      }
    }
  }

  @Test("findings: what is grave stands first")
  func findings() async throws {
    try await withStore { store in
      try await store.write { database in
        let host = try watched(database)
        func codes(_ sighting: HostSighting) throws -> [String] {
          try WatchedHost.note(database, id: host.id, at: host.address, .success(sighting), now: noon)
          let all = HostFinding.all(try WatchedHost.get(database, id: host.id), now: noon)
          for finding in all { #expect(!finding.problem.text.contains("{")) }
          return all.map { $0.problem.code.replacing("host.finding.", with: "") }
        }
        #expect(try codes(Self.sighting()) == [])
        #expect(try codes(Self.sighting(days: -1)) == ["expired"])
        #expect(try codes(Self.sighting(begins: 1)) == ["not_yet_valid"])
        #expect(try codes(Self.sighting(issuerDays: 20)) == ["issuer_ends_first"])
        #expect(try codes(Self.sighting(issuerDays: -20)) == ["expired"])
        #expect(try codes(Self.sighting(days: -1, issuerDays: -20)) == ["expired", "expired"])
        #expect(try codes(Self.sighting(days: -1, issuerDays: -1, issuer: "a.example")) == ["expired"], "said once")
        #expect(try codes(Self.sighting(trust: "self_signed", nameMatches: false)) == ["wrong_name", "self_signed"])
        #expect(try codes(Self.sighting(nameMatches: false, names: [])) == ["no_names"])
        #expect(try codes(Self.sighting(trust: "incomplete")) == ["incomplete"])
        #expect(try codes(Self.sighting(trust: "unknown_authority")) == ["unknown_authority"])
        #expect(try codes(Self.sighting(trust: "novel")) == ["invalid_chain"])
        let late = HostFinding.all(try WatchedHost.get(database, id: host.id), now: noon + 4 * day)
        #expect(late.first?.problem.code == "host.stale")
      }
    }
  }

  // MARK: When

  @Test("a host is looked at when it is new, every six hours about, sooner when it fails, and not all at once")
  func schedule() async throws {
    try await withStore { store in
      try await store.write { database in
        let hosts = try (1...40).map { try watched(database, "h\($0).example") }
        #expect(HostSchedule.due(hosts, now: noon).count == 40)
        for host in hosts {
          try WatchedHost.note(database, id: host.id, at: host.address, .success(Self.sighting()), now: noon)
        }
        let seen = try WatchedHost.all(database)
        func due(_ hours: Double) -> Int { HostSchedule.due(seen, now: noon + hours * 3600).count }
        #expect(due(0) == 0 && due(5.3) == 0 && due(6.7) == 40)
        #expect((5...35).contains(due(6)), "they are spread: \(due(6))")
        #expect(HostSchedule.due(seen, now: noon - day).count == 40, "a clock that was set back")
        let first = try #require(seen.first)
        try WatchedHost.note(
          database, id: first.id, at: first.address, .failure(HostFailure(.refused)), now: noon)
        let failing = try WatchedHost.get(database, id: first.id)
        #expect(HostSchedule.due([failing], now: noon + 3000).isEmpty)
        #expect(HostSchedule.due([failing], now: noon + 4000).count == 1)
        #expect(HostSchedule.olderThan(3600, seen, now: noon + 3600).isEmpty)
        #expect(HostSchedule.olderThan(3600, seen, now: noon + 3601).count == 40)
      }
    }
  }

  @Test("the watch looks at all that are due, not more than eight at a time, and stops when it is told")
  func watch() async throws {
    try await withStore { store in
      try await store.write { database in for number in 1...30 { _ = try watched(database, "h\(number).example") } }
      let atWork = Mutex((now: 0, most: 0))
      let watch = HostWatch(store, clock: { noon + 60 }) { address in
        atWork.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        await Task.yield()
        atWork.withLock { $0.now -= 1 }
        return address.host == "h7.example" ? .failure(HostFailure(.timeout)) : .success(Self.sighting(address.host))
      }
      let rounds = Mutex(0)
      await watch.run(
        pause: {
          if rounds.withLock({
            $0 += 1; return $0 == 2
          }) {
            throw CancellationError()
          }
        }, report: { Issue.record($0) })
      let hosts = try await store.read { try WatchedHost.all($0) }
      #expect(hosts.allSatisfy { $0.probedAt == noon + 60 } && hosts.count == 30)
      #expect(hosts.filter { $0.failure != nil }.map(\.address.host) == ["h7.example"])
      #expect(atWork.withLock { $0.most } <= 8)
      #expect(try await watch.look(at: hosts[0].id).seen != nil)
      await #expect(throws: StoreError.self) { try await watch.look(at: 999) }
    }
  }

  @Test("the watch asks the database nothing until somebody commits, and looks at a host whose time has come")
  func quiet() async throws {
    try await withStore { store in
      try await store.write { database in _ = try watched(database) }
      let now = Mutex(noon)
      let looks = Mutex<[Date]>([])
      let watch = HostWatch(store, clock: { now.withLock { $0 } }) { address in
        let date = now.withLock { $0 }
        looks.withLock { $0.append(date) }
        return .success(Self.sighting(address.host))
      }
      // As of the end of each round.
      let reads = Mutex<[Int]>([])
      await watch.run(
        pause: {
          let count = store.times.all[.database(isWrite: false)]?.counts.reduce(0, +) ?? 0
          let round = reads.withLock { all in
            all.append(count)
            return all.count
          }
          if round == 10 { now.withLock { $0 += 7 * 3600 } }
          if round == 20 { throw CancellationError() }
        }, report: { Issue.record($0) })
      let all = reads.withLock { $0 }
      // After the commits of the two looks, in the second round and in the twelfth.
      #expect(all.indices.dropFirst().filter { all[$0] != all[$0 - 1] } == [1, 11], "\(all)")
      #expect(looks.withLock { $0 } == [noon, noon + 7 * 3600])
    }
  }

  @Test("a check that the end of the program prevents is no failure of the host")
  func stopped() async throws {
    try await withStore { store in
      let host = try await store.write { try watched($0, "a.example") }
      let pool = BlockingPool(name: "test", threads: 1)
      pool.stop()
      let probe = try HostProbe(trust: try HostCertificates().trust)
      let watch = HostWatch(store, clock: { noon }, look: HostWatch.look(probe, on: pool))
      await #expect(throws: CancellationError.self) { try await watch.look(at: host.id) }
      await #expect(throws: CancellationError.self) { try await watch.look(at: HostSchedule.due) }
      let after = try await store.read { try WatchedHost.get($0, id: host.id) }
      #expect(after.failure == nil && after.probedAt == nil)
    }
  }
}
