import Delivery
import Foundation
import Glibc
import JSON
import Logging
import OpenSSL
import Model
import Reactor
import Simulator
import Store
import TestSupport
import Testing

@testable import Console
@testable import signalbox

@Suite("signalbox send")
struct SendCommandTests {
  private let app = "com.example.shop"

  /// An app with a key whose pushes go to a simulator, and three phones: anna's with the tag `beta`, ben's, and one
  /// without the app.
  private func withSimulator(_ body: (CommandRunner, PushSimulator) async throws -> Void) async throws {
    try await CommandRunner.with { box in
      let simulator = try PushSimulator()
      let port = try await simulator.start().development.port
      await box.run("apps", "add", app, "--name", "Shop")
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      let added = await box.run(
        "certificates", "add", key, "--team-id", "TEAM123456", "--app", app, "--use-for", "development",
        "--endpoint", "127.0.0.1:\(port)", "--trust", try box.file("ca.pem", simulator.authorityPEM))
      #expect(added.code == 0, "\(added.errors)")
      var lines = ""
      for (name, rest) in [("anna", #","tags":["beta"]"#), ("ben", ""), ("gone", "")] {
        let phone = try simulator.phones.add(NewPhone(name: name, environment: .development, topic: app))
        lines += #"{"app":"\#(app)","environment":"development","platform":"ios","token":"\#(phone.token.hexadecimal)""#
        lines += #","alias":"\#(name)"\#(rest)}"# + "\n"
        if name == "gone" { _ = try simulator.phones.uninstall(phone.id, now: Date() + 5) }
      }
      #expect(await box.run("devices", "import", "-", "--format", "ndjson", input: lines, now: Date()).code == 0)
      do { try await body(box, simulator) } catch {
        await simulator.stop()
        throw error
      }
      await simulator.stop()
    }
  }

  private func send(_ box: CommandRunner, _ words: String..., input: String = "") async -> CommandResult {
    await box.run(["send", "--app", app, "--environment", "development"] + words, input: input, now: Date())
  }

  @Test("without a server it delivers by itself, and exits with 0 if every device was accepted")
  func delivered() async throws {
    try await withSimulator { box, simulator in
      let result = await send(box, "--tag", "beta", "--title", "Hello", "--body", "From cron", "--badge", "3")
      #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
      try #require(result.lines.count == 2, "one service says its figures once")
      #expect(result.lines[0].hasSuffix("com.example.shop development: finished, 1 of 1 device"))
      #expect(result.lines[1] == "       1  accepted")
      #expect(simulator.counters(.development).byStatus == [200: 1])
      let both = await send(box, "--alias", "anna", "--alias", "ben", "--body", "x", "--json")
      #expect(both.json?["counts"]?["accepted"] == 2 && both.json?["state"] == "finished")
      #expect(both.json?["source"] == "cli")
      let then = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) - 0.75)
      let words = ["send", "--app", app, "--environment", "development", "--tag", "beta", "--body", "x", "--json"]
      let timed = await box.run(words, now: then)
      #expect(timed.json?["created_at"]?.string?.hasSuffix(".250Z") == true, "as precise as started_at: \(timed)")
      let payload = try box.file("payload.json", #"{"aps":{"alert":"raw"}}"#)
      #expect(await send(box, "--alias", "ben", "--payload", payload).code == 0)
    }
  }

  @Test("a saved template is sent by its name with values; a missing or unknown place is named")
  func template() async throws {
    try await withSimulator { box, simulator in
      let store = try DataDirectory(box.data).open(now: Date())
      try store.writeSync { database in
        _ = try PushTemplate.save(
          database, name: "Shipped",
          MessageTemplate(json: ["notification": ["title": "Order {{order}}", "body": "On {{day}}"]]),
          by: NewAuditEntry(actor: "test", action: "", subject: ""), now: Date())
      }
      store.close()
      let sent = await send(
        box, "--alias", "anna", "--template", "shipped", "--value", "order=48213", "--value", "day=Tuesday = today")
      #expect(sent.code == 0, "\(sent)")
      var wanted = NotificationQuery()
      (wanted.content.title, wanted.content.body) = ("Order 48213", "On Tuesday = today")
      #expect(simulator.phones.arrivals(wanted).count == 1)
      let missing = await send(box, "--alias", "anna", "--template", "Shipped", "--value", "ordre=1")
      #expect(missing.code == 1 && missing.errors.contains("Did you mean “order”?"), "\(missing)")
      #expect(missing.errors.contains("The template needs a value for “day”."))
      let none = await send(box, "--alias", "anna", "--template", "None")
      #expect(none.code == 1 && none.errors.contains("There is no template “None”."), "\(none)")
      for words in [["--value", "a=b", "--body", "x"], ["--template", "Shipped", "--value", "=b"]] {
        let wrong = await box.run(
          ["send", "--app", app, "--environment", "development", "--alias", "anna"] + words, now: Date())
        #expect(wrong.code == 64, "\(words): \(wrong)")
      }
    }
  }

