import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store
import Text
import Testing

@testable import signalbox

@Suite("signalbox backup, restore, doctor")
struct MaintenanceTests {
  private func apps(_ box: CommandRunner) async -> [String] {
    await box.run("apps", "list", "--json").json?.array?.compactMap { $0["bundle_id"]?.string } ?? []
  }

  @Test("a backup is restored; what was there is kept aside")
  func backupAndRestore() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/copy.sqlite"
      #expect(await box.run("backup", backup).code == 0)
      let again = await box.run("backup", backup)
      #expect(again.code == 1, "a backup overwrites nothing")
      #expect(
        again.errors == "signalbox: error: \(backup) already exists and is not overwritten. Choose another file name.\n"
      )
      let nowhere = await box.run("backup", box.folder + "/none/copy.sqlite")
      #expect(
        nowhere.code == 1
          && nowhere.errors == "signalbox: error: \(box.folder)/none/copy.sqlite cannot be written: No such file or "
            + "directory. Check that its folder exists and that this user can write to it.\n"
      )
      await box.run("apps", "add", "com.example.two", "--name", "Two")
      let restored = await box.run("restore", backup)
      #expect(restored.code == 0 && restored.errors.isEmpty)
      #expect(await apps(box) == ["com.example.one"])
      let aside = box.data + "/signalbox.sqlite.before-restore-20261120T120000Z"
      #expect(restored.output.contains(aside))
      let database = try Database(path: aside)
      #expect(try App.all(database).count == 2)
      database.close()
      #expect(await box.run("restore", backup).code == 0, "also twice in the same second")
    }
  }

  @Test("backups of a folder have names of their own; the oldest go, and nothing else")
  func backupFolder() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let folder = box.folder + "/backups/daily"
      var names: [String] = []
      for day in 0..<4 {
        let now = CommandRunner.noon + Double(day) * 86_400
        let done = await box.run("backup", "--to", folder, "--keep", "2", now: now)
        #expect(done.code == 0 && done.errors.isEmpty)
        if day == 0 {
          for name in ["signalbox-20200101T000000Z.sqlite.txt", "signalbox-latest.sqlite", "notes"] {
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
          }
        }
        #expect(done.output.contains("Deleted the older backup") == (day >= 2))
        names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      }
      #expect(
        names == [
          "notes", "signalbox-20200101T000000Z.sqlite.txt", "signalbox-20261122T120000Z.sqlite",
          "signalbox-20261123T120000Z.sqlite", "signalbox-latest.sqlite",
        ])
      let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
      #expect(mode == 0o700, "nobody else reads the backups")
      let last = folder + "/signalbox-20261123T120000Z.sqlite"
      #expect(await box.run("restore", last).code == 0)
      #expect(await apps(box) == ["com.example.one"])
    }
  }

  @Test("under a clock that ran ahead and was put right, the newest backups stay, and it is said")
  func clock() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let folder = box.folder + "/backups"
      func backup(_ days: Double, _ hours: Double = 0) async throws -> (CommandResult, [String]) {
        let now = CommandRunner.noon + days * 86_400 + hours * 3600
        let done = await box.run("backup", "--to", folder, "--keep", "3", now: now)
        #expect(done.code == 0, "\(done.errors)")
        // Whoever reads a backup leaves its log's files.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") }
        return (done, names.sorted())
      }
      func name(_ date: String) -> String { "signalbox-\(date)Z.sqlite" }
      // A backup of an earlier version has no number.
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      #expect(await box.run("backup", "\(folder)/\(name("20261119T120000"))").code == 0)
      for hours in 0..<3 { #expect(try await backup(365, Double(hours)).0.errors.isEmpty) }
      // Put right: three backups are dated ahead, then two, then one.
      let (first, afterFirst) = try await backup(0)
      #expect(afterFirst == [name("20261120T120000"), name("20271120T130000"), name("20271120T140000")])
      #expect(first.errors.contains("3 backups have a time in the future, the first \(name("20271120T120000"))."))
      let (second, afterSecond) = try await backup(1)
      #expect(afterSecond == [name("20261120T120000"), name("20261121T120000"), name("20271120T140000")])
      #expect(second.errors.contains("2 backups have a time in the future"))
      let (third, afterThird) = try await backup(2)
      #expect(afterThird == [name("20261120T120000"), name("20261121T120000"), name("20261122T120000")])
      #expect(third.errors.contains("1 backup has a time in the future: \(name("20271120T140000"))."))
      #expect(try await backup(3).0.errors.isEmpty)
      // Also if the present clock is behind all of them.
      let (behind, left) = try await backup(-1000)
      #expect(left == [name("20240224T120000"), name("20261122T120000"), name("20261123T120000")])
      #expect(behind.output.contains("Deleted the older backup \(folder)/\(name("20261121T120000"))"))
      #expect(await box.run("restore", "\(folder)/\(name("20240224T120000"))").code == 0)
      #expect(try await backup(-999).1 == [name("20240224T120000"), name("20240225T120000"), name("20261123T120000")])
    }
  }

  @Test("a failed backup deletes no older one")
  func failedBackup() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let folder = box.folder + "/backups"
      #expect(await box.run("backup", "--to", folder, "--keep", "1").code == 0)
      // The same second: its name is taken.
      #expect(await box.run("backup", "--to", folder, "--keep", "1").code == 1)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(left == ["signalbox-20261120T120000Z.sqlite"])
      for words in [[], ["a", "b"], ["a", "--to", folder], ["a", "--keep", "3"], ["--to", folder, "--keep", "0"]] {
        #expect(await box.run(["backup"] + words).code == 64)
      }
    }
  }

  @Test("an upgrade of the schema keeps the database as it was; the next start keeps nothing")
  func upgrade() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data)
      try directory.create()
      _ = try SealingKey.loadOrCreate(path: directory.keyFile)
      let former = Migrator(applicationID: Schema.applicationID, Array(Schema.migrator.migrations.dropLast(1)))
      let database = try Database(path: directory.database)
      try former.migrate(database, at: 0)
      // The program's own statements know columns that were not there yet.
      try database.execute("INSERT INTO apps(bundle_id, name, created_at) VALUES ('com.example.one', 'One', 0)")
      database.close()
      #expect(await apps(box) == ["com.example.one"])
      let kept = directory.database + ".before-upgrade-20261120T120000Z"
      let copy = try Database(path: kept, mode: .readOnly)
      defer { copy.close() }
      #expect(try former.pending(copy).isEmpty, "the earlier version can use it")
      #expect(try Schema.migrator.pending(copy).count == 1)
      #expect(try copy.fetchAll("SELECT bundle_id FROM apps") { $0.text(0) } == ["com.example.one"])
      _ = await box.run("apps", "list", now: CommandRunner.noon + 60)
      let names = try FileManager.default.contentsOfDirectory(atPath: box.data)
      #expect(names.filter { $0.contains("before-upgrade") && $0.hasSuffix("Z") }.count == 1)
    }
  }

  @Test("however often an upgrade is interrupted, one copy is kept: of the version before its first step")
  func interruptedUpgrade() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data)
      try directory.create()
      let key = try SealingKey.loadOrCreate(path: directory.keyFile)
      let steps = Schema.migrator.migrations
      func version(_ missing: Int) -> Migrator {
        Migrator(applicationID: Schema.applicationID, Array(steps.dropLast(missing)))
      }
      func migrate(to missing: Int, _ name: String? = nil) throws {
        let database = try Database(path: directory.database)
        defer { database.close() }
        try version(missing).migrate(database, at: 0)
        guard let name else { return }
        try database.execute("INSERT INTO apps(bundle_id, name, created_at) VALUES ('\(name)', 'One', 0)")
      }
      func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: box.data).filter { $0.contains(".before-upgrade") }.sorted()
      }
      func apps(_ copy: String) throws -> [String] {
        let database = try Database(path: "\(box.data)/\(copy)", mode: .readOnly)
        defer { database.close() }
        defer { for suffix in ["-wal", "-shm"] { unlink("\(box.data)/\(copy)\(suffix)") } }
        #expect(try version(3).pending(database).isEmpty && Schema.migrator.pending(database).count == 3, "\(copy)")
        return try database.fetchAll("SELECT bundle_id FROM apps ORDER BY 1") { $0.text(0) }
      }
      try migrate(to: 3, "com.example.one")
      // Killed before the first step; the earlier version went on meanwhile.
      var upgrade = Upgrade(directory)
      try upgrade.begin()
      upgrade.stop()
      #expect(try copies() == ["signalbox.sqlite.before-upgrade"])
      try migrate(to: 3, "com.example.two")
      // Killed after each step.
      for missing in [2, 1, 0] {
        var attempt = Upgrade(directory)
        try attempt.begin()
        try migrate(to: missing)
        attempt.stop()
        #expect(try copies() == ["signalbox.sqlite.before-upgrade"])
        #expect(try apps("signalbox.sqlite.before-upgrade") == ["com.example.one", "com.example.two"], "\(missing)")
      }
      // The next start finds it whole.
      try directory.openStore(key, readers: 1, now: CommandRunner.noon).close()
      #expect(try copies() == ["signalbox.sqlite.before-upgrade-20261120T120000Z"])
      #expect(try apps(copies()[0]) == ["com.example.one", "com.example.two"])
      try directory.openStore(key, readers: 1, now: CommandRunner.noon).close()
      #expect(try copies().count == 1)
    }
  }

  @Test("two upgrades within a second have a copy each; changing the key upgrades, too, and keeps one")
  func upgradesOfOneSecond() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data)
      let former = Migrator(applicationID: Schema.applicationID, Array(Schema.migrator.migrations.dropLast(1)))
      func start() throws {
        try directory.create()
        _ = try SealingKey.loadOrCreate(path: directory.keyFile)
        for suffix in Replacement.suffixes { unlink(directory.database + suffix) }
        let database = try Database(path: directory.database)
        defer { database.close() }
        try former.migrate(database, at: 0)
      }
      for words in [["apps", "list"], ["rotate-key"]] {
        try start()
        let done = await box.run(words)
        #expect(done.code == 0, "\(done.errors)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: box.data).filter { $0.contains("before-upgrade") }
      let first = "signalbox.sqlite.before-upgrade-20261120T120000Z"
      #expect(names.sorted() == [first, first + "+"])
    }
  }

  @Test("a backup is taken while somebody holds the folder, but not restored")
  func locked() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let server = DataDirectory(box.data)
      let holds = try server.lock()
      let another = try DataDirectory(box.data).lock(.shared)
      #expect(holds && !another)
      let backup = box.folder + "/copy.sqlite"
      #expect(await box.run("backup", backup).code == 0)
      let refused = await box.run("restore", backup)
      #expect(refused.code == 1 && refused.errors.contains("in use by a running signalbox"))
      server.unlock()
      #expect(await box.run("restore", backup).code == 0)
    }
  }

  @Test("several may share the lock; then none has it alone")
  func sharedLock() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let (one, other) = (DataDirectory(box.data), DataDirectory(box.data))
      let shared = [try one.lock(.shared), try other.lock(.shared)]
      let alone = try DataDirectory(box.data).lock()
      #expect(shared == [true, true] && !alone)
      one.unlock()
      other.unlock()
      let later = try DataDirectory(box.data).lock()
      #expect(later)
    }
  }

  @Test("a damaged, foreign, newer or empty file is refused, and nothing is changed")
  func refused() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let text = try box.file("text", "no database at all, but long enough to be looked at as one by SQLite" + "\n")
      let foreign = box.folder + "/foreign.sqlite"
      let other = try Database(path: foreign)
      try other.script("CREATE TABLE t(x)")
      other.close()
      let newer = box.folder + "/newer.sqlite"
      await box.run("backup", newer)
      let future = try Database(path: newer)
      try future.run("INSERT INTO migrations(id, applied_at) VALUES ('2999-01-01 more', 0)")
      future.close()
      let damaged = box.folder + "/damaged.sqlite"
      await box.run("backup", damaged)
      var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
      for page in 2..<12 where (page + 1) * 4096 <= bytes.count {
        bytes.replaceSubrange(page * 4096..<page * 4096 + 200, with: Data(repeating: 0xff, count: 200))
      }
      try bytes.write(to: URL(fileURLWithPath: damaged))
      for (path, words) in [
        (text, "is damaged or not a backup"), (foreign, "another program's database"), (newer, "newer version"),
        (damaged, "damaged"), (box.folder, "\(box.folder) is a folder. Name the backup file in it."),
        (try box.file("empty", ""), "it is not a backup"),
        (box.folder + "/none", "error: \(box.folder)/none: No such"),
      ] {
        let result = await box.run("restore", path)
        #expect(result.code == 1 && result.errors.contains(words), "\(path): \(result.errors)")
        let folder = box.folder + "/fresh"
        #expect(await box.run("restore", path, "--data", folder).code == 1)
        #expect(!FileManager.default.fileExists(atPath: folder), "nothing is left of a refused restore")
      }
      #expect(await apps(box) == ["com.example.one"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.data).allSatisfy { !$0.contains("restor") })
    }
  }

  @Test("a backup of another server tells what this server's key does not open")
  func otherKey() async throws {
    try await CommandRunner.with { box in
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      await box.run("certificates", "add", key, "--team-id", "TEAM123456")
      let backup = box.folder + "/copy.sqlite"
      await box.run("backup", backup)
      let elsewhere = ["SIGNALBOX_DATA": box.folder + "/new"]
      let fresh = await box.run("restore", backup, environment: elsewhere)
      #expect(fresh.code == 0 && fresh.errors.contains("copy it from the backup's server"))
      try FileManager.default.removeItem(atPath: box.folder + "/new")
      await box.run("apps", "add", "com.example.one", "--name", "One", environment: elsewhere)
      let other = await box.run("restore", backup, environment: elsewhere)
      #expect(other.code == 0 && other.errors.contains("cannot decrypt it. Put the backup's key there"))
      #expect(other.errors.contains("Affected: AuthKey_ABCDE12345"))
      let doctor = await box.run("doctor", environment: elsewhere)
      #expect(doctor.code == 1 && doctor.output.contains("secret.key is not the key it was encrypted with"))
    }
  }

  /// A bundle with a root of the name that APNs' servers stand under.
  private func trust(_ box: CommandRunner, name: String = "USERTrust RSA Certification Authority") throws -> [String:
    String]
  {
    let authority = try CertificateAuthority(
      subject: [.commonName(name)], notBefore: CommandRunner.noon - 86_400, notAfter: CommandRunner.noon + 86_400)
    return ["SSL_CERT_FILE": try box.file("bundle.pem", authority.certificate.pem)]
  }

  @Test("a database from before the first release is refused by every command with what to do")
  func formerBuild() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data)
      try directory.create()
      _ = try SealingKey.loadOrCreate(path: directory.keyFile)
      let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Store/Fixtures/before-first-release.sql")
      let script = try String(contentsOf: fixture, encoding: .utf8)
      for path in [directory.database, box.folder + "/former.sqlite"] {
        let database = try Database(path: path)
        try database.script(script)
        #expect(try database.leaveLog())
        database.close()
      }
      let former = try Data(contentsOf: URL(filePath: box.folder + "/former.sqlite"))
      let words = "was made by a build from before the first release"
      for command in [
        ["apps", "list"], ["serve", "--listen", "127.0.0.1:0"], ["backup", box.folder + "/copy.sqlite"],
      ] {
        let result = await box.run(command)
        #expect(result.code == 1 && result.errors.contains(words), "\(command): \(result.errors)")
        #expect(result.errors.contains("start with a new data folder"))
      }
      #expect(!FileManager.default.fileExists(atPath: box.folder + "/copy.sqlite"))
      let doctor = await box.run("doctor")
      #expect(doctor.code == 1 && doctor.output.contains(words), "\(doctor.output)")
      #expect(doctor.output.contains("Start with a new data folder (--data)"))
      // Neither is it put in the place of a database of today.
      let other = box.folder + "/other"
      await box.run("apps", "add", "com.example.one", "--name", "One", "--data", other)
      let refused = await box.run("restore", box.folder + "/former.sqlite", "--data", other)
      #expect(refused.code == 1 && refused.errors.contains(words), "\(refused.errors)")
      #expect(await box.run("apps", "list", "--data", other).output.contains("com.example.one"))
      #expect(try Data(contentsOf: URL(filePath: box.folder + "/former.sqlite")) == former)
    }
  }

  @Test("doctor finds nothing wrong with a new installation")
  func healthy() async throws {
    try await CommandRunner.with { box in
      let trust = try trust(box)
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let result = await box.run("doctor", environment: trust)
      #expect(result.code == 0, "\(result.output)")
      #expect(result.lines.allSatisfy { $0.hasPrefix("OK       ") })
      #expect(result.lines.contains("OK       certificate: none is stored yet"))
      let json = await box.run("doctor", "--json", environment: trust).json
      let subjects = json?.array?.compactMap { $0["subject"]?.string } ?? []
      #expect(
        subjects == [
          "data", "disk", "secret.key", "database", "schema", "activity log", "certificate", "clock", "trust store",
          "own authorities",
        ])
    }
  }

  @Test("a backup is recorded with the system's user, and doctor names entries that somebody removed")
  func activity() async throws {
    try await CommandRunner.with { box in
      let trust = try trust(box)
      await box.run("apps", "add", "com.example.one", "--name", "One")
      await box.run("backup", box.folder + "/copy.sqlite")
      let database = try Database(path: box.data + "/signalbox.sqlite")
      defer { database.close() }
      let entry = try #require(try AuditEntry.list(database, limit: 1).items.first).entry
      #expect(entry.action == "database.backup" && entry.actor == commandActor)
      try database.execute("DROP TRIGGER audit_is_never_deleted")
      try database.execute("DELETE FROM audit WHERE id = 1")
      let result = await box.run("doctor", environment: trust)
      #expect(result.code == 1)
      #expect(result.lines.contains { $0.hasPrefix("ERROR    activity log: entry 1 is missing. Fix: ") })
    }
  }

  @Test("doctor names what is wrong, each with its remedy")
  func unhealthy() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("doctor").output.contains("ERROR    data: \(box.data) does not exist"))
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let line =
        #"{"app":"com.example.one","environment":"production","platform":"ios","token":"\#(String(repeating: "ab", count: 32))"}"#
      let phone =
        #"{"app":"com.example.one","environment":"production","platform":"android","token":"cXyz:APA91bHun4MxP5egoKMwt2K"}"#
      await box.run("devices", "import", "-", "--format", "ndjson", input: line + "\n" + phone)
      for (path, mode) in [("", 0o755), ("/secret.key", 0o644), ("/signalbox.sqlite", 0o644)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: box.data + path)
      }
      let result = await box.run(
        "doctor", environment: try trust(box, name: "Another"), now: CommandRunner.noon - 3600)
      #expect(result.code == 1)
      for text in [
        "WARNING  data: other users can read \(box.data) (mode 755). Fix: chmod 700 \(box.data)",
        "WARNING  database: other users can read \(box.data)/signalbox.sqlite (mode 644). Fix: chmod 600",
        "WARNING  app: com.example.one has 1 production iOS device but no credential. Fix: Run signalbox",
        "WARNING  app: com.example.one has 1 production Android device but no credential. Fix: Run signalbox",
        "ERROR    clock: 2026-11-20T11:00:00Z is earlier than the latest entry, 2026-11-20T12:00:00Z. Fix: ",
        "ERROR    trust store: \(box.folder)/bundle.pem has 1 certificate but not the APNs root",
        "ERROR    secret.key: \(box.data)/secret.key can be read by other users (mode 644)",
      ] {
        #expect(result.output.contains(text), "\(text)\n\(result.output)")
      }
      #expect(!result.output.contains("See the message"))
    }
  }

  @Test("doctor names owner and user of what cannot be written, and advises a backup only for damage")
  func unwritable() throws {
    let (root, user) = (systemName(of: 0), systemName(of: 54_321))
    #expect(root == "root" && user == "54321")
    let foreign = Doctor.unwritable("data", "/srv/data", owner: 0, user: 54_321)
    #expect(
      foreign.message.description
        == "/srv/data belongs to user root; user 54321, who runs this command, cannot write to it")
    #expect(
      foreign.remedy?.description == "Run it as user root, or as root run chown -R 54321 /srv/data")
    let own = Doctor.unwritable("data", "/srv/data", owner: 54_321, mode: 0o40555, user: 54_321)
    #expect(own.message.description == "/srv/data cannot be written, although user 54321 owns it (mode 555)")
    #expect(own.remedy?.description == "Run chmod -R u+rwX /srv/data" && own.level == .error)
    let causes: [(SQLiteError.Code, Bool)] = [
      (SQLiteError.Code(rawValue: 1544), false), (.cannotOpen, false), (.busy, false), (.corrupt, true),
      (.notADatabase, true), (.full, false), (SQLiteError.Code(rawValue: 4874), false),
    ]
    for (code, isDamage) in causes {
      let remedy = Doctor.remedy(ofDatabase: SQLiteError(code, "attempt to write a readonly database")).description
      #expect(remedy.contains("signalbox restore") == isDamage, "\(remedy)")
    }
    // SQLITE_IOERR_SHMSIZE, as commands get it on a full disk.
    let noRoom = SQLiteError(SQLiteError.Code(rawValue: 4874), "disk I/O error")
    #expect(noRoom.description.hasSuffix("The disk is full or failing; check it and its free space"))
  }

  @Test("a command that cannot write to the database names the cause on one line, without SQL")
  func readOnlyDatabase() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      // Permissions do not stop root, but a format that may only be read does (sqlite.org/fileformat.html §1.3.3).
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: box.data + "/signalbox.sqlite"))
      try file.seek(toOffset: 18)
      try file.write(contentsOf: Data([3]))
      try file.close()
      #expect(await apps(box) == ["com.example.one"])
      let refused = await box.run("tokens", "add", "ci")
      let cause = "attempt to write a readonly database (SQLite 8)"
      let remedy = "Check that this user can write to the file and its folder"
      #expect(refused.code == 1 && refused.errors == "signalbox: error: \(cause). \(remedy)\n", "\(refused)")
    }
  }

  @Test("every command says what to do about a folder in which nothing can be created")
  func readOnlyFolder() {
    // Not even root creates a file there.
    let failure = #expect(throws: CommandFailure.self) { try DataDirectory("/sys").begin() }
    #expect(failure?.description.contains("Check that this user can write to the data folder") == true)
  }

  @Test("doctor does not blame the key for a database that cannot be read")
  func unreadableDatabase() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      try Data(repeating: 7, count: 4096).write(to: URL(filePath: box.data + "/signalbox.sqlite"))
      let check = await box.run("check-certificates", "--no-probe")
      let paths = check.errors.components(separatedBy: "/signalbox.sqlite").count - 1
      #expect(check.code == 3 && paths == 1, "\(check.errors)")
      let output = await box.run("doctor").output
      #expect(output.contains("WARNING  secret.key: cannot be compared with the database"), "\(output)")
      #expect(output.contains("ERROR    database: ") && output.contains("signalbox restore <backup>"), "\(output)")
    }
  }

  @Test(
    "doctor says when a certificate expires, and what to run",
    arguments: [(-1.0, "expired on 2026-11-19T12:00:00Z"), (3, "expires on 2026-11-23T12:00:00Z, in 3 days")])
  func certificateEnds(days: Double, words: String) async throws {
    try await CommandRunner.with { box in
      let store = try DataDirectory(box.data).open(creating: true, now: CommandRunner.noon)
      let sealer = store.sealer
      let id = try store.writeSync { database in
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop push", fileName: "shop.p12")
        details.notAfter = CommandRunner.noon + days * 86_400
        return try TrackedCertificate.add(
          database, details, material: [1], sealer: sealer, by: "test", now: CommandRunner.noon
        ).id
      }
      store.close()
      let result = await box.run("doctor", environment: try trust(box))
      let fix = "Get a replacement, then run signalbox certificates renew \(id) <file>."
      #expect(result.output.contains("certificate: Shop push: \(words). Fix: \(fix)"), "\(result.output)")
    }
  }

  /// Serves over TLS on a free port while `body` runs.
  private func serve(
    _ authority: CertificateAuthority, names: [String] = ["localhost"], until end: Date,
    _ body: (UInt16) async throws -> Void
  ) async throws {
    let (certificate, key) = try authority.issueServer(
      names: names, notBefore: CommandRunner.noon - 2 * 86_400, notAfter: end)
    var configuration = ServerConfiguration(address: try #require(SocketAddress("127.0.0.1:0")))
    configuration.tls = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key))
    let server = Server(configuration, Router())
    let port = try await server.start().port
    do {
      try await body(port)
    } catch {
      await server.stop(within: .seconds(5))
      throw error
    }
    await server.stop(within: .seconds(5))
  }

  @Test("doctor connects to the servers that credentials name, if asked, and looks at what they show")
  func network() async throws {
    try await CommandRunner.with { box in
      let authority = try CertificateAuthority(
        subject: [.commonName("USERTrust RSA Certification Authority")], notBefore: CommandRunner.noon - 3 * 86_400,
        notAfter: CommandRunner.noon + 86_400)
      let trust = ["SSL_CERT_FILE": try box.file("bundle.pem", authority.certificate.pem)]
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let file = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      #expect(
        await box.run(
          "certificates", "add", file, "--team-id", "TEAM123456", "--app", "com.example.one", "--use-for", "production",
          "--endpoint", "localhost:1"
        ).code == 0)
      func look(_ port: UInt16) async throws -> CommandResult {
        let database = try Database(path: box.data + "/signalbox.sqlite")
        try database.run("UPDATE credentials SET endpoint = ?", "localhost:\(port)")
        database.close()
        return await box.run("doctor", "--network", environment: trust)
      }
      var last: UInt16 = 0
      try await serve(authority, until: CommandRunner.noon + 3600) { port in
        let good = try await look(port)
        #expect(good.code == 0, "\(good.output)")
        let line =
          "OK       localhost:\(port): reached at 127.0.0.1:\(port), certificates valid until 2026-11-20T13:"
        #expect(good.output.contains(line), "\(good.output)")
        last = port
      }
      let closed = try await look(last)
      #expect(closed.code == 1)
      #expect(closed.output.contains("ERROR    localhost:\(last): The connection was refused"), "\(closed.output)")
      try await serve(authority, until: CommandRunner.noon - 3600) { port in
        let expired = try await look(port)
        #expect(expired.code == 1)
        let line = "ERROR    localhost:\(port): reached at 127.0.0.1:\(port), but: “localhost” expired"
        #expect(expired.output.contains(line), "\(expired.output)")
        #expect(!expired.output.contains(".."), "\(expired.output)")
      }
      try await serve(authority, names: ["other.example"], until: CommandRunner.noon + 3600) { port in
        let wrong = try await look(port)
        #expect(wrong.code == 1 && wrong.output.contains("is not valid for localhost, only for other.example"))
      }
      let stranger = try CertificateAuthority(
        subject: [.commonName("Somebody")], notBefore: CommandRunner.noon - 3 * 86_400,
        notAfter: CommandRunner.noon + 86_400)
      try await serve(stranger, until: CommandRunner.noon + 3600) { port in
        let unknown = try await look(port)
        #expect(unknown.code == 1 && unknown.output.contains("but: The chain ends at"), "\(unknown.output)")
      }
    }
  }
}
