import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import Reactor
import Store
import Testing

@testable import signalbox

@Suite("signalbox apps, users, tokens, certificates")
struct AdministrationTests {
  @Test("every command has help, and wrong usage ends with 64 and says how it is called")
  func usage() async throws {
    try await CommandRunner.with { box in
      let help = await box.run("--help")
      #expect(help.code == 0 && help.output.contains("check-certificates") && help.output.contains("SUBCOMMANDS"))
      #expect(await box.run("--version").output == Signalbox.version + "\n")
      #expect(await box.run("devices", "import", "-h").output.contains("env: SIGNALBOX_DATA"))
      let wrong = await box.run("devices", "imprt")
      #expect(wrong.code == 64 && wrong.output.isEmpty)
      #expect(
        wrong.errors == """
          signalbox: error: Unknown command “imprt”. Did you mean “import”?
          See 'signalbox devices --help'.

          """)
      #expect(await box.run().code == 64)
      #expect(await box.run("check-certificates", "--within", "soon").code == 64)
      let nowhere = await box.run("apps", "list", "--data", "")
      #expect(nowhere.code == 64 && nowhere.errors.contains("for --data <dir>: it is empty."), "\(nowhere)")
    }
  }

  @Test("without a database a command that only looks fails and says so, and makes nothing")
  func nothingThere() async throws {
    try await CommandRunner.with { box in
      for words in [
        ["apps", "list"], ["users", "list"], ["tokens", "list"], ["devices", "list"], ["certificates", "list"],
      ] {
        let result = await box.run(words)
        #expect(result.code == 1)
        #expect(
          result.errors
            == "signalbox: error: \(box.data)/signalbox.sqlite not found. Set the data folder with --data or "
            + "SIGNALBOX_DATA.\n")
      }
      #expect(!FileManager.default.fileExists(atPath: box.data))
    }
  }

  @Test("a database that this user cannot reach is not said to be missing")
  func unreachable() async throws {
    try await CommandRunner.with { box in
      // Permissions do not stop root, but a link to itself does.
      try FileManager.default.createDirectory(atPath: box.data, withIntermediateDirectories: true)
      let database = box.data + "/signalbox.sqlite"
      try FileManager.default.createSymbolicLink(atPath: database, withDestinationPath: database)
      let error = SystemError("open \(database)", number: ELOOP).description
      let remedy = "Check that this user can write to the data folder, or choose another one with --data."
      let list = await box.run("apps", "list")
      #expect(list.code == 1 && list.errors == "signalbox: error: \(error). \(remedy)\n", "\(list)")
      let check = await box.run("check-certificates")
      #expect(check.code == 3 && check.errors == list.errors, "\(check)")
      let doctor = await box.run("doctor")
      #expect(doctor.code == 1 && doctor.output.contains("ERROR    database: \(error). Fix: \(remedy)"), "\(doctor)")
      #expect(!doctor.output.contains("signalbox serve creates it"))
    }
  }

  @Test(
    "an empty list says on standard error what to do next, and nothing but results on standard output",
    arguments: [
      (["apps", "list"], "signalbox apps add"), (["devices", "list"], "signalbox devices import"),
      (["certificates", "list"], "signalbox certificates add"), (["certificates", "hosts"], "certificates watch"),
      (["certificates", "requests"], "signalbox certificates request"), (["tokens", "list"], "signalbox tokens add"),
      (["users", "list"], "signalbox users add"), (["webhooks", "list"], "Event webhooks"),
      (["schedules", "list"], "signalbox send"), (["smoke", "--list"], "in the console"),
    ])
  func nothing(words: [String], next: String) async throws {
    try await CommandRunner.with { box in
      try DataDirectory(box.data).open(creating: true, now: CommandRunner.noon).close()
      let text = await box.run(words)
      #expect(text.code == 0 && text.errors.hasPrefix("signalbox: no ") && text.errors.contains(next), "\(text)")
      #expect(text.lines.count == 1, "the headings")
      let json = await box.run(words + ["--json"])
      #expect(json.json == [] && json.errors == text.errors, "\(json)")
    }
  }

  @Test("a check of nothing prints nothing, and says what to add")
  func nothingToCheck() async throws {
    try await CommandRunner.with { box in
      try DataDirectory(box.data).open(creating: true, now: CommandRunner.noon).close()
      let check = await box.run("check-certificates", "--no-probe")
      #expect(check.code == 0 && check.output.isEmpty && check.errors.contains("certificates add <file>"), "\(check)")
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      await box.run("certificates", "add", key, "--team-id", "TEAM123456")
      let filled = await box.run("check-certificates", "--no-probe")
      #expect(filled.lines.count == 1 && filled.errors.isEmpty, "\(filled)")
    }
  }

  @Test("an address that is no URL, and a name that is no email address, are wrong usage")
  func wrongPeople() async throws {
    try await CommandRunner.with { box in
      let words = ["users", "add", "anna@example.com", "--role", "admin"]
      for address in [
        "push.example.com", "foo", "ftp://push.example.com", "https://push.example.com/a%20b",
        "https://push.example.com/a//b", "https://push.example.com/../a",
        "https://push.example.com?a=b", "https://push.example.com/#top", "https://anna@push.example.com",
      ] {
        let wrong = await box.run(words + ["--address", address])
        #expect(wrong.code == 64 && wrong.errors.contains("--address"), "\(wrong.errors)")
      }
      let nameless = await box.run("users", "add", "anna", "--role", "admin")
      #expect(nameless.code == 64 && nameless.errors.contains("error: <name>: Enter a valid email address"))
      #expect(await box.run(words + ["--address", "https://push.example.com"]).code == 0)
      let again = await box.run(words)
      #expect(again.code == 1 && again.errors.hasPrefix("signalbox: error: anna@example.com is already"), "\(again)")
      // A slash at the end is no path.
      let link = await box.run("users", "link", "anna@example.com", "--address", "https://push.example.com:8443/")
      #expect(link.output.contains("https://push.example.com:8443/") && !link.output.contains("8443//"), "\(link)")
      let below = await box.run("users", "link", "anna@example.com", "--address", "https://example.com/ops/push/")
      #expect(below.output.contains("https://example.com/ops/push/session/setup#token="), "\(below)")
    }
  }

  @Test("a second step is required, and no longer, from the command line")
  func secondStep() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("users", "add", "anna@example.com", "--role", "admin").code == 0)
      let set = await box.run("users", "require-second-step", "everybody", "--trust-provider")
      #expect(set.code == 0 && set.output == "Two-step verification is required of everybody.\n")
      #expect(
        await box.run("users", "require-second-step", "nobody").output
          == "Two-step verification is required of nobody.\n")
      #expect(await box.run("users", "require-second-step", "some").code == 64)
      let store = try Store.open(path: box.data + "/signalbox.sqlite", sealer: SealingKey(), now: Date())
      defer { store.close() }
      let entries = try await store.read {
        try AuditEntry.list($0, .init(action: "settings.second_step"), limit: 10).items.map(\.entry)
      }
      #expect(entries.map { $0.detail?["after"]?["required"]?.string } == ["nobody", "everybody"])
      #expect(entries.last?.detail?["after"]?["provider"] == true)
    }
  }

  @Test("the data folder and its files are for their owner alone; without the key nothing is opened")
  func files() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("apps", "add", "com.example.shop", "--name", "Shop").code == 0)
      for (path, mode) in [("", 0o700), ("/secret.key", 0o600), ("/signalbox.sqlite", 0o600)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: box.data + path)
        #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
      }
      try FileManager.default.removeItem(atPath: box.data + "/secret.key")
      let result = await box.run("apps", "list")
      #expect(result.code == 1 && result.errors.contains("secret.key is missing"))
      #expect(!FileManager.default.fileExists(atPath: box.data + "/secret.key"))
    }
  }

  @Test("an app's JPush keys are made, replaced and removed; the secret is printed once and never stored")
  func jpushKeys() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let made = await box.run("apps", "jpush-key", "com.example.shop", "--json")
      let key = try #require(made.json?["app_key"]?.string)
      let first = try #require(made.json?["master_secret"]?.string)
      #expect(made.code == 0 && key.count == 24 && first.count == 24)
      let replaced = await box.run("apps", "jpush-key", "com.example.shop")
      #expect(replaced.code == 0 && replaced.output.contains("AppKey         \(key)\n"))
      #expect(!replaced.output.contains(first) && replaced.errors.contains("only its hash is stored"))
      let second = String(replaced.output.suffix(25).dropLast())
      let files = try FileManager.default.contentsOfDirectory(atPath: box.data)
      for file in files {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: box.data + "/" + file))
        for secret in [first, second] { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)") }
      }
      #expect(await box.run("apps", "jpush-key", "com.example.none").code == 1)
      #expect(await box.run("apps", "jpush-key", "com.example.shop", "--remove").code == 0)
      let again = await box.run("apps", "jpush-key", "com.example.shop", "--remove")
      #expect(again.code == 1 && again.errors.contains("has no JPush keys"))
    }
  }

  @Test("an app's client keys are made, listed and removed")
  func clientKeys() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(await box.run("apps", "client-keys", "com.example.shop", "--json").json == [])
      let made = await box.run("apps", "client-keys", "com.example.shop", "--add", "--json")
      let key = try #require(made.json?.array?.first?["key"]?.string)
      #expect(made.code == 0 && key.hasPrefix("sbc_"))
      let second = await box.run("apps", "client-keys", "com.example.shop", "--add")
      #expect(second.code == 0 && second.output.contains(key) && second.output.contains("never"))
      let left = await box.run("apps", "client-keys", "com.example.shop", "--remove", key, "--json")
      #expect(left.code == 0 && left.json?.array?.count == 1 && !left.output.contains(key))
      let again = await box.run("apps", "client-keys", "com.example.shop", "--remove", key)
      #expect(again.code == 1 && again.errors.contains("has no client key"))
    }
  }

  @Test("apps are added, listed, shown and removed")
  func apps() async throws {
    try await CommandRunner.with { box in
      let added = await box.run("apps", "add", "com.example.shop", "--name", "Shop", "--alias-rule", "jpush", "--json")
      #expect(added.code == 0 && added.json?["bundle_id"] == "com.example.shop")
      let twice = await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(twice.code == 1 && twice.errors.contains("Another app already has this bundle ID"))
      let bad = await box.run("apps", "add", "com example", "--name", "x")
      #expect(bad.code == 64 && bad.errors.contains("error: <bundle-id>: A bundle ID must consist of letters"))
      await box.run("apps", "add", "com.example.other", "--name", "Other")
      let list = await box.run("apps", "list")
      #expect(list.lines.count == 3 && list.lines[1].hasPrefix("com.example.other  Other"))
      #expect(await box.run("apps", "list", "--json").json?.array?.count == 2)
      #expect(await box.run("apps", "show", "com.example.shop").output.contains("alias rule   jpush"))
      let missing = await box.run("apps", "show", "com.example.sho")
      #expect(missing.code == 1 && missing.errors.contains("Known apps: com.example.other, com.example.shop"))
      #expect(await box.run("apps", "remove", "com.example.other").code == 0)
      #expect(await box.run("apps", "list", "--json").json?.array?.count == 1)
    }
  }

  @Test("an app with devices goes only by force")
  func appWithDevices() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let token = String(repeating: "0a", count: 32)
      let csv = "app,environment,platform,token\ncom.example.shop,production,ios,\(token)\n"
      #expect(await box.run("devices", "import", "-", "--format", "csv", input: csv).code == 0)
      let refused = await box.run("apps", "remove", "com.example.shop")
      #expect(refused.code == 1 && refused.errors.contains("has 1 device, 0 pushes, and 0 schedules"))
      #expect(await box.run("apps", "remove", "com.example.shop", "--force").code == 0)
      #expect(await box.run("devices", "list", "--json").json == [])
    }
  }

  @Test("an app stays, even by force, while a push of it waits or is sent")
  func appWithRunningPush() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let push = try store.writeSync { database in
        let app = try App.named("com.example.shop", database)
        let new = NewPush(
          uid: "p1", seed: 1, appID: app.id, environment: .development, draftJSON: "{}", source: .cli, createdBy: "lin")
        return try Push.create(database, new, now: CommandRunner.noon)
      }
      let refused = await box.run("apps", "remove", "com.example.shop", "--force")
      #expect(refused.code == 1 && refused.errors.contains("com.example.shop has pushes that are scheduled"))
      #expect(try store.readSync { try Push.find($0, id: push.id) } != nil, "the engine's row is still there")
      let isCanceled = try store.writeSync {
        try Push.move($0, id: push.id, from: [.queued], to: .cancelled, now: CommandRunner.noon)
      }
      #expect(isCanceled)
      #expect(await box.run("apps", "remove", "com.example.shop", "--force").code == 0)
      let entries = try store.readSync { try AuditEntry.list($0, .init(action: "app.delete"), limit: 5).items }
      #expect(entries.first?.entry.detail?["before"]?["pushes"] == 1)
    }
  }

  @Test("a person is added with a one-time link, whose hash alone is kept")
  func users() async throws {
    try await CommandRunner.with { box in
      let added = await box.run("users", "add", "lin@example.com", "--role", "admin")
      let path = try #require(added.lines.first)
      #expect(added.code == 0 && path.hasPrefix("/session/setup#token="))
      let token = path.replacing("/session/setup#token=", with: "")
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let link = try store.readSync {
        try SignInLink.find($0, hash: Digest.sha256(Array(token.utf8)), now: CommandRunner.noon)
      }
      #expect(link?.purpose == .invitation && link?.expiresAt == CommandRunner.noon + 86_400)
      let next = await box.run("users", "link", "LIN@example.com", "--json")
      #expect(next.json?["path"]?.string?.hasPrefix("/session/setup#token=") == true)
      let whole = await box.run("users", "link", "LIN@example.com", "--address", "https://push.example.com")
      #expect(whole.lines.first?.hasPrefix("https://push.example.com/session/setup#token=") == true)
      let old = try store.readSync {
        try SignInLink.find($0, hash: Digest.sha256(Array(token.utf8)), now: CommandRunner.noon)
      }
      #expect(old == nil)
      #expect(await box.run("users", "add", "lin@example.com", "--role", "viewer").code == 1)
      #expect(await box.run("users", "add", "lin", "--role", "viewer").code == 64)
      #expect(await box.run("users", "add", "a@b", "--role", "boss").code == 64)
      let list = await box.run("users", "list", "--json")
      #expect(list.json?.array?.first?["state"] == "invited" && list.json?.array?.first?["role"] == "admin")
      #expect(await box.run("users", "remove", "lin@example.com").code == 0)
      #expect(await box.run("users", "remove", "lin@example.com").code == 1)
    }
  }

  @Test("a person is disabled, enabled, given another role, signed out, and freed of the second step")
  func changes() async throws {
    try await CommandRunner.with { box in
      await box.run("users", "add", "lin@example.com", "--role", "viewer")
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let (sealer, now) = (store.sealer, CommandRunner.noon)
      let id = try store.writeSync { database in
        let user = try #require(try User.find(database, name: "lin@example.com"))
        try User.setPassword(database, id: user.id, hash: "x")
        try Authenticator.begin(database, user: user.id, sealer: sealer, now: now)
        let found = try #require(try Authenticator.find(database, user: user.id))
        let code = OneTimeCode.code(
          try found.secret(database, sealer: sealer), step: OneTimeCode.step(at: now))
        #expect(try found.accept(code, database, sealer: sealer, now: now))
        try Session.open(
          database, idHash: [1], user: user.id, csrf: "c", lifetime: 600, now: now)
        return user.id
      }
      let before = await box.run("users", "list", "--json").json?.array?.first
      #expect(before?["authenticator"] == true && before?["last_sign_in_at"] != .null)
      let role = await box.run("users", "role", "lin@example.com", "--role", "operator")
      #expect(role.code == 0 && role.output == "Changed the role of lin@example.com: operator.\n")
      let production = await box.run("users", "production", "lin@example.com", "no")
      #expect(production.output.hasPrefix("lin@example.com may not send to production"), "\(production)")
      #expect(
        await box.run("users", "production", "lin@example.com", "yes").output
          == "lin@example.com may send to production, and so may the user's tokens.\n")
      #expect(await box.run("users", "sign-out", "lin@example.com").code == 0)
      #expect(try store.readSync { try Session.all($0, user: id) }.isEmpty)
      #expect(await box.run("users", "reset-second-step", "lin@example.com").code == 0)
      #expect(await box.run("users", "disable", "lin@example.com").code == 0)
      let after = await box.run("users", "list", "--json").json?.array?.first
      #expect(after?["role"] == "operator" && after?["state"] == "disabled" && after?["authenticator"] == false)
      let link = await box.run("users", "link", "lin@example.com")
      #expect(link.code == 1 && link.errors.contains("is disabled"))
      #expect(await box.run("users", "enable", "lin@example.com").code == 0)
      #expect(await box.run("users", "list").output.contains("active"))
      #expect(await box.run("users", "disable", "ben@example.com").code == 1)
      let actions = try store.readSync { try AuditEntry.list($0, limit: 50).items.map(\.entry) }
      #expect(actions.filter { $0.actor == commandActor }.map(\.action).contains("user.reset_second_step"))
    }
  }

  @Test("the only admin cannot be removed")
  func lastAdministrator() async throws {
    try await CommandRunner.with { box in
      await box.run("users", "add", "lin@example.com", "--role", "admin")
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      try store.writeSync { database in
        let user = try #require(try User.find(database, name: "lin@example.com"))
        try User.setPassword(database, id: user.id, hash: "x")
      }
      let result = await box.run("users", "remove", "lin@example.com")
      #expect(result.code == 1 && result.errors.contains("the only admin"))
      #expect(await box.run("users", "disable", "lin@example.com").code == 1)
      #expect(await box.run("users", "role", "lin@example.com", "--role", "viewer").code == 1)
    }
  }

  @Test("a token is shown once, kept as its hash, listed without it, and revoked")
  func tokens() async throws {
    try await CommandRunner.with { box in
      let added = await box.run("tokens", "add", "cron", "--role", "viewer", "--expires-in", "30d")
      let text = try #require(added.lines.first)
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let hash = Digest.sha256(Array(text.utf8))
      let token = try #require(try store.readSync { try APIToken.find($0, hash: hash, now: CommandRunner.noon) })
      #expect(token.words == ["viewer"] && token.expiresAt == CommandRunner.noon + 30 * 86_400)
      let narrow = await box.run(
        "tokens", "add", "ci", "--scope", "read", "--scope", "devices", "--app", "com.example.none", "--from", "::1")
      #expect(narrow.code == 1 && narrow.errors.contains("com.example.none"))
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let made = await box.run(
        "tokens", "add", "ci", "--scope", "read", "--scope", "devices", "--app", "com.example.shop", "--from", "::1",
        "--json")
      #expect(made.json?["scopes"] == ["read", "devices"] && made.json?["apps"] == ["com.example.shop"])
      #expect(made.json?["expires_at"]?.string?.hasPrefix("2027-02-") == true, "90 days without a word")
      let forever = await box.run("tokens", "add", "ever", "--expires-in", "never", "--json")
      #expect(forever.json?["expires_at"] == .null && forever.json?["scopes"] == ["operator"])
      for role in ["viewer", "admin"] {
        let both = await box.run("tokens", "add", "x", "--scope", "read", "--role", role)
        #expect(both.code == 64 && both.errors.contains("either --role or --scope"), "\(role)")
      }
      for (option, value, example) in [
        ("--from", "here", "10.0.0.0/8"), ("--expires-in", "0d", "from 1 to 3650, e.g. 30d"),
        ("--expires-in", "9999d", "from 1 to 3650, e.g. 30d"), ("--scope", "all", "read, send-development"),
      ] {
        let wrong = await box.run("tokens", "add", "x", option, value)
        #expect(wrong.code == 64 && wrong.errors.contains("for \(option) "), "\(wrong.errors)")
        #expect(wrong.errors.contains(example), "\(wrong.errors)")
      }
      let list = await box.run("tokens", "list")
      #expect(list.output.contains("cron") && !list.output.contains(text))
      #expect(await box.run("tokens", "remove", "\(token.id)").code == 0)
      #expect(try store.readSync { try APIToken.find($0, hash: hash, now: CommandRunner.noon) } == nil)
      #expect(await box.run("tokens", "remove", "\(token.id)").code == 1)
      #expect(await box.run("tokens", "remove", "99").code == 1)
      #expect(await box.run("tokens", "list", "--json").json?.array?.last?["state"] == "revoked")
    }
  }

  @Test("a token of a person ends with the person; of somebody unknown or disabled none is made")
  func personalTokens() async throws {
    try await CommandRunner.with { box in
      let unknown = await box.run("tokens", "add", "x", "--user", "lin@example.com")
      #expect(unknown.code == 1 && unknown.errors.contains("lin@example.com not found"))
      await box.run("users", "add", "lin@example.com", "--role", "operator")
      let secret = try #require(
        await box.run("tokens", "add", "laptop", "--role", "operator", "--user", "Lin@example.com").lines.first)
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      func find() throws -> APIToken? {
        try store.readSync { try APIToken.find($0, hash: Digest.sha256(Array(secret.utf8)), now: CommandRunner.noon) }
      }
      let lin = try #require(try store.readSync { try User.find($0, name: "lin@example.com") })
      #expect(try find()?.userID == lin.id)
      #expect(await box.run("users", "disable", "lin@example.com").code == 0)
      #expect(try find() == nil)
      let late = await box.run("tokens", "add", "y", "--user", "lin@example.com")
      #expect(late.code == 1 && late.errors.contains("is disabled"))
      #expect(try store.readSync { try APIToken.all($0) }.count == 1)
    }
  }

  @Test("a certificate is kept, bound, shown, and not removed while an app needs it")
  func certificates() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let key = try PrivateKey.generateP256().pkcs8PEM
      let path = try box.file("AuthKey_ABCDE12345.p8", key)
      let missing = await box.run("certificates", "add", path)
      #expect(missing.code == 64 && missing.errors.contains("error: --team-id: Enter the team ID"))
      let words = ["certificates", "add", path, "--team-id", "TEAM123456"]
      #expect(await box.run(words + ["--use-for", "production"]).code == 64)
      let added = await box.run(words + ["--app", "com.example.shop", "--use-for", "production", "--json"])
      #expect(added.code == 0 && added.json?["kind"] == "apns_key")
      #expect(
        added.json?["used_by"] == [
          ["app": "com.example.shop", "environment": "production", "scheduled_pushes": 0, "schedules": 0]
        ])
      #expect(!added.output.contains("PRIVATE KEY"))
      let id = try #require(added.json?["id"]?.integer)
      #expect(await box.run("certificates", "list").output.contains("com.example.shop/production"))
      let shown = await box.run("certificates", "show", "\(id)")
      #expect(shown.lines.contains("Key ID:       ABCDE12345") && shown.lines.contains("Team:         TEAM123456"))
      #expect(shown.lines.contains("Used by:      com.example.shop (production)"), "\(shown.output)")
      #expect(shown.lines.contains("Private key:  yes, EC P-256 (prime256v1)"), "\(shown.output)")
      #expect(!shown.output.contains("{"), "facts are lines, not JSON")
      let refused = await box.run("certificates", "remove", "\(id)")
      #expect(refused.code == 1 && refused.errors.contains("still used by com.example.shop (apns, production)"))
      await box.run("apps", "remove", "com.example.shop")
      #expect(await box.run("certificates", "remove", "\(id)").code == 0)
      #expect(await box.run("certificates", "show", "\(id)").code == 1)
    }
  }

  @Test("a pipe that nobody writes into is told after a while; one that somebody writes into is read to its end")
  func pipe() async throws {
    try await CommandRunner.with { box in
      let path = box.folder + "/pipe"
      #expect(mkfifo(path, 0o600) == 0)
      let failure = #expect(throws: CommandFailure.self) { try CertificateFileReader.data(path, patience: 50) }
      #expect(failure?.description.contains("delivered no data") == true)
      // For reading too: whoever opens it so waits for nobody.
      let end = open(path, O_RDWR)
      let text = Array("hello".utf8)
      #expect(write(end, text, text.count) == text.count)
      let reading = Task.detached { try CertificateFileReader.data(path, patience: 60_000) }
      try await eventually("the pipe is read") {
        var left: Int32 = 1
        return ioctl(end, UInt(FIONREAD), &left) == 0 && left == 0
      }
      close(end)
      #expect(try await reading.value == Data(text))
    }
  }

  @Test("inspect keeps nothing, and says why a file is refused")
  func inspect() async throws {
    try await CommandRunner.with { box in
      let path = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      let result = await box.run("inspect", path, "--json")
      #expect(result.code == 0 && result.json?["kind"] == "apns_key")
      let text = try box.file("note.pem", "hello")
      let refused = await box.run("inspect", text)
      #expect(refused.code == 1 && refused.errors.hasPrefix("signalbox: error: \(text): "))
      let none = await box.run("inspect", box.folder + "/none")
      #expect(none.code == 1 && none.errors.hasSuffix("/none: No such file or directory.\n"), "\(none.errors)")
      let folder = await box.run("inspect", box.folder)
      #expect(folder.code == 1)
      #expect(folder.errors.hasSuffix("This is a folder. Choose a file in it.\n"), "\(folder.errors)")
      let large = try box.file("large.p12", String(repeating: "x", count: 5 << 20))
      let refusedLarge = await box.run("inspect", large)
      #expect(refusedLarge.code == 1 && refusedLarge.errors.contains("has 5242880 bytes"), "\(refusedLarge.errors)")
      let turned = await box.run("inspect", box.folder + "/a\u{202E}b")
      #expect(turned.errors.contains("/a[U+202E]b: "))
      #expect(await box.run("inspect").code == 64)
      #expect(!FileManager.default.fileExists(atPath: box.data))
    }
  }

  @Test("a password can be in a file, without its last line end; the variable itself comes first")
  func passwordFile() async throws {
    try await CommandRunner.with { box in
      let (begin, end) = (CommandRunner.noon - 86_400, CommandRunner.noon + 86_400)
      let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: begin, notAfter: end)
      let (certificate, key) = try authority.issueServer(names: ["localhost"], notBefore: begin, notAfter: end)
      _ = try box.file("a.pem", certificate.pem + key.pkcs8PEM)
      let export = ["pkcs12", "-export", "-in", "a.pem", "-out", "a.p12", "-passout", "pass:secret"]
      try await Child.run("openssl", export, in: box.folder)
      let secret = try box.file("password", "secret\n")
      func inspect(_ environment: [String: String]) async -> CommandResult {
        await box.run("inspect", box.folder + "/a.p12", environment: environment)
      }
      let opened = await inspect(["SIGNALBOX_PASSWORD_FILE": secret])
      #expect(opened.code == 0, "\(opened.errors)")
      #expect(await inspect(["SIGNALBOX_PASSWORD_FILE": secret, "SIGNALBOX_PASSWORD": "wrong"]).code == 1)
      let missing = await inspect(["SIGNALBOX_PASSWORD_FILE": box.folder + "/none"])
      let words = "signalbox: error: SIGNALBOX_PASSWORD_FILE: \(box.folder)/none: No such file or directory."
      #expect(missing.code == 64 && missing.errors.hasPrefix(words), "\(missing.errors)")
      let large = try box.file("large", String(repeating: "x", count: 1 << 21))
      let refused = await inspect(["SIGNALBOX_PASSWORD_FILE": large])
      let reason = "signalbox: error: SIGNALBOX_PASSWORD_FILE: The file is too large."
      #expect(refused.code == 64 && refused.errors.hasPrefix(reason), "\(refused.errors)")
    }
  }

  @Test("what the command line changes stands in the audit")
  func audit() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      await box.run("users", "add", "lin@example.com", "--role", "admin")
      await box.run("tokens", "add", "cron")
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let lines = try store.readSync { try AuditEntry.list($0, limit: 10).items.map(\.entry) }
      #expect(lines.map(\.action) == ["token.create", "user.create", "app.create"])
      #expect(lines.allSatisfy { $0.actor == commandActor && $0.actor.hasPrefix("cli ") })
    }
  }
}
