import Calendar
import Foundation
import HTTPServer
import JSON
import Logging
import OpenSSL
import Model
import Reminders
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Pages: certificates and keys")
struct CertificatePageTests {
  private static let password = "open sesame, file"

  /// A push certificate with its key, and the same as a .p12.
  private struct Made {
    let certificate: Certificate
    let key: PrivateKey
    var pem: String { certificate.pem + key.pkcs8PEM }

    init() throws {
      key = try PrivateKey.generateP256()
      certificate = try CertificateAuthority.selfSigned(
        CertificateBlueprint(
          subject: [.commonName("Apple Push Services: com.example.shop")],
          notBefore: ConsoleScene.noon.addingTimeInterval(-86_400),
          notAfter: ConsoleScene.noon.addingTimeInterval(40 * 86_400)), key: key)
    }
  }

  private static func file(_ bytes: some Sequence<UInt8>, _ name: String = "x.pem") -> Multipart.Part {
    .file("file", name: name, Array(bytes))
  }

  @Test("a look keeps nothing; keeping seals the key, and the page shows no secret")
  func life() async throws {
    try await ConsoleScene.with { scene in
      let made = try Made()
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      let secret = made.key.pkcs8PEM.split(separator: "\n")[1]
      let before = try await scene.changes()
      let inspected = try await anna.upload("/certificates", [Self.file(made.pem.utf8), .field("action", "look")])
      #expect(inspected.status == 200 && inspected.text.contains("Apple Push Services: com.example.shop"))
      #expect(!inspected.text.contains(secret))
      #expect(try await scene.changes() == before)

      let keep: [Multipart.Part] = [
        Self.file(made.pem.utf8, "shop.pem"), .field("action", "keep"), .field("app", "\(app.id)"),
      ]
      let kept = try await anna.upload("/certificates", keep)
      #expect(kept.status == 303 && kept.location == "/certificates/1")
      let page = try await anna.get("/certificates/1")
      #expect(page.text.contains("shop.pem") && page.text.contains("admin@example.com") && !page.text.contains(secret))
      let sealed = try await scene.store.read { try $0.fetchOne("SELECT sealed FROM certificates") { $0.blob(0) } }
      #expect(sealed.map { String(decoding: $0, as: UTF8.self).contains(secret) } == false, "the key lies sealed")
      let list = try await anna.get("/certificates").text
      #expect(list.contains(" data-zoned=\"last\">30 Dec 2026, 12:00 UTC</time>"), "a sentence names its zone")
      #expect(list.contains(">30 Dec 2026, 12:00</time>"), "a row names none: the script has none to take away")
      let known = ScenePage(try await anna.upload("/certificates", [Self.file(made.pem.utf8)]))
      #expect(known.text.contains("This file is already stored") && !known.text.contains("The file was not saved"))
      #expect(known.values("return") == ["/certificates/1"], "in another language, its own page")
      let twice = try await anna.upload("/certificates", keep)
      #expect(twice.status == 303 && twice.location == "/certificates/1")
      #expect(try await anna.get("/certificates/1").text.contains("already stored"))
      #expect(try await scene.count("certificates") == 1)

      let labels = try await anna.post("/certificates/1", [("name", "Shop 2026"), ("app", "")])
      #expect(labels.status == 303)
      #expect(ScenePage(try await anna.get("/certificates/1")).values("name") == ["Shop 2026"])
      for (fields, place) in [
        ([("name", ""), ("app", "")], "name"), ([("name", String(repeating: "x", count: 201))], "name"),
        ([("name", "x"), ("app", "999")], "app"), ([("name", "x"), ("app", "y")], "app"),
      ] {
        let refused = try await anna.post("/certificates/1", fields)
        #expect(refused.status == 422 && ScenePage(refused).failedFields == [place], "\(fields)")
      }
      #expect(try await anna.get("/certificates").text.contains("Shop 2026"))
      #expect(try await anna.post("/certificates/1/remove").location == "/certificates")
      #expect(try await scene.count("certificates") == 0)
      for target in ["/certificates/1", "/certificates/1/remove", "/certificates/x"] {
        #expect(try await anna.get(target).status == 404, "\(target)")
      }
      #expect(!scene.log.entries.contains { "\($0)".contains(secret) })
      #expect(!(try await scene.audit()).contains { "\($0)".contains(secret) })
    }
  }

