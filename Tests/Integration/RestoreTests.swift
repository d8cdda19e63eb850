import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import SQLite
import Store
import Testing

@testable import signalbox

/// A backup takes the database's place whole or not at all, and does not let anybody in again.
@Suite("signalbox restore", .timeLimit(.minutes(10)))
struct RestoreTests {
  /// Kills the process before its n-th change of a file or folder, `DIE_AT`, so that each moment can be tried.
  private static let killer = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/types.h>
    #include <unistd.h>
    static int count, limit = -1;
    static void step(void) {
      if (limit < 0) { const char *text = getenv("DIE_AT"); limit = text ? atoi(text) : 0; }
      if (__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) == limit) { kill(getpid(), SIGKILL); pause(); }
    }
    #define STEP(type, name, parameters, arguments) \\
      type name parameters { \\
        static type (*real) parameters; \\
        if (!real) real = (type (*) parameters)dlsym(RTLD_NEXT, #name); \\
        step(); \\
        return real arguments; \\
      }
    STEP(int, rename, (const char *a, const char *b), (a, b))
    STEP(int, link, (const char *a, const char *b), (a, b))
    STEP(int, unlink, (const char *a), (a))
    STEP(int, fsync, (int a), (a))
    STEP(int, fdatasync, (int a), (a))
    STEP(int, ftruncate, (int a, off_t b), (a, b))
    STEP(int, ftruncate64, (int a, off64_t b), (a, b))
    STEP(ssize_t, pwrite, (int a, const void *b, size_t c, off_t d), (a, b, c, d))
    STEP(ssize_t, pwrite64, (int a, const void *b, size_t c, off64_t d), (a, b, c, d))
    """

  private static func apps(_ database: Database) throws -> [String] { try App.all(database).map(\.bundleID).sorted() }

  @Test("killed before any change of a file, the folder has the former database whole, or the restored one")
  func killed() async throws {
    try await CommandRunner.with { box in
      let library = box.folder + "/killer.so"
      // Whichever compiler came with the toolchain.
      let compile = #"$(command -v cc || command -v clang) -shared -fPIC -O1 -o "$0" "$1" -ldl"#
      try await Child.run("sh", ["-c", compile, library, try box.file("killer.c", Self.killer)], in: box.folder)
      // One app is in the backup, the other in the log of a server that was killed.
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      #expect(await box.run("backup", backup).code == 0)
      let former = box.folder + "/former"
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      try store.writeSync { database in
        _ = try App.add(
          database, bundleID: "com.example.two", name: "Two", packageName: nil, aliasRule: "none",
          now: CommandRunner.noon)
      }
      try FileManager.default.copyItem(atPath: box.data, toPath: former)
      store.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: former).contains("signalbox.sqlite-wal"))

      let (old, new) = (["com.example.one", "com.example.two"], ["com.example.one"])
      var wasRestored = false
      var steps = 0
      for number in 1... {
        let data = "\(box.folder)/try-\(number)"
        try FileManager.default.copyItem(atPath: former, toPath: data)
        let child = try Child(
          [
            "env", "LD_PRELOAD=\(library)", "DIE_AT=\(number)", try Child.signalbox(), "restore", backup, "--data",
            data,
          ], in: box.folder, seconds: 60)
        let status = await child.status()
        guard status == 137 || status == 0 else { throw SceneError("step \(number): \(child.errorText)") }
        let directory = DataDirectory(data, environment: [:])
        let opened = try #require(try directory.openAlone(readers: 1, now: CommandRunner.noon), "step \(number)")
        let found = try opened.readSync { try Self.apps($0) }
        let faults = try await opened.pool.read { try $0.integrityCheck() }
        opened.close()
        directory.unlock()
        #expect(found == (wasRestored ? new : found == new ? new : old) && faults.isEmpty, "step \(number): \(found)")
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        let aside = names.filter { $0.contains(".before-restore-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        #expect(!names.contains { $0.contains(".restor") }, "step \(number): \(names)")
        if found == new {
          wasRestored = true
          let database = try Database(path: "\(data)/\(try #require(aside.first))")
          #expect(try Self.apps(database) == old, "step \(number): what is set aside is whole, too")
          database.close()
        } else {
          #expect(aside.isEmpty, "step \(number): \(names)")
        }
        try FileManager.default.removeItem(atPath: data)
        steps = number
        if status == 0 { break }
      }
      #expect(wasRestored && steps > 10, "\(steps) steps")
    }
  }

  @Test("a restore that was decided is finished by whatever opens the folder next; not while another process is at it")
  func decided() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let directory = DataDirectory(box.data, environment: [:])
      let replacement = Replacement(directory: directory)
      #expect(await box.run("backup", replacement.draft).code == 0)
      await box.run("apps", "add", "com.example.two", "--name", "Two")
      let aside = replacement.aside(CommandRunner.noon)
      try replacement.decide(aside: aside)
      let isHeld = try directory.lock()
      #expect(isHeld)
      let meanwhile = await box.run("apps", "list")
      #expect(meanwhile.code == 1 && meanwhile.errors.contains("A backup is being restored in"), "\(meanwhile)")
      directory.unlock()
      #expect(await box.run("doctor").output.contains("WARNING  database: a restore was interrupted; nothing is lost"))
      let listed = await box.run("apps", "list")
      #expect(listed.output.contains("com.example.one") && !listed.output.contains("com.example.two"), "\(listed)")
      let database = try Database(path: aside)
      defer { database.close() }
      #expect(try Self.apps(database) == ["com.example.one", "com.example.two"])
    }
  }

  @Test("a folder that has lost its database never begins anew")
  func lost() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      try FileManager.default.removeItem(atPath: box.data + "/signalbox.sqlite")
      for words in [["apps", "add", "com.example.two", "--name", "Two"], ["apps", "list"]] {
        let result = await box.run(words)
        #expect(result.code == 1 && result.errors.contains("signalbox.sqlite is missing: "), "\(words): \(result)")
        #expect(result.errors.contains("secret.key but no database") && result.errors.contains("signalbox restore"))
      }
      let child = try Child(
        [try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0"], in: box.folder, seconds: 60)
      #expect(await child.status() == 1)
      #expect(child.errorText.contains("is missing") && !child.outputText.contains("password"), "\(child.outputText)")
      #expect(await box.run("doctor").output.contains("ERROR    database: \(box.data)/signalbox.sqlite is missing"))
      #expect(access(box.data + "/signalbox.sqlite", F_OK) != 0)
      let restored = await box.run("restore", backup)
      #expect(restored.code == 0 && restored.errors.contains("there is no previous database: tokens"), "\(restored)")
      #expect(await box.run("apps", "list").output.contains("com.example.one"))
      // Without its key file too, the folder is known by what was set aside.
      await box.run("restore", backup)
      for name in ["signalbox.sqlite", "secret.key"] { unlink("\(box.data)/\(name)") }
      let result = await box.run("apps", "add", "com.example.two", "--name", "Two")
      #expect(result.code == 1 && result.errors.contains(".before-restore-"), "\(result)")
    }
  }

  @Test("a first start that was broken off between the database's file and its tables goes on")
  func firstStart() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data, environment: [:])
      try directory.create()
      try directory.begin()
      #expect(!directory.exists && directory.remains.isEmpty)
      _ = try directory.key()
      #expect(await box.run("apps", "add", "com.example.one", "--name", "One").code == 0)
    }
  }

  @Test("a database that another program has open is not taken away under it")
  func open() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      let reader = try Database(path: box.data + "/signalbox.sqlite", mode: .reader)
      #expect(try reader.int("SELECT count(*) FROM apps") == 1)
      let refused = await box.run("restore", backup)
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.errors.contains("open. Try again when it has closed the file."), "\(refused)")
      reader.close()
      // Seen once, on a busy machine, to be refused for a moment longer.
      try await eventually("the database is free") { await box.run("restore", backup).code == 0 }
    }
  }

  @Test("of a replicated database, restore says what to do about Litestream", arguments: ["yes", "folder", "no"])
  func replicated(known: String) async throws {
    try await CommandRunner.with { box in
      let environment = ["SIGNALBOX_REPLICATED": known == "yes" ? "yes" : ""]
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      if known == "folder" {
        let folder = box.data + "/.signalbox.sqlite-litestream"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      let reader = try Database(path: box.data + "/signalbox.sqlite", mode: .reader)
      #expect(try reader.int("SELECT count(*) FROM apps") == 1)
      let refused = await box.run("restore", backup, environment: environment)
      #expect(refused.code == 1 && refused.errors.contains("probably Litestream") == (known != "no"), "\(refused)")
      reader.close()
      var restored = refused
      try await eventually("the database is free") {
        restored = await box.run("restore", backup, environment: environment)
        return restored.code == 0
      }
      #expect(restored.errors.contains("Restart Litestream") == (known != "no"), "\(restored)")
    }
  }

  private func add(_ name: String, _ role: User.Role, _ database: Database) throws -> User {
    let user = try User.add(database, name: name, role: role, passwordHash: "hash of \(name)", now: CommandRunner.noon)
    try Session.open(
      database, idHash: Secret.hash(name), user: user.id, csrf: "c", lifetime: 86_400, now: CommandRunner.noon)
    try APIToken.add(
      database, name: "token of \(name)", hash: Secret.hash("token \(name)"), scopes: ["viewer"], user: user.id,
      now: CommandRunner.noon)
    try CalendarFeed.make(database, user: user.id, hash: Secret.hash("feed \(name)"), now: CommandRunner.noon)
    return user
  }

  @Test("who and what had been locked out since the backup stays out, and is listed; every session and link is over")
  func revoked() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      let (ben, cleo, dora) = try store.writeSync { database in
        _ = try add("anna@example.com", .admin, database)
        let people = (
          try add("ben@example.com", .admin, database), try add("cleo@example.com", .operator, database),
          try add("dora@example.com", .operator, database)
        )
        _ = try add("emil@example.com", .viewer, database)
        try SignInLink.add(
          database, hash: Secret.hash("link"), purpose: .reset, user: people.0.id, lifetime: 86_400,
          now: CommandRunner.noon)
        for (name, user) in [("lost", people.1), ("kept", people.1), ("own", people.0)] {
          #expect(
            try Passkey.add(
              database, user: user.id, name: name, credential: Array(name.utf8), publicKey: [1], counter: 0,
              now: CommandRunner.noon))
        }
        for name in ["ci", "cron"] {
          try APIToken.add(
            database, name: name, hash: Secret.hash(name), scopes: ["operator"], user: nil, now: CommandRunner.noon)
        }
        return people
      }
      let backup = box.folder + "/backup.sqlite"
      #expect(await box.run("backup", backup).code == 0)
      let later = CommandRunner.noon + 3600
      try store.writeSync { database in
        try User.setPassword(database, id: ben.id, hash: "another")
        try User.update(database, id: ben.id, role: .viewer, language: nil)
        try User.setDisabled(database, id: cleo.id, true, now: later)
        try database.run("UPDATE users SET sends_production = 0 WHERE id = ?", dora.id)
        let lost = try #require(try Passkey.find(database, credential: Array("lost".utf8)))
        #expect(try Passkey.remove(database, id: lost.id, user: cleo.id) == "lost")
        try CalendarFeed.make(database, user: dora.id, hash: Secret.hash("feed anew"), now: later)
        let ci = try #require(try APIToken.all(database).first { $0.name == "ci" })
        try APIToken.revoke(database, id: ci.id, now: later)
      }
      store.close()
      #expect(await box.run("users", "remove", "emil@example.com", now: later).code == 0)

      let result = await box.run("restore", backup, now: later + 60)
      #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
      #expect(
        result.lines.dropFirst(2) == [
          "Ended: 5 sessions, 1 sign-in link.",
          "Deleted, as in the previous database: emil@example.com.",
          "Disabled, as in the previous database: cleo@example.com.",
          "Password kept from the previous database: ben@example.com.",
          "Role kept from the previous database: ben@example.com.",
          "May not send to production, as in the previous database: dora@example.com.",
          "Passkeys removed, as in the previous database: cleo@example.com.",
          "Tokens revoked, as in the previous database: ci.",
          "Calendar link deleted, as in the previous database: dora@example.com.",
        ])
      let restored = try DataDirectory(box.data, environment: [:]).open(now: later)
      defer { restored.close() }
      try restored.readSync { database in
        #expect(try database.int("SELECT count(*) FROM sessions") == 0)
        #expect(try SignInLink.find(database, hash: Secret.hash("link"), now: CommandRunner.noon) == nil)
        #expect(try User.all(database).map(\.name).contains("emil@example.com") == false)
        let found = try User.get(database, id: ben.id)
        #expect(found.passwordHash == "another" && found.role == .viewer)
        #expect(try User.get(database, id: cleo.id).disabledAt == later)
        #expect(try !User.get(database, id: dora.id).sendsToProduction)
        #expect(try Passkey.all(database, user: cleo.id).map(\.name) == ["kept"])
        #expect(try Passkey.all(database, user: ben.id).map(\.name) == ["own"])
        let good = ["ci", "cron", "token anna@example.com", "token cleo@example.com", "token emil@example.com"]
          .filter { (try? APIToken.find(database, hash: Secret.hash($0), now: later)) != nil }
        #expect(good == ["cron", "token anna@example.com"])
        #expect(try CalendarFeed.find(database, user: dora.id) == nil)
        #expect(try CalendarFeed.find(database, user: ben.id) != nil)
        let entry = try #require(
          try AuditEntry.list(database, .init(action: "database.restore"), limit: 1).items.first?.entry)
        #expect(entry.detail?["tokens"] == ["ci"] && entry.detail?["sessions"] == 5)
      }
    }
  }

  @Test("if the only administrator of the backup was removed, the restore says how one is made")
  func withoutAdmin() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      try store.writeSync { _ = try add("anna@example.com", .admin, $0) }
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      try store.writeSync { _ = try add("ben@example.com", .admin, $0) }
      store.close()
      #expect(await box.run("users", "remove", "anna@example.com", now: CommandRunner.noon + 60).code == 0)
      let result = await box.run("restore", backup, now: CommandRunner.noon + 120)
      #expect(result.output.contains("Deleted, as in the previous database: anna@example.com."))
      #expect(result.errors.contains("no admin is left"), "\(result)")
    }
  }

  @Test("another installation's people and tokens come as the backup has them; only sessions end")
  func otherInstallation() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      try store.writeSync { _ = try add("anna@example.com", .admin, $0) }
      store.close()
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      let elsewhere = ["SIGNALBOX_DATA": box.folder + "/new"]
      let later = CommandRunner.noon + 3600
      await box.run("users", "add", "anna@example.com", "--role", "viewer", environment: elsewhere, now: later)
      let result = await box.run("restore", backup, environment: elsewhere, now: later)
      #expect(result.code == 0 && result.lines.dropFirst(2) == ["Ended: 1 session, 0 sign-in links."], "\(result)")
      #expect(result.errors.isEmpty, "anna is an administrator again")
      let listed = await box.run("users", "list", "--json", environment: elsewhere).json
      #expect(listed?.array?.first?["role"] == "admin")
    }
  }
}