  @Test("--localize and --localizations give each device the text in its language")
  func localized() async throws {
    try await withSimulator { box, simulator in
      let store = try DataDirectory(box.data).open(now: Date())
      try store.writeSync { database in
        let app = try App.named(app, database)
        for (alias, language) in [("anna", "zh-Hans-CN"), ("ben", "de-DE")] {
          guard let phone = simulator.phones.phones().first(where: { $0.name == alias }) else { continue }
          var input = AppRegistration(app: app.id, Registration(of: phone))
          input.details = DeviceDetails(language: language)
          _ = try AppRegistration.register(database, [input], now: Date())
        }
      }
      store.close()
      let file = try box.file("texts.json", #"{"zh-Hans": {"title": "你好"}}"#)
      let result = await send(
        box, "--alias", "anna", "--alias", "ben", "--title", "Hello", "--body", "x", "--localizations", file,
        "--localize", "de:title=Hallo: Welt = alles", "--localize", "zh-Hans:body=内容", "--json")
      #expect(result.code == 0, "\(result)")
      let again = try DataDirectory(box.data).open(now: Date())
      let draft = try again.readSync { try Push.list($0, PushFilter(), limit: 1).items.first?.draftJSON } ?? ""
      again.close()
      #expect(draft.contains(#""zh-Hans":{"body":"内容","title":"你好"}"#), "\(draft)")
      let shown = simulator.phones.arrivals(NotificationQuery()).map { "\($0.phone.name) \($0.notification.alert)" }
      #expect(shown.sorted().count == 2 && shown.contains { $0.hasPrefix("anna") && $0.contains("你好") })
      #expect(shown.contains { $0.hasPrefix("ben") && $0.contains("Hallo: Welt = alles") }, "\(shown)")
      let wrong = await send(box, "--alias", "ben", "--body", "x", "--localize", "german:body=y")
      #expect(wrong.code == 64 && wrong.errors.contains("--localize: "), "\(wrong)")
      #expect(wrong.errors.contains("Did you mean “de”?"), "\(wrong)")
      for words in [["de=y"], ["de:sound=y"], ["de:body=y", "--localize", "de:body=z"]] {
        let result = await box.run(
          ["send", "--app", app, "--environment", "development", "--alias", "ben", "--body", "x", "--localize"] + words,
          now: Date())
        #expect(result.code == 64, "\(words): \(result)")
      }
      #expect(await send(box, "--alias", "ben", "--payload", "-", "--localizations", "-", input: "{}").code == 64)
    }
  }

  @Test("the part for Android comes from a file, and is checked as the API checks it")
  func android() async throws {
    try await withSimulator { box, _ in
      let file = try box.file("android.json", #"{"notification":{"channel_id":"news"}}"#)
      let sent = await send(box, "--alias", "ben", "--body", "x", "--android", file)
      #expect(sent.code == 0, "\(sent)")
      let store = try DataDirectory(box.data).open(now: Date())
      let draft = try store.readSync { try Push.list($0, PushFilter(), limit: 1).items.first?.draftJSON }
      store.close()
      #expect(draft?.contains(#""channel_id":"news""#) == true, "\(draft ?? "")")
      let wrong = await send(box, "--alias", "ben", "--body", "x", "--android", "-", input: #"{"notifications":{}}"#)
      #expect(wrong.code == 1 && wrong.errors.contains("--android notifications: "), "\(wrong.errors)")
      #expect(await send(box, "--alias", "ben", "--payload", "-", "--android", "-", input: "{}").code == 64)
    }
  }

  @Test("a device that is refused is told with reason and remedy, and the exit code is 1")
  func refused() async throws {
    try await withSimulator { box, _ in
      let result = await send(box, "--broadcast", "--body", "x")
      #expect(result.code == 1)
      #expect(result.lines.first?.hasSuffix("finished, 3 of 3 devices") == true)
      #expect(result.output.contains("       2  accepted\n"))
      #expect(result.output.contains("       1  unregistered  Unregistered: "))
      let again = await send(box, "--alias", "gone", "--body", "x")
      #expect(again.code == 1 && again.errors.contains("1 device matches, but it is retired"))
      #expect(again.errors.contains("--allow-empty-audience"))
      let allowed = await send(box, "--alias", "gone", "--body", "x", "--allow-empty-audience")
      #expect(allowed.code == 0 && allowed.output.contains("reached nobody"), "\(allowed)")
    }
  }

  @Test("a dry run checks everything and sends nothing")
  func dryRun() async throws {
    try await withSimulator { box, simulator in
      let result = await send(box, "--broadcast", "--body", "x", "--dry-run")
      #expect(result.code == 0 && result.output.contains("       3  skipped  DryRun: "), "\(result)")
      #expect(result.lines.first?.hasSuffix("dry run, finished, 3 of 3 devices; nothing is sent") == true)
      let later = await send(box, "--broadcast", "--body", "x", "--dry-run", "--at", "2100-12-01T09:00:00Z")
      #expect(later.output.contains("dry run, scheduled for 2100-12-01T09:00:00Z; nothing is sent then"), "\(later)")
      let server = DataDirectory(box.data)
      let isServer = try server.lock()
      #expect(isServer)
      let queued = await send(box, "--broadcast", "--body", "x", "--dry-run")
      #expect(queued.code == 0 && queued.output.contains("and nothing is sent"), "\(queued)")
      #expect(!queued.output.contains("delivers"), "\(queued)")
      server.unlock()
      #expect(simulator.counters(.development).requests == 0)
    }
  }

  @Test("a push that cannot be sent at all is refused, and says why")
  func noCredential() async throws {
    try await withSimulator { box, _ in
      let line =
        #"{"app":"\#(app)","environment":"production","platform":"ios","token":"\#(String(repeating: "ab", count: 32))"}"#
      await box.run("devices", "import", "-", "--format", "ndjson", input: line)
      let result = await box.run("send", "--app", app, "--environment", "production", "--broadcast", "--body", "x")
      #expect(result.code == 1 && result.errors.contains("has no credential for APNs in production, so"), "\(result)")
    }
  }

  @Test("a misspelt tag that reaches nobody is told with the nearest one; warnings do not keep a push back")
  func remarks() async throws {
    try await withSimulator { box, _ in
      let refused = await send(box, "--tag", "betaa", "--body", "x")
      #expect(refused.code == 1 && refused.errors.contains("Did you mean “beta”?"), "\(refused)")
      #expect(refused.errors.contains("--allow-empty-audience"))
      let sent = await send(box, "--tag", "beta", "--tag", "betaa", "--body", "x")
      #expect(sent.code == 0 && sent.errors.contains("warning: No device of the app has the tag “betaa”."), "\(sent)")
    }
  }

  @Test("the audience is said, and only in one way; what is wrong is told by the option that was typed")
  func wrong() async throws {
    try await withSimulator { box, simulator in
      #expect(await send(box, "--body", "x").code == 64)
      #expect(await send(box, "--body", "x", "--broadcast", "--tag", "beta").code == 64)
      #expect(await box.run("send", "--app", app, "--broadcast", "--body", "x").code == 64)
      #expect(await send(box, "--broadcast", "--body", "x", "--badge", "many").code == 64)
      let empty = await send(box, "--broadcast")
      #expect(empty.code == 64 && empty.errors.contains("Choose what to send with --title, "), "\(empty.errors)")
      let priority = await send(box, "--broadcast", "--body", "x", "--priority", "urgent")
      #expect(priority.code == 64 && priority.errors.contains("error: --priority: Must be one of high, normal, low"))
      let large = await send(box, "--broadcast", "--body", String(repeating: "x", count: 5000))
      #expect(large.code == 1)
      let token = await send(box, "--device", "xyz", "--body", "x")
      #expect(token.code == 64 && token.errors.contains("error: --device: "), "\(token.errors)")
      for (option, value) in [
        ("--at", "soon"), ("--rate", "0"), ("--time-to-live", "9999999999"), ("--push-type", "x"), ("--topic", "a b"),
      ] {
        let audience = option == "--topic" ? [] : ["--broadcast"]
        let refused = await box.run(
          ["send", "--app", app, "--environment", "development", "--body", "x", option, value] + audience, now: Date())
        #expect(refused.code == 64 && refused.errors.contains("error: \(option): "), "\(refused.errors)")
      }
      let past = await send(box, "--broadcast", "--body", "x", "--at", "2020-01-01T00:00:00Z")
      #expect(past.code == 1 && past.errors.contains("error: --at: This time is too far in the past"), "\(past.errors)")
      let segment = await send(box, "--segment", "none", "--body", "x")
      #expect(segment.code == 1 && segment.errors.contains("error: --segment: "), "\(segment.errors)")
      let nowhere = await send(box, "--broadcast", "--payload", box.folder + "/none.json")
      #expect(nowhere.errors == "signalbox: error: \(box.folder)/none.json: No such file or directory\n")
      let json = await send(box, "--broadcast", "--payload", "-", input: "{")
      #expect(json.code == 1 && json.errors.hasPrefix("signalbox: error: -: "))
      #expect(simulator.counters(.development).requests == 0)
      let store = try DataDirectory(box.data).open(now: Date())
      defer { store.close() }
      #expect(try store.readSync { try Push.list($0, PushFilter(), limit: 10).items.isEmpty })
    }
  }

  @Test("for later it is kept for a server; what repeats becomes a schedule, with its next times")
  func later() async throws {
    try await withSimulator { box, simulator in
      let later = await send(box, "--alias", "anna", "--body", "x", "--at", "2100-12-01T09:00:00Z", "--rate", "5")
      #expect(later.code == 0, "\(later)")
      #expect(later.output.contains("scheduled for 2100-12-01T09:00:00Z; the server sends it then if it is running"))
      #expect(simulator.counters(.development).requests == 0)
      #expect(later.errors.contains("no server is running with this data folder"))
      let weekly = await send(
        box, "--alias", "anna", "--body", "x", "--every", "week", "--on", "mon", "--time", "09:00", "--time-zone",
        "Europe/Berlin", "--at", "2100-12-01T00:00:00Z", "--count", "2", "--spread-minutes", "5", "--at-most-once")
      #expect(weekly.code == 0, "\(weekly)")
      #expect(
        weekly.lines.dropFirst() == [
          "  2100-12-06 09:00 Europe/Berlin  (2100-12-06T08:00:00Z)",
          "  2100-12-13 09:00 Europe/Berlin  (2100-12-13T08:00:00Z)",
        ])
      let json = await send(box, "--broadcast", "--body", "x", "--every", "day", "--time", "09:00", "--json")
      #expect(json.json?["state"] == "active" && json.json?["next"]?.array?.count == 5)
      let zone = await send(
        box, "--broadcast", "--body", "x", "--every", "day", "--time", "09:00", "--time-zone", "berlin")
      #expect(zone.code == 64 && zone.errors.contains("error: --time-zone: "), "\(zone)")
      #expect(zone.errors.contains("Did you mean “Europe/Berlin”?"))
      #expect(await send(box, "--broadcast", "--body", "x", "--time", "09:00").code == 64)
      let twice = await send(box, "--broadcast", "--body", "x", "--rate", "5", "--spread-minutes", "5")
      #expect(twice.code == 64 && twice.errors.contains("error: --spread-minutes: "))
      let listed = await box.run("schedules", "list", "--json", now: Date())
      let uids = listed.json?.array?.compactMap { $0["id"]?.string } ?? []
      #expect(uids.count == 2 && listed.json?.array?.first?["id"] == json.json?["id"])
      #expect(await box.run("schedules", "list", now: Date()).output.contains("2100-12-06T08:00:00Z"))
      for (action, code) in [("resume", 1), ("pause", 0), ("pause", 1), ("resume", 0), ("cancel", 0), ("cancel", 1)] {
        #expect(await box.run("schedules", action, uids.first ?? "", now: Date()).code == Int32(code), "\(action)")
      }
      #expect(await box.run("schedules", "cancel", "none", now: Date()).errors.contains("Schedule none not found"))
      let store = try DataDirectory(box.data).open(now: Date())
      defer { store.close() }
      #expect(try store.readSync { try Schedule.list($0, limit: 10).items.count } == 2)
      #expect(try store.readSync { try Push.list($0, PushFilter(), limit: 10).items.count } == 1)
    }
  }

  /// An app whose key goes to `port`, and one phone.
  private func withEndpoint(
    _ port: UInt16, trust: String? = nil, _ body: (CommandRunner) async throws -> Void
  ) async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", app, "--name", "Shop")
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      var words = [
        "certificates", "add", key, "--team-id", "TEAM123456", "--app", app, "--use-for", "development",
        "--endpoint", "127.0.0.1:\(port)",
      ]
      if let trust { words += ["--trust", try box.file("ca.pem", trust)] }
      let added = await box.run(words)
      #expect(added.code == 0, "\(added.errors)")
      let line =
        #"{"app":"\#(app)","environment":"development","platform":"ios","token":"\#(String(repeating: "ab", count: 32))"}"#
      await box.run("devices", "import", "-", "--format", "ndjson", input: line)
      try await body(box)
    }
  }

