import Calendar
import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Reminders
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages and API: watched hosts")
struct HostPageTests {
  private func hosts(_ scene: ConsoleScene) async throws -> [WatchedHost] {
    try await scene.store.read { try WatchedHost.all($0) }
  }

  @Test("what is pasted is understood, looked at at once, and shown with what was seen")
  func watch() async throws {
    try await ConsoleScene.with(look: { _ in .success(HostSamples.sighting()) }) { scene in
      var anna = try await scene.signIn(.admin)
      let answer = try await anna.post(
        "/hosts", [("host", "smtp://mail.example.com:587"), ("note", "Do not forget")])
      #expect(answer.status == 303)
      let host = try #require(try await hosts(scene).first)
      #expect(host.address == HostAddress(host: "mail.example.com", port: 587, startProtocol: .smtp))
      #expect(host.seen != nil && host.note == "Do not forget" && answer.location == "/hosts/\(host.id)")
      let page = ScenePage(try await anna.get("/hosts/\(host.id)"))
      for text in ["20 days left", "Expires first", "New certificate", "AB:CD", "Do not forget"] {
        #expect(page.text.contains(text), "\(text)")
      }
      let list = ScenePage(try await anna.get("/certificates?kind=host"))
      #expect(list.links.contains("/hosts/\(host.id)"))
      #expect(try await scene.audit("host.create").count == 1)
      let again = try await anna.post("/hosts", [("host", "mail.example.com:587"), ("note", "typed")])
      #expect(again.status == 422)
      let form = ScenePage(again)
      #expect(form.text.contains("This host is already watched.") && form.values("note").contains("typed"))
    }
  }

  @Test("a slip comes back at its field with what was typed")
  func slips() async throws {
    try await ConsoleScene.with(look: { _ in .failure(HostFailure(.refused)) }) { scene in
      var anna = try await scene.signIn(.admin)
      for (host, text) in [("", "Enter a host"), ("http://a.example", "is not supported"), ("a b", "not a host name")] {
        let answer = try await anna.post("/hosts", [("host", host), ("server_name", "typed.example")])
        #expect(answer.status == 422 && ScenePage(answer).text.contains(text), "\(host)")
        #expect(ScenePage(answer).values("server_name") == ["typed.example"])
      }
      #expect(try await hosts(scene).isEmpty)
    }
  }

  @Test("a note that is too long is refused; one that is stored may stay while something else is changed")
  func longNote() async throws {
    try await ConsoleScene.with(look: { _ in .failure(HostFailure(.refused)) }) { scene in
      var anna = try await scene.signIn(.admin)
      let long = String(repeating: "x", count: 5000)
      _ = try await anna.post("/hosts", [("host", "mail.example.com:587"), ("note", "short")])
      _ = try await scene.store.write { try $0.run("UPDATE watched_hosts SET note = ?", long) }
      let fields = [("host", "mail.example.com:465"), ("server_name", "")]
      #expect(try await anna.post("/hosts/1", fields + [("note", long)]).status == 303)
      #expect(try await hosts(scene).first?.address.port == 465)
      let other = try await anna.post("/hosts/1", fields + [("note", long + "y")])
      #expect(other.status == 422 && ScenePage(other).failedFields == ["note"])
      #expect(try await anna.post("/hosts/1", fields + [("note", "short")]).status == 303)
    }
  }