  @Test("a file of an app that is not here leads to the form of a new app, with its bundle ID filled in")
  func newApp() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let file = try CertificateSamples.p12(topic: "com.example.other", days: 400)
      let page = ScenePage(
        try await anna.upload(
          "/certificates", [Self.file(file, "other.p12"), .field("password", "secret"), .field("action", "look")]))
      let link = try #require(page.links.first { $0.hasPrefix("/apps/new") })
      #expect(ScenePage(try await anna.get(link)).values("bundle_id") == ["com.example.other"], "\(link)")
      #expect(page.text.contains(" for com.example.other"), "it may have expired: no word of sending")
    }
  }

  @Test("what is still bound stays, and the page says where")
  func inUse() async throws {
    try await ConsoleScene.with { scene in
      let made = try Made()
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      _ = try await anna.upload("/certificates", [Self.file(made.pem.utf8), .field("action", "keep")])
      _ = try await scene.store.write { database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: 1, endpoint: "apple",
          now: ConsoleScene.noon)
      }
      let page = ScenePage(try await anna.get("/certificates/1/remove"))
      #expect(page.text.contains("It cannot be deleted while it is in use") && page.links.contains("/apps/\(app.id)"))
      #expect(!page.forms.contains { $0.attributes["action"] == "/certificates/1/remove" }, "and has no button")
      _ = try await anna.post("/certificates/1/remove")
      #expect(try await scene.count("certificates") == 1)
    }
  }

  @Test("a .p8 is kept with its ids alone; the form comes back with what was typed")
  func key() async throws {
    try await ConsoleScene.with { scene in
      let pem = try PrivateKey.generateP256().pkcs8PEM
      var anna = try await scene.signIn(.admin)
      func keep(_ name: String, _ keyID: String, _ teamID: String) async throws -> SceneAnswer {
        try await anna.upload(
          "/certificates",
          [Self.file(pem.utf8, name), .field("action", "keep"), .field("key_id", keyID), .field("team_id", teamID)])
      }
      for (keyID, teamID, fields) in [
        ("", "", ["key_id", "team_id"]), ("ABCDE12345", "", ["team_id"]), ("abcde12345", "TEAM123456", ["key_id"]),
        ("ABCDE1234", "TEAM12345-", ["key_id", "team_id"]),
      ] as [(String, String, Set<String>)] {
        let refused = try await keep("key.p8", keyID, teamID)
        #expect(refused.status == 422)
        let page = ScenePage(refused)
        #expect(page.failedFields == fields)
        #expect(page.values("key_id") == [keyID] && page.values("team_id") == [teamID])
      }
      #expect(try await scene.count("certificates") == 0)
      #expect(
        try await keep("AuthKey_ABCDE12345.p8", "", "TEAM123456").status == 303, "the file's name tells the key id")
      let kept = try await scene.store.read { try TrackedCertificate.get($0, id: 1) }
      #expect(kept.details.keyID == "ABCDE12345" && kept.details.hasPrivateKey)
    }
  }

  @Test("an upload from an app's page has the app chosen and leads back; only what expires is said to be watched")
  func ofAnApp() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      let link = try #require(
        ScenePage(try await anna.get("/apps/\(app.id)")).links.first { $0.hasPrefix("/certificates?") })
      let form = ScenePage(try await anna.get(String(link.prefix { $0 != "#" })))
      #expect(form.values("back") == ["app"])
      #expect(form.values("app").contains("\(app.id)"))
      let parts: [Multipart.Part] = [
        .field("back", "app"), .field("app", "\(app.id)"), .field("password", "secret"),
      ]
      let wrong = try await anna.upload(
        "/certificates", [Self.file("x".utf8, "push.p12"), .field("action", "keep")] + parts)
      #expect(wrong.status == 422 && ScenePage(wrong).values("back") == ["app"], "\(wrong.text)")
      let kept = try await anna.upload(
        "/certificates",
        [Self.file(try CertificateSamples.p12(days: 90), "push.p12"), .field("action", "keep")] + parts)
      #expect(kept.status == 303 && kept.location == "/apps/\(app.id)")
      #expect(try await anna.get("/apps/\(app.id)").text.contains("File saved. Its expiry is being watched."))

      let key = try await anna.upload(
        "/certificates",
        [
          Self.file(try PrivateKey.generateP256().pkcs8PEM.utf8, "AuthKey_ABCDE12345.p8"), .field("action", "keep"),
          .field("team_id", "TEAM123456"),
        ])
      let page = try await anna.get(try #require(key.location)).text
      #expect(page.contains("File saved. It never expires.") && !page.contains("is being watched"))
    }
  }

  @Test("an inspected file is held sealed, and saved without being chosen or opened again")
  func inspected() async throws {
    try await ConsoleScene.with { scene in
      let p12 = try CertificateSamples.p12(days: 90)
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(
        try await anna.upload(
          "/certificates",
          [Self.file(p12, "push.p12"), .field("password", "secret"), .field("action", "inspect")]))
      let uid = try #require(page.values("locked").first)
      #expect(page.text.contains("push.p12 is kept here") && !page.text.contains("Choose it again"))
      #expect(try await scene.count("certificates") == 0)
      #expect(try await scene.count("locked_files") == 1)
      let sealed = try await scene.store.read { try $0.fetchOne("SELECT sealed FROM locked_files") { $0.blob(0) } }
      #expect(sealed?.firstRange(of: Array("PRIVATE KEY".utf8)) == nil)
      let button = try #require(page.tags.first { $0.attributes["name"] == "lang" })
      #expect(button.attributes["form"] == "again" && button.attributes["formaction"] == "/certificates")
      let chinese = try await anna.upload("/certificates", [.field("locked", uid), .field("lang", "zh-Hans")])
      #expect(chinese.status == 200 && chinese.text.contains("<html lang=\"zh-Hans\"") && chinese.text.contains(uid))
      #expect(try await scene.count("locked_files") == 1)
      let kept = try await anna.upload("/certificates", [.field("locked", uid), .field("action", "keep")])
      #expect(kept.status == 303 && kept.location == "/certificates/1", "\(kept.text)")
      let details = try await scene.store.read { try TrackedCertificate.get($0, id: 1).details }
      #expect(details.fileName == "push.p12" && details.hasPrivateKey)
      #expect(try await scene.count("locked_files") == 0)
    }
  }

  @Test("a file that needs a password asks for it before it is called wrong; the script's look keeps nothing")
  func asks() async throws {
    try await ConsoleScene.with { scene in
      let p12 = try CertificateSamples.p12(days: 90)
      var anna = try await scene.signIn(.admin)
      let looked = ScenePage(
        try await anna.upload("/certificates", [Self.file(p12, "push.p12"), .field("action", "look")]))
      #expect(looked.tags.contains { $0.attributes["data-question"] != nil })
      #expect(!looked.tags.contains { $0.attributes["class"]?.contains("callout red") == true })
      #expect(try await scene.count("locked_files") == 0)
      let wrong = ScenePage(
        try await anna.upload(
          "/certificates", [Self.file(p12, "push.p12"), .field("password", "x"), .field("action", "look")]))
      #expect(wrong.tags.contains { $0.attributes["class"]?.contains("callout red") == true })
      #expect(try await scene.count("locked_files") == 0)
      // Sent without one: the file is held, and no empty box stands beside that.
      for path in ["/certificates", "/certificates/1/successor"] {
        if path != "/certificates" {
          _ = try await anna.upload(
            "/certificates", [Self.file(p12, "push.p12"), .field("password", "secret"), .field("action", "keep")])
        }
        let field = path == "/certificates" ? "file" : "successor"
        let sent = ScenePage(
          try await anna.upload(path, [.file(field, name: "push.p12", p12), .field("action", "keep")]))
        #expect(sent.tags.contains { $0.attributes["data-question"] != nil }, "\(path)")
        #expect(sent.error("password").contains("Enter the file’s password."), "\(path)")
        let box = try #require(sent.tags.firstIndex { $0.attributes["type"] == "file" })
        let open = sent.tags[..<box].last { $0.name == "details" || $0.name == "/details" }
        #expect(open?.name == "details" && open?.attributes["open"] == nil, "\(path): folded away")
      }
    }
  }

  @Test("a wrong password keeps the upload for 15 minutes, sealed, for whoever brought it; the sentence stands once")
  func locked() async throws {
    try await ConsoleScene.with { scene in
      let p12 = try CertificateSamples.p12(days: 90)
      var anna = try await scene.signIn(.admin)
      func refusal(_ parts: [Multipart.Part]) async throws -> ScenePage {
        let answer = try await anna.upload("/certificates", parts + [.field("action", "keep")])
        #expect(answer.status == 422)
        return ScenePage(answer)
      }
      let page = try await refusal([Self.file(p12, "push.p12"), .field("password", "wrong")])
      #expect(page.text.components(separatedBy: "Wrong password.").count == 2, "once")
      #expect(page.text.contains("push.p12 is kept here") && page.failedFields == ["password"])
      #expect(page.text.contains("Enter the file’s password."), "true of a first password, too")
      let uid = try #require(page.values("locked").first)
      let sealed = try await scene.store.read { try $0.fetchOne("SELECT sealed FROM locked_files") { $0.blob(0) } }
      #expect(sealed?.count ?? 0 > p12.count && sealed?.firstRange(of: Array(p12.prefix(40))) == nil)
      let again = try await refusal([.field("locked", uid), .field("password", "wrong too")])
      #expect(again.values("locked") == [uid])
      // Nobody else gets at it.
      var lin = try await scene.signIn(.admin, name: "lin@example.com")
      let foreign = try await lin.upload(
        "/certificates", [.field("locked", uid), .field("password", "secret"), .field("action", "keep")])
      #expect(ScenePage(foreign).failedFields == ["file"])
      let inspected = try await anna.upload(
        "/certificates", [.field("locked", uid), .field("password", "secret"), .field("action", "inspect")])
      let opened = try #require(ScenePage(inspected).values("locked").first)
      #expect(inspected.status == 200 && opened != uid, "the password need not be typed again")
      let kept = try await anna.upload("/certificates", [.field("locked", opened), .field("action", "keep")])
      #expect(kept.status == 303)
      #expect(try await scene.store.read { try TrackedCertificate.get($0, id: 1).details.fileName } == "push.p12")
      #expect(try await scene.count("locked_files") == 0)
      // The same of a successor; and after a quarter of an hour it is gone.
      let successor = try CertificateSamples.p12(days: 400)
      let refused = ScenePage(
        try await anna.upload(
          "/certificates/1/successor", [.file("successor", name: "new.p12", successor), .field("password", "wrong")]))
      #expect(refused.text.components(separatedBy: "Wrong password.").count == 2)
      let waiting = try #require(refused.values("locked").first)
      scene.clock.advance(901)
      let late = ScenePage(
        try await anna.upload(
          "/certificates/1/successor",
          [.field("locked", waiting), .field("password", "secret"), .field("proof", ConsoleScene.password)]))
      #expect(late.text.contains("The file is no longer kept here"))
      scene.clock.advance(-901)
      let preview = try await anna.upload(
        "/certificates/1/successor", [.field("locked", waiting), .field("password", "secret")])
      #expect(preview.status == 303 && preview.location?.contains("/successor/") == true)
      #expect(try await scene.count("locked_files") == 0)
    }
  }

  @Test(
    "the bars of the timeline have the color of the worst that expires in their week; it starts today",
    arguments: [
      ([8.5, 9, 31.5], ["f-unknown", "f-acc"], "20 Nov 2026"), ([6.9, 40], ["f-fail", "f-acc"], "20 Nov 2026"),
      ([29.5, 6, 3], ["f-fail", "f-unknown"], "20 Nov 2026"), ([-3, 9], ["f-fail", "f-unknown"], "17 Nov 2026"),
      ([-40, 200], ["f-acc"], "20 Nov 2026"),
    ] as [([Double], [String], String)])
  func timeline(days: [Double], tones: [String], first: String) async throws {
    try await ConsoleScene.with { scene in
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        for days in days {
          var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop \(days)", fileName: "x")
          details.notAfter = ConsoleScene.noon + days * 86_400
          _ = try TrackedCertificate.add(
            database, details, material: [1], sealer: sealer, by: "test", now: ConsoleScene.noon)
        }
      }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/certificates"))
      let bars = page.tags.filter { $0.name == "rect" && $0.attributes["rx"] == "1.5" }
      #expect(bars.compactMap { $0.attributes["class"] } == tones)
      let targets = page.tags.filter { $0.name == "rect" && $0.attributes["class"] == "f-none" }
      #expect(targets.count == tones.count && targets.allSatisfy { $0.attributes["height"] == "100%" })
      #expect(page.text.contains("between \(first) and"))
    }
  }

  @Test(
    "a bar of the timeline can be hit beside it, up to the middle between it and the next; inside the picture",
    arguments: [
      ([], []), ([80], [0..<750]), ([5000], [4625..<5375]), ([9920], [9250..<10_000]),
      ([5000, 5160], [4625..<5080, 5080..<5535]), ([80, 720], [0..<400, 400..<1095]),
      ([1000, 5000], [625..<1375, 4625..<5375]),
    ] as [([Int], [Range<Int>])])
  func targets(middles: [Int], expected: [Range<Int>]) {
    #expect(ExpiryTimeline.targets(around: middles) == expected)
  }

  @Test("the ladder of reminders is drawn: what was sent, what is held back, what comes next; with a table")
  func ladder() async throws {
    try await ConsoleScene.with { scene in
      let end = ConsoleScene.noon + 12.25 * 86_400
      let sealer = scene.store.sealer
      let subject = try await scene.store.write { database in
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop", fileName: "x")
        details.notAfter = end
        let kept = try TrackedCertificate.add(
          database, details, material: [1], sealer: sealer, by: "cli root", now: ConsoleScene.noon)
        let subject = Acknowledgement.Subject(key: "certificates/\(kept.id)", fingerprint: kept.details.sha256)
        for step in [30, 14] {
          _ = try Reminder.claim(database, subject, step: step, name: "Shop", now: ConsoleScene.noon)
        }
        return subject
      }
      var anna = try await scene.signIn(.admin)
      func shapes(_ target: String) async throws -> [String] {
        ScenePage(try await anna.get(target)).tags.filter { $0.name == "circle" && $0.attributes["cy"] == "28" }
          .compactMap { $0.attributes["class"] }
      }
      #expect(
        try await shapes("/\(subject.key)") == ["passed", "sent", "sent", "next", "later", "later", "later", "later"])
      let page = ScenePage(try await anna.get("/\(subject.key)"))
      let picture = try #require(page.tags.first { $0.attributes["class"] == "ladder" }?.attributes["aria-label"])
      #expect(picture.contains("Sent: 30 days before, 14 days before. Next reminder: 7 days before, on"), "\(picture)")
      #expect(picture.hasSuffix("It expires on 2 Dec 2026, 18:00 UTC."), "\(picture)")
      #expect(page.text.contains("Ask root, who uploaded the old one."))
      let rows = page.tags.filter { $0.name == "th" && $0.attributes["scope"] == "row" }.map(\.text)
      #expect(rows.contains("60 days before") && rows.contains("expired"))

      #expect(try await anna.post("/\(subject.key)/acknowledge", [("until", "2026-11-29")]).status == 303)
      // The last of those that are held back goes out when the snooze ends.
      let taken = try await shapes("/\(subject.key)")
      #expect(taken == ["passed", "sent", "sent", "held", "next", "later", "later", "later"], "\(taken)")
      #expect(try await shapes("/settings/reminders") == Array(repeating: "chosen", count: 8))
    }
  }

  @Test("the days of reminders are those of the settings’ time zone")
  func ladderZone() async throws {
    try await ConsoleScene.with { scene in
      // Due from 24 Nov, 12:00 UTC; sent at 22:00 UTC, which is 6 o’clock on the next day in Shanghai.
      let id = try await CertificateSamples.keep(scene, days: 12)
      let zone = try #require(TimeZone(identifier: "Asia/Shanghai"))
      try await scene.store.write { database in
        try ReminderSettings(ladder: .usual, hour: 6, zone: zone).save(database)
      }
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/certificates/\(id)"))
      let cells = page.tags.filter { $0.name == "td" }.map(\.text)
      #expect(cells.contains("25 Nov 2026") && !cells.contains("24 Nov 2026"), "\(cells)")
      #expect(page.text.contains("7 days before (25 Nov 2026)"))
    }
  }

  /// A day as pages write it: `22 Nov 2026` for `2026-11-22`.
  private static func said(_ day: String) throws -> String {
    let parts = day.split(separator: "-").compactMap { Int($0) }
    try #require(parts.count == 3)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    return "\(parts[2]) \(months[parts[1] - 1]) \(parts[0])"
  }

  @Test(
    "“Snooze until” begins with half of what is left, says what it keeps back, and ends a day before the end",
    arguments: [
      (4.5, "2026-11-22", "2026-11-23", "3 days before (21 Nov 2026)"),
      (12, "2026-11-26", "2026-12-01", "7 days before (25 Nov 2026)"),
      (40, "2026-11-27", "2026-12-29", nil), (200, "2026-11-27", "2027-02-19", nil), (0.9, nil, nil, nil),
      (-1, nil, nil, nil),
    ] as [(Double, String?, String?, String?)])
  func takingOn(days: Double, suggested: String?, latest: String?, silenced: String?) async throws {
    try await ConsoleScene.with { scene in
      let (sealer, end) = (scene.store.sealer, ConsoleScene.noon + days * 86_400)
      try await scene.store.write { database in
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop", fileName: "x")
        details.notAfter = end
        _ = try TrackedCertificate.add(
          database, details, material: [1], sealer: sealer, by: "test", now: ConsoleScene.noon)
      }
      var lin = try await scene.signIn(.operator)
      let page = ScenePage(try await lin.get("/certificates/1"))
      let path = "/certificates/1/acknowledge"
      let api = "/api/v1/certificates/1/acknowledgement"
      guard let suggested, let latest else {
        // Not “today”: that may be tomorrow morning.
        #expect(page.text.contains(days < 0 ? "Shop has expired" : "Shop expires within 24 hours"), "\(page.text)")
        #expect(!page.forms.contains { $0.attributes["action"] == path })
        #expect(try await lin.post(path, [("until", "2026-11-20")]).status == 409)
        let refused = try await scene.call(.put, api, as: .operator, json: ["until": "2026-11-20T13:00:00Z"])
        #expect(refused.status == 422 && refused.codes == ["acknowledgement.last_day"])
        return
      }
      #expect(page.values("until") == [suggested])
      let (first, last) = (try Self.said(suggested), try Self.said(latest))
      if let silenced {
        #expect(page.text.contains("Snoozing until \(first) holds back:"), "\(page.text)")
        #expect(page.text.contains(silenced), "\(page.text)")
      }
      let limit = min(end - 86_400, ConsoleScene.noon + 91 * 86_400)
      let day = try #require(Timestamp.parse("\(latest)T00:00:00Z"))
      #expect(day < limit && day + 86_400 >= limit, "the last day that can be chosen")
      let tooLate = Timestamp.text(day + 86_400).prefix(10)
      #expect(try await lin.post(path, [("until", String(tooLate))]).status == 422)
      #expect(try await lin.post(path, [("until", latest)]).status == 303)
      let until = try await scene.store.read { try $0.int("SELECT until FROM acknowledgements") }
      #expect(until == Int(limit.timeIntervalSince1970 * 1000))
      let shown = ScenePage(try await lin.get("/certificates/1")).text
      #expect(shown.contains("is handling it. Reminders are snoozed until \(last)"))
      if silenced != nil { #expect(shown.contains("Held back until then:")) }
      func put(_ date: Date) async throws -> SceneAnswer {
        try await scene.call(.put, api, as: .operator, json: ["until": .string(Timestamp.text(date))])
      }
      #expect(try await put(limit).status == 200)
      let refused = try await put(limit + 1)
      #expect(refused.status == 422 && refused.codes == ["acknowledgement.until"] && refused.fields == ["until"])
    }
  }

  @Test("what turns the direction of a name or a file name is written out, on every page and in JSON")
  func directions() async throws {
    try await ConsoleScene.with { scene in
      let key = try PrivateKey.generateP256()
      let certificate = try CertificateAuthority.selfSigned(
        CertificateBlueprint(
          subject: [.commonName("Apple Push Services: com.x\u{202E}p21"), .organization("A\u{2066}B")],
          notBefore: ConsoleScene.noon - 86_400, notAfter: ConsoleScene.noon + 20 * 86_400), key: key)
      let sealer = scene.store.sealer
      // As a former version kept it.
      try await scene.store.write { database in
        var details = TrackedCertificate.Details(
          kind: "apns_certificate", name: "old\u{202E}name", fileName: "old\u{202E}file")
        (details.notAfter, details.subject) = (ConsoleScene.noon + 86_400, "CN=old\u{202E}")
        _ = try TrackedCertificate.add(
          database, details, material: [1], sealer: sealer, by: "test", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.admin)
      let parts = [Self.file((certificate.pem + key.pkcs8PEM).utf8, "gnp\u{202E}21p.p12")]
      var answers = [try await anna.upload("/certificates", parts + [.field("action", "inspect")])]
      answers.append(try await anna.upload("/certificates", [Self.file("x".utf8, "gnp\u{202E}21p.p12")]))
      #expect(try await anna.upload("/certificates", parts + [.field("action", "keep")]).status == 303)
      for target in ["/certificates", "/certificates/1", "/certificates/2", "/certificates/2/remove", "/"] {
        answers.append(try await anna.get(target))
      }
      answers.append(try await scene.call(.get, "/api/v1/certificates", as: .viewer))
      for answer in answers {
        #expect(!answer.text.unicodeScalars.contains { ["\u{202E}", "\u{2066}"].contains($0) })
      }
      #expect(answers[1].text.contains("gnp[U+202E]21p.p12"))
      #expect(answers[4].text.contains("com.x[U+202E]p21") && answers[4].text.contains("gnp[U+202E]21p.p12"))
    }
  }

  @Test("an app that is gone meanwhile is told at its field")
  func appGone() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      for app in ["999", "x"] {
        let answer = try await anna.upload(
          "/certificates", [Self.file(try Made().pem.utf8), .field("action", "keep"), .field("app", app)])
        #expect(answer.status == 422 && ScenePage(answer).failedFields == ["app"])
      }
      #expect(try await scene.count("certificates") == 0)
    }
  }

  @Test("wrong passwords, garbage, files too large or cut off: a sentence, and nothing is kept or sent back")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let made = try Made()
      let locked = try SealedFile.pkcs12(made.pem, password: Self.password)
      let cut = locked.prefix(locked.count / 2)
      var anna = try await scene.signIn(.admin)
      let files: [(String, [UInt8], String, Set<String>)] = [
        ("locked.p12", locked, "", ["password"]), ("locked.p12", locked, "wrong password", ["password"]),
        ("cut.p12", Array(cut), Self.password, []), ("empty.pem", [], "", []),
        ("photo.jpg", [0xff, 0xd8, 0xff, 0xe0] + Array(repeating: 7, count: 500), "", []),
        ("zeros.p12", Array(repeating: 0, count: 5000), "", []),
        ("large.p12", Array(repeating: 0x30, count: 5 << 20), "", []),
        ("cut.pem", Array(made.pem.utf8.prefix(300)), "", []), ("<b>.pem", Array("nonsense".utf8), "", []),
      ]
      for (name, bytes, password, fields) in files {
        for action in ["inspect", "keep"] {
          let answer = try await anna.upload(
            "/certificates", [Self.file(bytes, name), .field("action", action), .field("password", password)])
          #expect(answer.status == 422, "\(name)")
          let page = ScenePage(answer)
          #expect(page.failedFields == fields, "\(name)")
          // A password that nobody has typed yet is asked for, and nothing is wrong.
          let isAsked = !fields.isEmpty && password.isEmpty
          let end = fields.isEmpty ? "Nothing was saved. Choose the file again." : "Nothing is saved yet."
          #expect(page.text.contains(isAsked ? "The file needs a password." : end), "\(name)")
          #expect(page.text.contains(name), "\(name)")
          #expect(password.isEmpty || !answer.text.contains(password), "the password came back")
        }
      }
      let none = try await anna.upload("/certificates", [.field("action", "keep")])
      #expect(none.status == 422 && ScenePage(none).failedFields == ["file"])
      let huge = try await anna.upload("/certificates", [Self.file(Array(repeating: 0, count: 9 << 20), "huge.p12")])
      #expect(huge.status == 413)
      #expect(try await scene.count("certificates") == 0)
      #expect(try await scene.audit("certificate.create").isEmpty)
      #expect(try await scene.count("locked_files") == 1, "what needs a password alone, once for a person")
      let good = try await anna.upload(
        "/certificates", [Self.file(locked, "x.p12"), .field("password", Self.password), .field("action", "keep")])
      #expect(good.status == 303, "the same file with its password is taken")
      let words = scene.log.entries.map { "\($0)" } + (try await scene.audit()).map { "\($0)" }
      #expect(!words.contains { $0.contains(Self.password) || $0.contains("wrong password") })
    }
  }
}

/// Files that `openssl` seals with a password.
private enum SealedFile {
  static func pkcs12(_ pem: String, password: String) throws -> [UInt8] {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    try Data(pem.utf8).write(to: folder.appendingPathComponent("in.pem"))
    try OtherProgram.runNow(
      "openssl", ["pkcs12", "-export", "-in", "in.pem", "-out", "out.p12", "-passout", "pass:\(password)"], in: folder)
    return Array(try Data(contentsOf: folder.appendingPathComponent("out.p12")))
  }
}