  private func isLeft(_ result: CommandResult, because cause: String) -> Bool {
    let lines = result.errors.split(separator: "\n")
    return result.code == 75 && result.output.contains("sending, 0 of 1 device")
      && lines.first?.hasPrefix("signalbox: the push service is unreachable: ") == true
      && lines.first?.contains(cause) == true
      && lines.last?.hasPrefix("signalbox: 1 device is left") == true
      && lines.last?.contains("; sending continues when a server is started: signalbox serve --data ") == true
  }

  @Test("a service that refuses connections is told at once; --timeout is obeyed, and 75 says that something is left")
  func outOfReach() async throws {
    let refusing = try RefusingPort()
    defer { refusing.close() }
    let port = refusing.address.port
    try await withEndpoint(port) { box in
      for words in [["--wait"], [], ["--wait", "--time-to-live", "3600"]] {
        let result = await box.run(
          ["send", "--app", app, "--environment", "development", "--broadcast", "--body", "x", "--timeout", "6"]
            + words, now: Date())
        #expect(isLeft(result, because: "127.0.0.1:\(port)"), "\(words): \(result)")
      }
    }
  }

  @Test("who does not wait gives a service up that stays out of reach, and the push stays for the next server")
  func givenUp() async throws {
    let refusing = try RefusingPort()
    defer { refusing.close() }
    try await withEndpoint(refusing.address.port) { box in
      let directory = DataDirectory(box.data)
      let store = try directory.open(now: Date())
      defer { store.close() }
      let push = try store.writeSync { database in
        let shop = try App.named(app, database)
        let draft = try PushDraft(
          json: try JSONValue(
            parsing: Data(
              #"{"app":"\#(app)","environment":"development","audience":"all","notification":{"body":"x"}}"#.utf8)))
        return try Push.create(database, NewPush(draft, app: shop, source: .cli, by: "cli"), now: Date())
      }
      let io = CommandIO(
        write: { _ in }, writeError: { _ in }, read: { _ in Data() }, isWatched: false, environment: [:],
        now: { Date() })
      var sending = Sending(directory: directory, store: store, io: io, isWaiting: false, limit: nil)
      sending.patience = .milliseconds(200)
      let left = try await sending.carryOut(push.id, expected: 1)
      #expect(!left.isServed && left.push.state == .sending && left.push.counts.total == 0)
    }
  }

  @Test("a signal stops it as a time limit does: 75, and what is left")
  func stopped() async throws {
    try await withSimulator { box, simulator in
      simulator.faults(.development).set(try Faults(parsing: "silent=1"))
      let child = try Child(
        [
          try Child.signalbox(), "send", "--app", app, "--environment", "development", "--alias", "anna", "--body", "x",
          "--wait", "--data", box.data,
        ], in: box.folder)
      try await eventually("the push is under way") { simulator.counters(.development).requests > 0 }
      child.send(SIGTERM)
      #expect(await child.status() == 75, "\(child.errorText)")
      #expect(child.errorText.contains("1 device is left"), "\(child.errorText)")
    }
  }

  @Test("a service whose certificate is not trusted, is another host's, or has expired, is told with that cause")
  func wrongCertificate() async throws {
    let other = try CertificateAuthority(
      subject: [.commonName("Other")], notBefore: Date() - 86_400, notAfter: Date() + 86_400)
    var (elsewhere, late) = (PushSimulator.Configuration(), PushSimulator.Configuration())
    elsewhere.hostNames = ["elsewhere.example.com"]
    late.now = { Date() - 86_400 * 5000 }
    for (configuration, trusts, cause) in [
      (PushSimulator.Configuration(), false, "by a certificate authority that is not trusted here"),
      (elsewhere, true, "127.0.0.1"),
      (late, true, "expired"),
    ] {
      let simulator = try PushSimulator(configuration: configuration)
      let port = try await simulator.start().development.port
      try await withEndpoint(port, trust: trusts ? simulator.authorityPEM : other.certificate.pem) { box in
        let result = await send(box, "--broadcast", "--body", "x", "--wait", "--timeout", "8")
        #expect(isLeft(result, because: cause), "\(cause): \(result)")
      }
      await simulator.stop()
    }
  }

  @Test("devices that are to be sent to again are nobody's without a server: 75, and who has to be started")
  func sentToAgain() async throws {
    try await withSimulator { box, simulator in
      simulator.faults(.development).set(try Faults(parsing: "status=503"))
      let result = await send(box, "--alias", "anna", "--body", "x")
      #expect(result.code == 75, "\(result)")
      #expect(result.errors.hasPrefix("signalbox: 1 device is left, 1 to be retried, the first at "))
      #expect(
        result.errors.hasSuffix(
          "; sending continues when a server is started: signalbox serve --data "
            + "\(box.data)\n"))
      let later = await send(box, "--alias", "anna", "--body", "x", "--at", "2100-12-01T09:00:00Z")
      #expect(later.code == 0)
      #expect(
        later.errors == "signalbox: no server is running with this data folder; start one by then: "
          + "signalbox serve --data \(box.data)\n")
    }
  }

  @Test("the environment sends nothing: what to send, and to whom, is said on the command line alone")
  func environmentIsNoOrder() async throws {
    try await withSimulator { box, simulator in
      let environment = [
        "SIGNALBOX_BROADCAST": "1", "SIGNALBOX_TAG": "beta", "SIGNALBOX_ALIAS": "ben", "SIGNALBOX_TITLE": "No",
      ]
      let words = ["send", "--app", app, "--environment", "development", "--body", "x"]
      let nobody = await box.run(words, environment: environment, now: Date())
      #expect(nobody.code == 64 && nobody.errors.contains("Choose an audience"), "\(nobody)")
      let one = await box.run(words + ["--alias", "anna"], environment: environment, now: Date())
      #expect(one.code == 0 && simulator.counters(.development).requests == 1, "\(one)")
    }
  }

  @Test("beside a running server it leaves the push to that, and --wait waits for the end")
  func besideServer() async throws {
    try await withSimulator { box, simulator in
      let directory = DataDirectory(box.data)
      let store = try directory.open(readers: 2, now: Date())
      let isServer = try directory.lock()
      #expect(isServer)
      let queued = await send(box, "--alias", "anna", "--body", "x")
      #expect(queued.code == 0 && queued.output.contains("queued; the running server delivers it"))
      #expect(simulator.counters(.development).requests == 0)
      let tired = await send(box, "--alias", "anna", "--body", "x", "--wait", "--timeout", "0")
      #expect(tired.code == 75 && tired.output.contains("queued"))
      #expect(tired.errors == "signalbox: 1 device is left; the running server continues\n")

      let loop = try EventLoop(name: "test")
      let pool = BlockingPool(name: "test", threads: 1)
      let routes = CredentialRoutes(store: store, loop: loop, resolver: pool)
      let engine = DeliveryEngine(store: store, routes: routes, log: Logger(label: "test", sink: MemorySink()))
      let running = Task { try await engine.run() }
      let waited = await send(box, "--alias", "ben", "--body", "x", "--wait", "--timeout", "60")
      #expect(waited.code == 0 && waited.output.contains("finished, 1 of 1 device\n"), "\(waited)")
      engine.stop()
      try await running.value
      #expect(simulator.counters(.development).byStatus == [200: 3])
      routes.stop()
      loop.stop()
      pool.stop()
      store.close()
      directory.unlock()
    }
  }
}