  @Test("a host that shows nothing needs somebody, and is found by its filter; looking again repairs it")
  func failing() async throws {
    let isBack = SceneFlag()
    try await ConsoleScene.with(
      look: { _ in isBack.isSet ? .success(HostSamples.sighting(days: 300)) : .failure(HostFailure(.timeout)) }
    ) { scene in
      var anna = try await scene.signIn(.admin)
      _ = try await anna.post("/hosts", [("host", "mail.example.com")])
      let id = try #require(try await hosts(scene).first).id
      let overview = ScenePage(try await anna.get("/"))
      #expect(overview.text.contains("mail.example.com:443") && overview.links.contains("/hosts/\(id)"))
      let page = ScenePage(try await anna.get("/hosts/\(id)")).text
      #expect(page.contains("The host did not answer in time") && page.contains("The protocol may be wrong"))
      #expect(page.contains("Reminders start once a certificate has been seen."), "not that there are no further ones")
      #expect(ScenePage(try await anna.get("/certificates?band=failing")).links.contains("/hosts/\(id)"))
      isBack.set()
      var lin = try await scene.signIn(.operator)
      #expect(try await lin.post("/hosts/\(id)/probe").status == 303)
      #expect(try await hosts(scene).first?.failure == nil)
      #expect(ScenePage(try await anna.get("/hosts/\(id)")).text.contains("Certificate presented again") == false)
      #expect(!ScenePage(try await anna.get("/certificates?band=failing")).links.contains("/hosts/\(id)"))
      // Another address begins anew; removing asks first.
      _ = try await anna.post("/hosts/\(id)", [("host", "other.example.com"), ("protocol", "tls")])
      #expect(try await hosts(scene).first?.address.host == "other.example.com")
      #expect(ScenePage(try await anna.get("/hosts/\(id)/remove")).text.contains("other.example.com"))
      #expect(try await anna.post("/hosts/\(id)/remove").location == "/certificates?kind=host")
      #expect(try await hosts(scene).isEmpty)
      #expect(try await scene.audit("host.delete").count == 1)
      #expect(try await scene.audit("host.update").count == 1)
    }
  }

  @Test("the page of a host whose certificate has expired says when it did")
  func expired() async throws {
    try await ConsoleScene.with(look: { _ in .success(HostSamples.sighting(days: -0.5)) }) { scene in
      var anna = try await scene.signIn(.admin)
      _ = try await anna.post("/hosts", [("host", "mail.example.com")])
      let id = try #require(try await hosts(scene).first).id
      let page = ScenePage(try await anna.get("/hosts/\(id)")).text
      #expect(page.contains("Expired 20 Nov 2026, 00:00 UTC"), "\(page)")
    }
  }

