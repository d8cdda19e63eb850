import Calendar
import Delivery
import Foundation
import JSON
import Model
import SQLite
import Store
import Synchronization
import Testing

/// The one door for a push. Two of a scene's three devices are without a tag, one has the tag `odd`.
@Suite("What comes in: PushIntake", .timeLimit(.minutes(1)))
struct PushIntakeTests {
  private static let strange = String(repeating: "ab", count: 32)

  private static func draft(
    _ audience: JSONValue, _ options: JSONValue = [:], repeats: Bool = false
  ) throws -> PushDraft {
    var json: [String: JSONValue] = [
      "app": "com.example.shop", "environment": "development", "platforms": ["ios"], "audience": audience,
      "notification": ["body": "hello"], "options": options,
    ]
    if repeats { json["repeat"] = ["every": "day", "at": "09:00", "time_zone": "UTC"] }
    return try PushDraft(json: .object(json))
  }

  private static func order(_ draft: PushDraft, _ source: PushSource = .api) -> PushIntake.Order {
    PushIntake.Order(draft, source: source, by: "anna", from: "192.0.2.1", now: noon)
  }

  private static func key(_ key: String?, _ draft: PushDraft, by actor: String = "token 1") -> Idempotency {
    Idempotency(
      actor: actor, key: key, route: "POST /api/v1/pushes", content: Array(draft.json.text().utf8), now: noon)
  }

  @Test("no ID looks like an option of a command line")
  func uid() async throws {
    try await EngineScene.run(devices: 0) { scene in
      let draft = try Self.draft("all")
      let uids = (0..<600).map { _ in NewPush(draft, app: scene.app, source: .api, by: "anna").uid }
      let wrong = uids.filter { $0.hasPrefix("-") || $0.utf8.count != NewPush.sampleID.utf8.count }
      #expect(wrong.isEmpty)
    }
  }

  /// What a table says of a store that nothing was kept in.
  private static func rows(_ scene: EngineScene) async throws -> [Int] {
    try await scene.store.read { database in
      try ["pushes", "schedules", "audit", "idempotency", "devices"].map {
        try database.int("SELECT count(*) FROM \($0)")
      }
    }
  }

  @Test(
    "what is refused is refused alike: at once, with a key, and as a dry run; then nothing is kept",
    arguments: [
      ("all", [:], []),
      (["tag": ["odd"]], [:], []),
      (["tag": ["none"]], [:], ["push.nobody", "lint.no_tag"]),
      (["tag": ["none"]], ["allow_empty_audience": true], []),
      (["tag_and": ["odd"], "alias": ["anna"]], [:], ["push.nobody", "lint.no_alias"]),
      (["device_token": [.string(strange)]], [:], []),
      ("all", ["push_type": "background"], ["lint.background_visible"]),
      (["tag": ["none"]], ["push_type": "background"], ["lint.background_visible"]),
      (
        ["tag": ["none"]], ["push_type": "background", "allow_empty_audience": true], ["lint.background_visible"]
      ),
    ] as [(JSONValue, JSONValue, [String])], [false, true])
  func refused(case row: (audience: JSONValue, options: JSONValue, codes: [String]), repeats: Bool) async throws {
    try await EngineScene.run(devices: 3) { scene in
      let intake = PushIntake(store: scene.store)
      let draft = try Self.draft(row.audience, row.options, repeats: repeats)
      let before = try await Self.rows(scene)
      func codes(_ body: () async throws -> Void) async throws -> [String] {
        do { try await body() } catch let problems as Problems { return problems.all.map(\.code) }
        return []
      }
      let dry = try await codes {
        _ = try await intake.preview(Self.order(draft), once: Self.key(nil, draft)) { _ in
          Idempotency.Answer(status: 200, body: [])
        }
      }
      #expect(dry == row.codes)
      #expect(try await Self.rows(scene) == before, "a dry run without a key keeps nothing")
      let keyed = try await codes {
        _ = try await intake.take(Self.order(draft), once: Self.key("k", draft)) { _, _, _ in
          Idempotency.Answer(status: 202, body: [])
        }
      }
      #expect(keyed == row.codes)
      let isRefused = !row.codes.isEmpty
      #expect(try await (Self.rows(scene) == before) == isRefused)
      #expect(try await codes { _ = try await intake.take(Self.order(draft)) } == row.codes)
      #expect(try await (Self.rows(scene) == before) == isRefused)
    }
  }

