import Foundation
import JSON
import Model
import SQLite
import Store
import Testing

@Suite struct PeopleTests {
  private let hour: TimeInterval = 3600

  @Test("a name belongs to one person, in any case")
  func users() throws {
    try withDatabase { database in
      #expect(try User.activeCount(database) == 0)
      let anna = try User.add(database, name: "Anna", role: .admin, now: noon)
      #expect(anna.passwordHash == nil)
      #expect(try User.activeCount(database) == 0)
      try User.setPassword(database, id: anna.id, hash: "$scrypt$…")
      #expect(try User.activeCount(database) == 1)
      #expect(try User.activeCount(database, role: .viewer) == 0)
      #expect(try User.find(database, name: "aNNA")?.id == anna.id)
      #expect(throws: StoreError.taken(noun: "user", field: "name")) {
        try User.add(database, name: "ANNA", role: .viewer, now: noon)
      }
      let changed = try User.update(database, id: anna.id, role: .operator, language: "zh-Hans")
      #expect(changed.role == .operator)
      #expect(changed.language == "zh-Hans")
      #expect(throws: StoreError.notFound(noun: "user", id: "9")) {
        try User.setPassword(database, id: 9, hash: "x")
      }
      #expect(try User.delete(database, id: anna.id))
      #expect(try User.all(database) == [])
    }
  }

  @Test("a session ends when idle, when old, and with its person")
  func sessions() throws {
    try withDatabase { database in
      let anna = try User.add(database, name: "anna", role: .admin, passwordHash: "h", now: noon)
      func open(_ id: UInt8, at: Date = noon) throws {
        try Session.open(
          database, idHash: [id], user: anna.id, csrf: "c\(id)", lifetime: 24 * hour, address: "::1",
          userAgent: "Firefox", now: at)
      }
      func user(_ id: UInt8, at: Date) throws -> String? {
        try Session.find(database, idHash: [id], idle: hour, now: at)?.user.name
      }
      try open(1)
      let found = try #require(try Session.find(database, idHash: [1], idle: hour, now: noon + 3599))
      #expect(found.session.csrf == "c1")
      #expect(found.session.userAgent == "Firefox")
      #expect(found.user.id == anna.id && found.user.signedInAt == noon)
      #expect(try user(1, at: noon + hour) == nil)
      #expect(try user(2, at: noon) == nil)
      for step in 1..<30 { try Session.touch(database, idHash: [1], now: noon + Double(step) * hour) }
      #expect(try user(1, at: noon + 23.5 * hour) == "anna")
      #expect(try user(1, at: noon + 24 * hour) == nil)
      try open(2)
      try open(3)
      #expect(try Session.all(database, user: anna.id).count == 3)
      try User.setPassword(database, id: anna.id, hash: "new", keepingSession: [3])
      #expect(try Session.all(database, user: anna.id).map(\.idHash) == [[3]])
      try User.rehash(database, id: anna.id, from: "new", to: "newer")
      try User.rehash(database, id: anna.id, from: "new", to: "lost: it was changed meanwhile")
      #expect(try User.get(database, id: anna.id).passwordHash == "newer")
      #expect(try Session.all(database, user: anna.id).count == 1, "the same password: nobody is sent away")
      try User.setDisabled(database, id: anna.id, true, now: noon)
      #expect(try user(3, at: noon) == nil)
      #expect(try User.activeCount(database) == 0)
      try User.setDisabled(database, id: anna.id, false, now: noon)
      try open(4)
      #expect(try user(4, at: noon) == "anna")
      try Session.end(database, idHash: [4])
      #expect(try user(4, at: noon) == nil)
      try open(5)
      try open(6, at: noon + 2 * hour)
      #expect(try Session.deleteEnded(database, idle: hour, now: noon + 2 * hour) == 1)
      #expect(try Session.all(database, user: anna.id).map(\.idHash) == [[6]])
    }
  }

  @Test("a sign-in link works once, in time, and the newest alone")
  func links() throws {
    try withDatabase { database in
      let add = { (hash: UInt8) in
        try SignInLink.add(database, hash: [hash], purpose: .firstStart, user: nil, lifetime: 600, now: noon)
      }
      try add(1)
      try add(2)
      #expect(try SignInLink.use(database, hash: [1], now: noon) == nil)
      #expect(try SignInLink.find(database, hash: [2], now: noon + 599)?.purpose == .firstStart)
      #expect(try SignInLink.use(database, hash: [2], now: noon + 600) == nil)
      #expect(try SignInLink.use(database, hash: [2], now: noon + 599)?.userID == nil)
      #expect(try SignInLink.use(database, hash: [2], now: noon + 599) == nil)
      #expect(try SignInLink.find(database, hash: [2], now: noon) == nil)
    }
  }

  @Test("the link of the first start is void once an administrator can sign in")
  func firstStartLink() throws {
    try withDatabase { database in
      try SignInLink.add(database, hash: [1], purpose: .firstStart, user: nil, lifetime: 600, now: noon)
      let anna = try User.add(database, name: "anna", role: .admin, now: noon)
      #expect(try SignInLink.find(database, hash: [1], now: noon) != nil, "an invited one cannot sign in yet")
      try User.setPassword(database, id: anna.id, hash: "x")
      #expect(try SignInLink.find(database, hash: [1], now: noon) == nil)
      #expect(try SignInLink.use(database, hash: [1], now: noon) == nil)
    }
  }

  @Test("a new password, or disabling, ends the person's links only")
  func linksEnd() throws {
    try withDatabase { database in
      let people = try ["anna", "ben"].map { try User.add(database, name: $0, role: .viewer, now: noon) }
      func links() throws -> [[UInt8]] {
        try (0..<3).map { [$0] }.filter { try SignInLink.find(database, hash: $0, now: noon) != nil }
      }
      func add() throws {
        try SignInLink.add(
          database, hash: [0], purpose: .reset, user: people[0].id, lifetime: 600, now: noon)
      }
      try add()
      try SignInLink.add(database, hash: [1], purpose: .reset, user: people[1].id, lifetime: 600, now: noon)
      try SignInLink.add(database, hash: [2], purpose: .firstStart, user: nil, lifetime: 600, now: noon)
      try User.setPassword(database, id: people[0].id, hash: "x")
      #expect(try links() == [[1], [2]])
      try add()
      try User.setDisabled(database, id: people[0].id, true, now: noon)
      try User.setDisabled(database, id: people[0].id, false, now: noon)
      #expect(try links() == [[1], [2]])
    }
  }

  @Test("a known browser is known for the people who signed in with it, for half a year, in limited number")
  func knownDevices() throws {
    try withDatabase { database in
      let (anna, ben) = (
        try User.add(database, name: "anna", role: .viewer, now: noon),
        try User.add(database, name: "ben", role: .viewer, now: noon)
      )
      func isKnown(_ hash: UInt8, _ user: User, at: Date = noon) throws -> Bool {
        try KnownDevice.isKnown(database, hash: [hash], user: user.id, now: at)
      }
      try KnownDevice.note(database, hash: [1], former: nil, user: anna.id, now: noon)
      #expect(try isKnown(1, anna) && !isKnown(1, ben) && !isKnown(2, anna))
      try KnownDevice.note(database, hash: [2], former: [1], user: ben.id, now: noon + 1)
      #expect(try isKnown(2, anna) && isKnown(2, ben) && !isKnown(1, anna))
      #expect(try isKnown(2, anna, at: noon + KnownDevice.lifetime - 1))
      #expect(try !isKnown(2, anna, at: noon + KnownDevice.lifetime))
      for number in 0..<20 {
        try KnownDevice.note(database, hash: [UInt8(100 + number)], former: nil, user: anna.id, now: noon + 2)
      }
      #expect(try !isKnown(2, anna) && isKnown(100, anna) && isKnown(2, ben))
      try User.delete(database, id: ben.id)
      #expect(try !isKnown(2, ben))
    }
  }

  @Test("taking an attempt back restores the previous state")
  func takenBack() throws {
    try withDatabase { database in
      let anna = SignInFailures.Subject.account("anna")
      func count() throws -> Int { try database.int("SELECT count(*) FROM sign_in_failures") }
      try SignInFailures.add(database, anna, window: 300, now: noon)
      try SignInFailures.takeBack(database, anna, attemptedAt: noon, lastAt: nil)
      #expect(try count() == 0)
      try SignInFailures.add(database, anna, window: 300, now: noon)
      try SignInFailures.add(database, anna, window: 300, now: noon + 5)
      try SignInFailures.takeBack(database, anna, attemptedAt: noon + 5, lastAt: noon)
      let left = try SignInFailures.find(database, anna, window: 300, now: noon + 6)
      #expect(left.count == 1 && left.lastAt == noon)
      try SignInFailures.add(database, anna, window: 300, now: noon + 7)
      try SignInFailures.add(database, anna, window: 300, now: noon + 9)
      try SignInFailures.takeBack(database, anna, attemptedAt: noon + 7, lastAt: noon)
      #expect(try SignInFailures.find(database, anna, window: 300, now: noon + 9).lastAt == noon + 9)
      try SignInFailures.clear(database, anna)
      try SignInFailures.takeBack(database, anna, attemptedAt: noon + 9, lastAt: noon)
      #expect(try count() == 0)
    }
  }

  @Test("failures are counted per account and per address, and forgotten after a pause")
  func throttle() throws {
    try withDatabase { database in
      let account = SignInFailures.Subject.account("Anna")
      for second in 0..<5 {
        try SignInFailures.add(database, account, window: 300, now: noon + Double(second))
      }
      let failures = try SignInFailures.find(database, .account("anna"), window: 300, now: noon + 10)
      #expect(failures.count == 5)
      #expect(failures.firstAt == noon)
      #expect(failures.lastAt == noon + 4)
      #expect(try SignInFailures.find(database, .address("anna"), window: 300, now: noon + 10).count == 0)
      #expect(try SignInFailures.find(database, account, window: 300, now: noon + 304).count == 0)
      #expect(try SignInFailures.add(database, account, window: 300, now: noon + 304).count == 1)
      try SignInFailures.clear(database, account)
      #expect(try SignInFailures.find(database, account, window: 300, now: noon + 304).lastAt == nil)
    }
  }

  @Test("a token is found by its hash until it ends or is revoked")
  func tokens() throws {
    try withDatabase { database in
      let anna = try User.add(database, name: "anna", role: .admin, now: noon)
      let token = try APIToken.add(
        database, name: "ci", hash: [1], scopes: ["pushes:write"], user: anna.id, expiresAt: noon + 60, now: noon)
      let lasting = try APIToken.add(database, name: "cron", hash: [2], scopes: [], user: nil, now: noon)
      #expect(try APIToken.find(database, hash: [1], now: noon + 59) == token)
      #expect(try APIToken.find(database, hash: [1], now: noon + 60) == nil)
      #expect(try APIToken.find(database, hash: [3], now: noon) == nil)
      #expect(token.words == ["pushes:write"])
      try APIToken.touch(database, id: lasting.id, now: noon)
      try APIToken.touch(database, id: lasting.id, now: noon + 59)
      #expect(try APIToken.find(database, id: lasting.id)?.lastUsedAt == noon)
      try APIToken.touch(database, id: lasting.id, now: noon + 61)
      #expect(try APIToken.find(database, id: lasting.id)?.lastUsedAt == noon + 61)
      #expect(try APIToken.revoke(database, id: lasting.id, now: noon))
      #expect(try !APIToken.revoke(database, id: lasting.id, now: noon))
      #expect(try APIToken.find(database, hash: [2], now: noon) == nil)
      try User.setDisabled(database, id: anna.id, true, now: noon)
      #expect(try APIToken.find(database, hash: [1], now: noon) == nil)
      #expect(try APIToken.all(database).map(\.name) == ["cron", "ci"])
    }
  }

  @Test("the audit takes lines, and lets none be changed or removed")
  func audit() throws {
    try withDatabase { database in
      for number in 0..<7 {
        try AuditEntry.add(
          database,
          NewAuditEntry(
            actor: number.isMultiple(of: 2) ? "anna" : "token ci", action: "device.update", subject: "device \(number)",
            detail: ["name": "x"], address: "::1"), now: noon + Double(number))
      }
      for sql in ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit WHERE id = 1", "DELETE FROM audit"] {
        do {
          try database.execute(sql)
          Issue.record("went through: \(sql)")
        } catch let error as SQLiteError {
          #expect(error.extendedCode.rawValue == 1811)  // SQLITE_CONSTRAINT_TRIGGER
          #expect(error.message == "the audit is append-only")
        }
      }
      let page = try AuditEntry.list(database, .init(actor: "anna"), limit: 3)
      #expect(page.items.map(\.entry.subject) == ["device 6", "device 4", "device 2"])
      #expect(page.items[0].entry.detail == ["name": "x"])
      #expect(try AuditEntry.list(database, .init(actor: "anna"), cursor: page.next, limit: 3).items.count == 1)
      #expect(try AuditEntry.list(database, .init(subject: "device 3"), limit: 3).items.map(\.at) == [noon + 3])
      #expect(try AuditEntry.list(database, .init(from: noon + 2, before: noon + 4), limit: 9).items.count == 2)
      #expect(try AuditEntry.list(database, .init(action: "none"), limit: 9).items == [])
    }
  }

  @Test("a page of an export looks at a few entries only, and the pages together have all that match")
  func exportedAudit() throws {
    try withDatabase { database in
      for number in 0..<7 {
        try AuditEntry.add(
          database, NewAuditEntry(actor: "anna", action: "device.update", subject: "device \(number)"), now: noon)
      }
      func pages(_ filter: AuditEntry.Filter, limit: Int) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
          let page = try AuditEntry.exported(database, filter, cursor: cursor, limit: limit, span: 3)
          pages.append(page.items.map(\.entry.subject))
          cursor = page.next
        } while cursor != nil && pages.count < 20
        return pages
      }
      #expect(try pages(.init(search: "DEVICE 0"), limit: 9) == [[], [], ["device 0"]])
      #expect(
        try pages(.init(), limit: 2).flatMap { $0 } == (0..<7).reversed().map { "device \($0)" })
      #expect(try pages(.init(action: "none"), limit: 9) == [[], [], []])
    }
    try withDatabase { database in
      let page = try AuditEntry.exported(database, .init(), cursor: nil, limit: 9)
      #expect(page.items == [] && page.next == nil)
    }
  }

  @Test("a key answers the same request with the same answer, another request not, and ends after a day")
  func idempotency() throws {
    try withDatabase { (database: Database) throws -> Void in
      func request(
        _ actor: String = "a", key: String? = "k", _ route: String = "POST /x", _ content: [UInt8] = [1],
        at: Date = noon
      ) -> Idempotency { Idempotency(actor: actor, key: key, route: route, content: content, now: at) }
      var times = 0
      func once(_ request: Idempotency) throws -> [UInt8] {
        let (answer, _) = try request.once(database) {
          times += 1
          return (Idempotency.Answer(status: 201, body: [UInt8(times)], location: "/x/\(times)"), ())
        }
        return answer.body
      }
      #expect(try request().known(database) == nil)
      for _ in 0..<2 { #expect(try once(request()) == [1]) }
      #expect(try request().known(database) == Idempotency.Answer(status: 201, body: [1], location: "/x/1"))
      #expect(throws: Idempotency.Mismatch.self) { try once(request("a", key: "k", "POST /y")) }
      #expect(throws: Idempotency.Mismatch.self) { try once(request("a", key: "k", "POST /x", [2])) }
      #expect(try once(request("b")) == [2], "another client's key")
      #expect(try once(request(at: noon + 86_399)) == [1])
      #expect(try once(request(at: noon + 86_400)) == [3])
      for answer: [UInt8] in [[4], [5]] {
        #expect(try once(request(key: nil)) == answer, "without a key nothing is kept")
      }
    }
  }

  @Test("a setting is set, changed, and taken away")
  func settings() throws {
    try withDatabase { database in
      try Setting.set(database, "mail.from", "a@example.com")
      try Setting.set(database, "mail.from", "b@example.com")
      #expect(try Setting.find(database, "mail.from") == "b@example.com")
      #expect(try Setting.find(database, "mail.from") == "b@example.com")
      try Setting.set(database, "mail.from", nil)
      #expect(try Setting.find(database, "mail.from") == nil)
    }
  }

  @Test("phones are kept with what they received, and removed with it")
  func phones() throws {
    try withDatabase { database in
      func phone(_ id: Int64, _ environment: Environment) -> Phone {
        Phone(
          id: id, name: "Phone \(id)", platform: .ios, bundleID: "com.example.shop", environment: environment,
          token: token(Int(id)), state: ["app": "background"])
      }
      func note(_ id: Int64, of phone: Int64) -> PhoneNotification {
        PhoneNotification(
          id: id, phoneID: phone, at: noon, apnsID: "id-\(id)", headers: ["apns-priority": "10"],
          payload: Array("{}".utf8))
      }
      var first = phone(7, .development)
      let second = phone(9, .production)
      for phone in [first, second] { try phone.save(database, now: noon) }
      for note in [note(1, of: 7), note(2, of: 9), note(3, of: 7)] { try note.save(database) }
      #expect(try Phone.all(database) == [first, second])
      #expect(try PhoneNotification.all(database)[7]?.map(\.id) == [3, 1])

      first.name = "New"
      first.token = token(8)
      first.state = ["app": "not_running"]
      try first.save(database, now: noon)
      var tapped = note(3, of: 7)
      tapped.headers = ["tapped": true]
      try tapped.save(database)
      #expect(try Phone.all(database) == [first, second])
      #expect(try PhoneNotification.all(database)[7]?.first == tapped)

      try PhoneNotification.delete(database, ids: [1, 99])
      #expect(try PhoneNotification.all(database)[7]?.map(\.id) == [3])
      #expect(try Phone.delete(database, id: 7))
      #expect(try !Phone.delete(database, id: 7))
      #expect(try PhoneNotification.all(database).mapValues { $0.map(\.id) } == [9: [2]])
    }
  }
}