  @Test(
    "somebody takes a host's renewal on: the page, the list and the Overview say who, the ladder is quiet, and back")
  func takenOn() async throws {
    let hasRenewed = SceneFlag()
    try await ConsoleScene.with(
      look: { _ in .success(HostSamples.sighting(sha256: hasRenewed.isSet ? "NEW" : "AB:CD")) }
    ) { scene in
      var anna = try await scene.signIn(.admin)
      _ = try await anna.post("/hosts", [("host", "mail.example.com")])
      let id = try #require(try await hosts(scene).first).id
      let sealer = scene.store.sealer
      _ = try await scene.store.write { database in
        try Receiver.add(
          database, Receiver.Details(channel: .email, name: "Ops", target: "ops@example.com"),
          Receiver.Secrets(address: "ops@example.com"), sealer: sealer, by: "test", now: ConsoleScene.noon)
      }
      func isDue(_ days: Double = 0) async throws -> Bool {
        try await scene.store.read {
          try !ReminderPlan($0, now: ConsoleScene.noon + days * 86_400, ignoringHour: true).isEmpty
        }
      }
      #expect(try await isDue(), "20 days are left")
      var lin = try await scene.signIn(.operator)
      let path = "/hosts/\(id)"
      let page = ScenePage(try await lin.get(path))
      #expect(page.forms.contains { $0.attributes["action"] == "\(path)/acknowledge" })
      let wrong = try await lin.post("\(path)/acknowledge", [("until", "2027-11-20")])
      #expect(wrong.status == 422 && ScenePage(wrong).text.contains("Choose a date between today and 9 Dec 2026"))
      #expect(ScenePage(wrong).values("until") == ["2027-11-20"])
      #expect(try await lin.post("\(path)/acknowledge", [("until", "2026-11-30")]).location == path)
      for target in [path, "/certificates", "/"] {
        #expect(
          ScenePage(try await anna.get(target)).text.contains(
            "operator@example.com is handling it. Reminders are snoozed until 30 Nov 2026."),
          "\(target)")
      }
      #expect(try await !isDue(), "it is quiet")
      #expect(try await !isDue(10), "and on the last day")
      #expect(try await isDue(10.6), "and no longer")
      var eve = try await scene.signIn(.viewer)
      #expect(try await eve.post("\(path)/acknowledge", [("until", "2026-11-30")]).status == 403)
      #expect(try await eve.post("\(path)/unacknowledge").status == 403)
      #expect(try await lin.post("\(path)/unacknowledge").location == path)
      #expect(try await isDue())
      #expect(try await scene.audit("host.acknowledge").map(\.subject) == ["host \(id)"])
      #expect(try await scene.audit("host.unacknowledge").map(\.actor) == ["operator@example.com"])
      // What was taken on was the certificate: with another one it begins anew.
      _ = try await lin.post("\(path)/acknowledge", [("until", "2026-11-30")])
      hasRenewed.set()
      _ = try await lin.post("\(path)/probe")
      #expect(try await isDue())
      #expect(!ScenePage(try await anna.get(path)).text.contains("is on it"))
    }
  }

  @Test("the API takes a host on and gives it back, and lists say who; what shows nothing cannot be taken on")
  func takenOnByAPI() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.store.write { try HostSamples.add($0) }
      let operation = { OpenAPIDocument.Operation(method: $0, path: "/api/v1/hosts/{id}/acknowledgement") }
      let until: JSONValue = ["until": "2026-11-30T00:00:00Z"]
      let taken = try await scene.call(.put, "/api/v1/hosts/1/acknowledgement", as: .operator, json: until)
      #expect(taken.status == 200 && taken.json?["until"] == until["until"] && taken.json?["by"] != .null)
      #expect(try document.errors(taken, to: operation("PUT")) == [])
      for path in ["/api/v1/hosts/1", "/api/v1/hosts?limit=10", "/api/v1/certificates?kind=host"] {
        let answer = try await scene.call(.get, path, as: .viewer)
        let items = answer.json?["items"]?.array ?? [answer.json ?? .null]
        #expect(items.first { $0["id"] == 1 }?["acknowledgement"] == taken.json, "\(path)")
        #expect(items.filter { $0["id"] != 1 }.allSatisfy { $0["acknowledgement"] == .null }, "\(path)")
      }
      let nothing = try await scene.call(.put, "/api/v1/hosts/3/acknowledgement", as: .operator, json: until)
      #expect(nothing.status == 409 && nothing.text.contains("its expiry is unknown"))
      let far: JSONValue = ["until": "2027-11-30T00:00:00Z"]
      #expect(try await scene.call(.put, "/api/v1/hosts/1/acknowledgement", as: .operator, json: far).status == 422)
      #expect(try await scene.call(.delete, "/api/v1/hosts/1/acknowledgement", as: .viewer).status == 403)
      let back = try await scene.call(.delete, "/api/v1/hosts/1/acknowledgement", as: .operator)
      #expect(back.status == 204)
      let twice = try await scene.call(.delete, "/api/v1/hosts/1/acknowledgement", as: .operator)
      #expect(twice.status == 404)
      #expect(try document.errors(twice, to: operation("DELETE")) == [])
      #expect(try await scene.audit().filter { $0.action.hasPrefix("host.") }.count == 2)
    }
  }

  @Test("the API adds, reads, changes, looks and removes; every answer is as the document says")
  func api() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with(look: { _ in .success(HostSamples.sighting()) }) { scene in
      func call(
        _ method: HTTPServer.Method, _ path: String, _ pattern: String, _ json: JSONValue? = nil,
        headers: [String: String] = [:]
      ) async throws -> SceneAnswer {
        let answer = try await scene.call(method, path, as: .admin, json: json, headers: headers)
        #expect(try document.errors(answer, to: .init(method: method.rawValue, path: pattern)) == [], "\(path)")
        return answer
      }
      let (list, one) = ("/api/v1/hosts", "/api/v1/hosts/{id}")
      let key = ["Idempotency-Key": "k"]
      let added = try await call(.post, list, list, ["host": "https://mail.example.com/", "note": "x"], headers: key)
      #expect(added.status == 201 && added.json?["port"] == 443)
      #expect(added.json?["days_left"] == 20 && added.json?["certificate"] != .null, "it was looked at at once")
      let twice = try await call(.post, list, list, ["host": "https://mail.example.com/", "note": "x"], headers: key)
      #expect(twice.status == 201 && twice.json?["id"] == added.json?["id"])
      #expect(try await call(.post, list, list, ["host": "mail.example.com"]).status == 409)
      let wrong = try await call(.post, list, list, ["host": "a b", "port": 70_000, "colour": 1])
      #expect(wrong.status == 422 && wrong.fields == ["port", "colour"])
      let id = try #require(added.json?["id"]?.integer)
      let seen = try await call(.post, "\(list)/\(id)/probe", "\(one)/probe")
      #expect(seen.json?["certificate"]?["chain"]?.array?.count == 2 && seen.json?["days_left"] == 20)
      let read = try await call(.get, "\(list)/\(id)", one)
      #expect(read.json?["history"]?.array?.count == 1 && read.json?["certificate"]?["trust"] == "trusted")
      #expect(try await call(.get, list, list).json?["items"]?.array?.count == 1)
      let all = try await call(.get, "/api/v1/certificates?within=30d", "/api/v1/certificates")
      #expect(all.json?["items"]?.array?.map { $0["key"] } == [.string("hosts/\(id)")])
      #expect(all.json?["items"]?.array?.first?["kind"] == "host")
      let noted = try await call(.patch, "\(list)/\(id)", one, ["note": "y"])
      #expect(noted.json?["note"] == "y" && noted.json?["certificate"] != .null)
      let moved = try await call(.patch, "\(list)/\(id)", one, ["host": "b.example", "port": 25])
      #expect(moved.json?["server_name"] == "b.example")
      #expect(moved.json?["certificate"]?["chain"]?.array?.count == 2, "the new address was looked at at once")
      #expect(try await call(.patch, "\(list)/\(id)", one, [:]).status == 422)
      #expect(try await call(.delete, "\(list)/\(id)", one).status == 204)
      #expect(try await call(.get, "\(list)/\(id)", one).status == 404)
    }
  }
}