  @Test("an audience that has devices in the other environment alone is refused with their number")
  func elsewhere() async throws {
    try await EngineScene.run(devices: 3) { scene in
      var draft = try Self.draft("all")
      draft.environment = .production
      let problem = try await PushIntake(store: scene.store).check(draft, now: noon, within: nil).problems.first
      #expect(problem?.code == "push.nobody_here")
      #expect(problem?.text.contains("matches this audience, but 3 in development do. Choose that") == true)
    }
  }

  @Test("a push that no credential can send is refused; if it is for later or reaches others, it is a warning")
  func noCredential() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let intake = PushIntake(store: scene.store)
      let phone = Registration(
        token: DeviceToken(bytes: Array(String(repeating: "a", count: 140).utf8)), environment: .development,
        platform: .android)
      try await scene.store.write { _ = try Device.register($0, app: scene.app.id, [phone], now: noon) }
      func severities(
        of message: LintMessage = .noCredential, _ change: (inout PushDraft) -> Void
      ) async throws -> [Lint.Severity] {
        var draft = try Self.draft("all")
        draft.platforms = [.android]
        change(&draft)
        return try await intake.check(draft, now: noon, within: nil).findings
          .filter { $0.problem.code == message.code }.map(\.severity)
      }
      #expect(try await severities { _ in } == [.error])
      #expect(try await severities { $0.options.allowEmptyAudience = true } == [.warning])
      #expect(try await severities { $0.sendAt = noon + 3600 } == [.warning])
      #expect(try await severities { $0.platforms = [.ios, .android] } == [.warning])
      #expect(try await severities { $0.platforms = [.ios] } == [])
      try await scene.store.write { database in
        _ = try Credential.bind(
          database, app: scene.app.id, provider: .fcm, environment: .development, certificate: nil,
          endpoint: "simulator", now: noon)
      }
      #expect(try await severities { _ in } == [])
      #expect(try await severities(of: .credentialRefused) { _ in } == [])
      try await scene.store.write { database in
        _ = try database.run(
          "UPDATE credentials SET last_refused_at = ?, last_refusal = 'UNAUTHENTICATED' WHERE provider = 'fcm'", noon)
      }
      #expect(try await severities(of: .credentialRefused) { _ in } == [.warning])
      #expect(try await severities(of: .credentialRefused) { $0.platforms = [.ios] } == [])
      try await scene.store.write { database in
        _ = try database.run("UPDATE credentials SET last_accepted_at = ? WHERE provider = 'fcm'", noon + 1)
      }
      #expect(try await severities(of: .credentialRefused) { _ in } == [])
      // A pasted token is for the service that its form belongs to.
      var pasted = Audience.Rule()
      pasted.deviceToken = [DeviceToken(text: "cX1aB2c3:APA91b\(String(repeating: "x", count: 130))")]
      let firebase = Audience.rule(pasted)
      try await scene.store.write { database in
        let apns = try #require(
          try Credential.find(database, app: scene.app.id, provider: .apns, environment: .development))
        _ = try Credential.unbind(database, id: apns.id)
      }
      #expect(try await severities { ($0.platforms, $0.audience) = ([.ios, .android], firebase) } == [])
      // An iPhone can have one of FCM's, too.
      #expect(try await severities { ($0.platforms, $0.audience) = ([.ios], firebase) } == [])
    }
  }

  @Test("a tag that nobody has is told with the nearest one, whether others are reached or not")
  func missingTags() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let intake = PushIntake(store: scene.store)
      for (tags, codes) in [
        (["ODD", "odd"], ["lint.no_tag_similar"]), (["Odd"], ["push.nobody", "lint.no_tag_similar"]),
        (["quite different"], ["push.nobody", "lint.no_tag"]), (["odd"], []),
      ] {
        let draft = try Self.draft(["tag": .array(tags.map { .string($0) })])
        let check = try await intake.check(draft, now: noon, within: nil)
        #expect(check.findings.map(\.problem.code) == codes, "\(tags)")
        #expect(check.problems.map(\.code) == (codes.first == "push.nobody" ? codes : []), "told as the reason")
        #expect(
          check.findings.last?.problem.arguments["similar"] == (codes.last == "lint.no_tag_similar" ? "odd" : nil))
      }
    }
  }

  @Test("what is kept: the push or the schedule, the door, the audit, unknown tokens, and how many it reaches")
  func kept() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let delivered = Mutex<[Int64]>([])
      let intake = PushIntake(store: scene.store) { id in delivered.withLock { $0.append(id) } }
      let token = try Self.draft(["device_token": [.string(Self.strange)]], ["undo_seconds": 7])
      let check = try await intake.accept(Self.order(token, .cli))
      let kept = try await intake.take(Self.order(token, .cli), accepted: check)
      guard case .push(let push) = kept else { throw Problem("", code: "", "no push") }
      #expect(
        push.source == .cli && push.createdBy == "anna" && push.holdUntil == noon + 7
          && push.draftJSON == token.json.text())
      #expect(check.reachable == 1 && check.unknown == 1)
      #expect(try await intake.check(token, now: noon, within: nil).unknown == 0, "the token is registered now")
      let again = try await intake.take(Self.order(try Self.draft("all", repeats: true), .web))
      guard case .schedule(let schedule) = again else { throw Problem("", code: "", "no schedule") }
      #expect(schedule.source == .web && schedule.body == "hello")
      #expect(delivered.withLock { $0 } == [push.id], "a schedule is not delivered")
      let audit = try await scene.store.read { try AuditEntry.list($0, limit: 10).items.map(\.entry) }
      #expect(audit.map(\.action) == ["schedule.create", "push.create"])
      #expect(audit.allSatisfy { $0.actor == "anna" && $0.address == "192.0.2.1" })
      var other = token
      other.app = "com.example.none"
      await #expect(throws: PushIntake.NoApp.self) { try await intake.take(Self.order(other)) }
    }
  }

  @Test("a key takes effect once: the same answer for a repeat, also of eight at once; another body is a mismatch")
  func once() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let delivered = Mutex(0)
      let intake = PushIntake(store: scene.store) { _ in delivered.withLock { $0 += 1 } }
      @Sendable func take(_ draft: PushDraft, _ key: Idempotency) async throws -> Idempotency.Answer {
        try await intake.take(Self.order(draft), once: key) { _, kept, _ in
          guard case .push(let push) = kept else { throw Problem("", code: "", "no push") }
          return Idempotency.Answer(status: 202, body: Array(push.uid.utf8), location: "/pushes/\(push.uid)")
        }
      }
      let draft = try Self.draft(["tag": ["odd"]])
      let answers = try await withThrowingTaskGroup(of: Idempotency.Answer.self) { group in
        for _ in 0..<8 { group.addTask { try await take(draft, Self.key("k", draft)) } }
        return try await group.reduce(into: Set<Idempotency.Answer>()) { $0.insert($1) }
      }
      #expect(answers.count == 1)
      #expect(delivered.withLock { $0 } == 1)
      // What was taken once is not checked again.
      _ = try await scene.store.write { database in
        for id in Int64(1)...3 { _ = try Device.delete(database, id: id, now: noon) }
      }
      #expect(try await take(draft, Self.key("k", draft)) == answers.first)
      let other = try Self.draft("all")
      await #expect(throws: Idempotency.Mismatch.self) { try await take(other, Self.key("k", other)) }
      await #expect(throws: Problems.self) { try await take(draft, Self.key("k", draft, by: "token 2")) }
    }
  }

  @Test("a caller that does not confirm keeps nothing, and a repeat is not asked")
  func confirmed() async throws {
    struct No: Error {}
    try await EngineScene.run(devices: 3) { scene in
      let (intake, draft) = (PushIntake(store: scene.store), try Self.draft("all"))
      let before = try await Self.rows(scene)
      let answer: @Sendable (Database, PushIntake.Kept, PushCheck) -> Idempotency.Answer = { _, _, _ in
        Idempotency.Answer(status: 303, body: [])
      }
      await #expect(throws: No.self) {
        try await intake.take(
          Self.order(draft), once: Self.key("k", draft), confirm: { _ in throw No() }, answer: answer)
      }
      #expect(try await Self.rows(scene) == before)
      _ = try await intake.take(Self.order(draft), once: Self.key("k", draft), answer: answer)
      _ = try await intake.take(
        Self.order(draft), once: Self.key("k", draft), confirm: { _ in throw No() }, answer: answer)
    }
  }

  @Test("an audience is counted on a reader: the only writer runs no statement that counts it")
  func countedOnReader() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let draft = try Self.draft(["tag": ["odd"], "device_token": [.string(Self.strange)]])
      _ = try await PushIntake(store: scene.store).take(Self.order(draft))
      // https://www.sqlite.org/stmt.html: what this connection has prepared.
      let written = try await scene.store.write { database in
        try database.fetchAll("SELECT sql FROM sqlite_stmt") { $0.text(0) }
      }
      #expect(written.contains { $0.contains("INSERT INTO pushes") })
      #expect(written.filter { $0.contains("count(*)") && $0.contains("GROUP BY d.platform") } == [])
    }
  }
}