@Suite("Pages and API: everything that ends")
struct ExpiryListPageTests {
  /// Files that end each on a day of its own, the first one ago.
  private func fill(_ scene: ConsoleScene, _ count: Int) async throws {
    let sealer = scene.store.sealer
    try await scene.store.write { database in
      for number in 0..<count {
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "N\(number)", fileName: "f")
        details.notAfter = ConsoleScene.noon + Double(number - 1) * 86_400 + 60
        details.topics = ["com.example.t\(number)"]
        try TrackedCertificate.add(
          database, details, material: [], sealer: sealer, by: "test", now: ConsoleScene.noon)
      }
    }
  }

  @Test("it is read page by page, counted by band, searched, and drawn week by week")
  func pages() async throws {
    try await ConsoleScene.with { scene in
      try await fill(scene, 120)
      try await scene.store.write { try HostSamples.add($0) }
      var anna = try await scene.signIn(.viewer)
      var names: [String] = []
      var target: String? = "/certificates"
      while let next = target {
        let page = ScenePage(try await anna.get(next))
        names += page.links.filter { $0.wholeMatch(of: /\/(certificates|hosts)\/\d+/) != nil }
        target = page.tags.first { $0.attributes["rel"] == "next" }?.attributes["href"]?.replacing("&amp;", with: "&")
      }
      #expect(names.count == 123 && Set(names).count == 123)
      #expect(names.first == "/hosts/3", "what nobody knows stands first")
      let page = ScenePage(try await anna.get("/certificates"))
      for text in ["Expired: 1", "Expires very soon: 7", "Expires soon: 25", "Check failed: 2", "Valid: 89", "Today"] {
        #expect(page.text.contains(text), "\(text)")
      }
      let found = ScenePage(try await anna.get("/certificates?q=com.example.t77"))
      #expect(found.text.contains("N77") && !found.text.contains("N78"))
      let soon = ScenePage(try await anna.get("/certificates?band=soon"))
      #expect(soon.text.contains("N9") && !soon.text.contains("N50") && soon.text.contains("mail.example.com"))
      let week = ScenePage(try await anna.get("/certificates?from=2026-12-01&before=2026-12-08"))
      #expect(week.text.contains("Expires on or after 1 Dec 2026") && week.text.contains("N14"))
      #expect(!week.text.contains("N30"))
    }
  }

  @Test("files with one name are told apart by their serial numbers, and replaced ones have a count of their own")
  func sameName() async throws {
    try await ConsoleScene.with { scene in
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        for (serial, name) in [("0A1111AA", "Shop"), ("0A2222BB", "Shop"), ("0A3333CC", "Shop"), ("0A4444DD", "Mail")] {
          var details = TrackedCertificate.Details(kind: "apns_key", name: name, fileName: "f")
          details.serial = serial
          try TrackedCertificate.add(
            database, details, material: [], sealer: sealer, by: "test", now: ConsoleScene.noon)
        }
        try database.run("UPDATE certificates SET replaced_by = 1, replaced_at = ? WHERE id = 3", ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.viewer)
      func rows(_ page: ScenePage) -> Set<String> {
        Set(page.links.filter { $0.wholeMatch(of: /\/certificates\/\d+/) != nil })
      }
      let page = ScenePage(try await anna.get("/certificates"))
      #expect(rows(page).count == 4)
      #expect(page.text.contains("Never expires: 3") && page.text.contains("Replaced: 1"), "as many as rows")
      for end in ["1111AA", "2222BB", "3333CC"] { #expect(page.text.contains("serial …\(end)"), "\(end)") }
      #expect(!page.text.contains("4444DD"), "its name is enough")
      let replaced = ScenePage(try await anna.get("/certificates?band=replaced"))
      #expect(rows(replaced) == ["/certificates/3"])
      try await scene.served(to: anna) { served in
        let export = try await served.get("/certificates.csv?band=replaced")
        #expect(export.contains("certificates/3") && !export.contains("certificates/1"))
      }
    }
  }

  @Test("a row has two lines: what the file is below its name, the state below its days, and two of its uses at most")
  func twoLines() async throws {
    try await ConsoleScene.with { scene in
      let sealer = scene.store.sealer
      let apps = [try await scene.addApp(), try await scene.addApp("com.example.news", name: "News")]
      try await scene.store.write { database in
        try HostSamples.add(database)
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Push", fileName: "push.p12")
        details.topics = ["com.example.shop"]
        details.notAfter = ConsoleScene.noon.addingTimeInterval(86_400 * 5 + 60)
        let id = try TrackedCertificate.add(
          database, details, material: [], sealer: sealer, by: "test", now: ConsoleScene.noon
        ).id
        for app in apps {
          for environment in Environment.allCases {
            try Credential.bind(
              database, app: app.id, provider: .apns, environment: environment, certificate: id, endpoint: "simulator",
              now: ConsoleScene.noon)
          }
        }
      }
      var anna = try await scene.signIn(.viewer)
      let page = try await anna.get("/certificates").text
      let rows = page.components(separatedBy: "<tr>").compactMap { $0.components(separatedBy: "</tr>").first }
        .filter { $0.contains("class=\"title\"") }.map { ScenePage($0) }
      #expect(rows.count == 4)
      let push = try #require(rows.first { $0.links == ["/certificates/1"] })
      let lines = push.tags.filter { $0.name == "p" }.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
      #expect(lines.count == 5 && lines[0] == "APNs certificate · com.example.shop" && lines[1] == "5 days", "\(lines)")
      #expect(push.text.contains("Expires very soon") && lines[3].contains("(0 devices)"), "\(lines)")
      #expect(lines[4] == "and 3 more")
      for row in rows { #expect(row.texts(class: "state").count <= 1, "\(row.text)") }
      #expect(rows.contains { $0.text.contains("Check failed") })
    }
  }

  @Test("the API narrows down by band, kind, app and time, page by page")
  func api() async throws {
    try await ConsoleScene.with { scene in
      try await fill(scene, 12)
      try await scene.addApp()
      func names(_ query: String) async throws -> [String] {
        let answer = try await scene.call(.get, "/api/v1/certificates?\(query)", as: .viewer)
        return try #require(answer.json?["items"]?.array).compactMap { $0["name"]?.string }
      }
      #expect(try await names("band=expired") == ["N0"])
      #expect(try await names("band=urgent").count == 7)
      #expect(try await names("band=soon&within=10d") == ["N8", "N9", "N10"])
      #expect(try await names("kind=host") == [])
      #expect(try await names("app=\(ConsoleScene.bundleID)") == [])
      #expect(try await names("q=t11") == ["N11"])
      let first = try await scene.call(.get, "/api/v1/certificates?limit=5", as: .viewer)
      let next = try #require(first.json?["next"]?.string)
      #expect(try await names("limit=5&cursor=\(next)") == ["N5", "N6", "N7", "N8", "N9"])
      for bad in ["cursor=x", "cursor=1.x.2", "band=red", "kind=x"] {
        #expect(try await scene.call(.get, "/api/v1/certificates?\(bad)", as: .viewer).status == 422, "\(bad)")
      }
    }
  }

  @Test("a scheduled push after the last day is told on the page, in the API, beside the send form and on the Overview")
  func forecast() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let id = try await CertificateSamples.keep(scene)
      try await scene.store.write { database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: id, endpoint: "apple",
          now: ConsoleScene.noon)
        for days in [300.0, 364, 366, 400] {
          var draft = PushDraft(
            app: app.bundleID, environment: .production, platforms: [.ios], audience: .all,
            notification: PushNotification())
          draft.notification.title = "In \(Int(days)) days"
          draft.sendAt = ConsoleScene.noon + days * 86_400
          try Push.create(
            database, NewPush(draft, app: app, source: .api, by: "lin"), now: ConsoleScene.noon)
        }
      }
      for (uid, count) in [("endless", nil), ("short", 3)] as [(String, Int?)] {
        try await scene.store.write { database in
          var draft = PushDraft(
            app: app.bundleID, environment: .production, platforms: [.ios], audience: .all,
            notification: PushNotification())
          draft.notification.title = "Daily \(uid)"
          draft.recurrence = RepeatRule(.daily, minute: 540, zone: try NamedZone("Europe/Berlin"))
          draft.recurrence?.count = count
          var new = NewSchedule(draft, app: app, source: .web, by: "lin")
          new.uid = uid
          try Schedule.create(database, new, now: ConsoleScene.noon)
        }
      }
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/certificates/\(id)"))
      #expect(page.text.contains("4 scheduled, 2 repeating"))
      #expect(page.links.contains("/schedules/endless") && page.links.contains("/schedules/short"))
      #expect(page.text.contains("every day at 09:00, Europe/Berlin"))
      #expect(page.text.contains("first failure 21 Nov 2027, 08:00 · 30 times in the 30 days after expiry."))
      #expect(!page.text.contains("repeating push continues"), "a year ahead that is no news")
      #expect(page.text.contains("2 pushes are scheduled after it expires."))
      #expect(page.text.contains("In 300 days") && page.text.contains("In 400 days"))
      let one = try await scene.call(.get, "/api/v1/certificates/\(id)", as: .viewer)
      #expect(one.json?["forecast"]?.array?.count == 2)
      #expect(one.json?["forecast_repeating"]?.array?.map { $0["schedule"] } == ["endless"])
      #expect(one.json?["used_by"]?.array?.first?["schedules"] == 2)
      #expect(try OpenAPIDocument().errors(one, to: .init(method: "GET", path: "/api/v1/certificates/{id}")) == [])
      #expect(ScenePage(try await anna.get("/")).text.contains("2 pushes are scheduled after"))
      func findings(_ days: Double) async throws -> [String] {
        let answer = try await scene.call(
          .post, "/api/v1/pushes", as: .operator,
          json: [
            "app": .string(app.bundleID), "environment": "production", "platforms": ["ios"], "audience": "all",
            "notification": ["title": "x"], "options": ["dry_run": true, "allow_empty_audience": true],
            "send_at": .time(ConsoleScene.noon + days * 86_400),
          ])
        return try #require(answer.json?["findings"]?.array).compactMap { $0["code"]?.string }
      }
      #expect(try await findings(366).contains("lint.credential_ends"))
      #expect(try await !findings(364).contains("lint.credential_ends"))
      #expect(!ScenePage(try await anna.get("/")).text.contains("repeating"))
      scene.clock.advance(345 * 86_400)
      anna = try await scene.signIn(.viewer)
      let near = ScenePage(try await anna.get("/certificates/\(id)"))
      #expect(near.text.contains("1 repeating push continues after it expires. 30 times in the 30 days after expiry."))
      #expect(ScenePage(try await anna.get("/")).text.contains("1 repeating push continues after"))
      scene.clock.advance(21 * 86_400)
      anna = try await scene.signIn(.operator)
      let over = ScenePage(try await anna.get("/certificates/\(id)"))
      #expect(over.text.contains("although it has expired. 30 times in the next 30 days."))
      #expect(ScenePage(try await anna.get("/")).text.contains("1 repeating push is still active although"))
      #expect(try await scene.call(.get, "/metrics", as: .viewer).text.contains("signalbox_forecast_schedules 1\n"))
    }
  }
}
