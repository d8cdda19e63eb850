import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import SQLite
import Store
import Testing

@testable import signalbox

@Suite("signalbox rotate-key, and what becomes of a key that is lost", .timeLimit(.minutes(5)))
struct KeyRotationTests {
  /// Sealed rows, each opening as its own text.
  private static func fill(_ box: CommandRunner, _ count: Int) async throws {
    await box.run("apps", "add", "com.example.shop", "--name", "Shop")
    let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
    defer { store.close() }
    try await store.write { [sealer = store.sealer] database in
      for number in 0..<count {
        var details = TrackedCertificate.Details(kind: "apns_key", name: "key \(number)", fileName: "x.p8")
        details.hasPrivateKey = true
        try TrackedCertificate.add(
          database, details, material: Array("secret \(number)".utf8), sealer: sealer, by: "test",
          now: CommandRunner.noon)
      }
    }
  }

  /// How many rows open with the key that a command would use.
  private static func opened(_ box: CommandRunner) throws -> Int {
    let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
    defer { store.close() }
    return try store.readSync { database in
      #expect(try Sealing.state(database, store.sealer) == .fits)
      return try TrackedCertificate.all(database).count { certificate in
        let bytes = try? TrackedCertificate.material(database, id: certificate.id, sealer: store.sealer)
        return bytes.map { String(decoding: $0, as: UTF8.self) } == "secret \(certificate.id - 1)"
      }
    }
  }

  private static func files(_ box: CommandRunner) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.data).filter { !$0.hasPrefix("signalbox.sqlite") }.sorted()
  }

  private static func key(_ box: CommandRunner) throws -> String {
    try String(contentsOfFile: box.data + "/secret.key", encoding: .utf8)
  }

  @Test("everything opens with the new key, nothing but the key lies in the folder, and the audit has a line")
  func rotates() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 20)
      let before = try Self.key(box)
      let old = box.folder + "/old.key"
      let result = await box.run("rotate-key", "--keep-old", old)
      #expect(result.code == 0 && result.output.contains("Encrypted 20 secrets with a new key"), "\(result.errors)")
      let after = try Self.key(box)
      #expect(after != before)
      let text = result.output + result.errors
      #expect(![before, after].contains { text.contains($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
      #expect(try String(contentsOfFile: old, encoding: .utf8) == before)
      for path in [old, box.data + "/secret.key"] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
      }
      #expect(try Self.opened(box) == 20)
      #expect(try Self.files(box) == ["secret.key"])
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      defer { store.close() }
      let lines = try store.readSync { try AuditEntry.list($0, .init(action: "key.rotate"), limit: 5).items }
      #expect(lines.count == 1)
      let again = await box.run("rotate-key", "--keep-old", old)
      #expect(again.code == 1 && again.errors.contains("\(old) already exists and is not overwritten."), "\(again)")
      let nowhere = await box.run("rotate-key", "--keep-old", box.folder + "/none/old.key")
      #expect(nowhere.code == 1 && nowhere.errors.contains("The old key cannot be saved to"), "\(nowhere)")
      #expect(nowhere.errors.contains("The key was not changed."), "\(nowhere)")
      #expect(try Self.opened(box) == 20)
    }
  }

  @Test("nothing that the old key sealed is left in the file, not even what an older version left in free pages")
  func leavesNothing() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 20)
      let path = box.data + "/signalbox.sqlite"
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      let old = try store.writeSync { database in
        let old = try database.fetchAll("SELECT sealed FROM certificates") { Data($0.blob(0)) }
        // As a version did that zeroed nothing, with a secret that has pages of its own.
        try database.script("PRAGMA secure_delete = OFF")
        try TrackedCertificate.refill(
          database, id: 1, material: [UInt8](repeating: 7, count: 20_000), sealer: store.sealer,
          now: CommandRunner.noon)
        let long = try database.fetchAll("SELECT sealed FROM certificates WHERE id = 1") { Data($0.blob(0)) }
        try database.run("DELETE FROM certificates WHERE id IN (1, 2)")
        return old + long
      }
      store.close()
      func left() throws -> Int {
        let files = try FileManager.default.contentsOfDirectory(atPath: box.data)
          .filter { $0.hasPrefix("signalbox.sqlite") }
          .map { try Data(contentsOf: URL(fileURLWithPath: "\(box.data)/\($0)")) }
        return old.count { text in
          let middle = text[(text.count / 2 - 10)..<(text.count / 2 + 10)]
          return files.contains { $0.range(of: middle) != nil }
        }
      }
      #expect(FileManager.default.fileExists(atPath: path))
      #expect(try left() == 21 || left() == 20, "the test sees what is there")
      let result = await box.run("rotate-key")
      #expect(result.code == 0 && result.output.contains("Encrypted 18 secrets"), "\(result.output)\(result.errors)")
      #expect(try left() == 0)
    }
  }

  @Test(
    "an old key that cannot be saved whole is not saved at all, and the key stays",
    .enabled(
      if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil,
      "the thread sanitizer ends where files are so small"))
  func noSpace() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 1)
      // A file may have 512 bytes.
      let long = try Self.key(box) + String(repeating: "\n", count: 1000)
      _ = try box.file("data/secret.key", long)
      chmod(box.data + "/secret.key", 0o600)
      let old = box.folder + "/old.key"
      let child = try Child(
        [try Child.signalbox(), "rotate-key", "--keep-old", old, "--data", box.data], in: box.folder,
        limits: "trap '' XFSZ; ulimit -f 1", seconds: 60)
      #expect(await child.status() == 1)
      #expect(child.errorText.contains("cannot be saved to \(old): "), "\(child.errorText)")
      #expect(access(old, F_OK) != 0)
      #expect(try Self.key(box) == long && Self.opened(box) == 1)
    }
  }

  @Test("refused while a server holds the folder, and nothing is changed")
  func locked() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 1)
      let before = try Self.key(box)
      let server = DataDirectory(box.data, environment: [:])
      let holds = try server.lock()
      #expect(holds)
      let result = await box.run("rotate-key")
      #expect(result.code == 1 && result.errors.contains("in use by a running signalbox"))
      server.unlock()
      #expect(try Self.key(box) == before && Self.files(box) == ["secret.key"])
    }
  }

  @Test("broken off after each of its steps: every command goes on, and the next run or start finishes")
  func steps() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 5)
      let directory = DataDirectory(box.data, environment: [:])
      let rotation = KeyRotation(directory: directory)
      let old = try #require(try directory.storedKey())

      // The new key is there, and nothing is sealed with it.
      _ = try rotation.prepare()
      #expect(try Self.opened(box) == 5)
      #expect(try directory.storedKey()?.identifier == old.identifier)
      #expect(await box.run("apps", "list").code == 0)

      // Everything is sealed with the new key, and the old one still has the name.
      let new = try rotation.prepare()
      _ = try rotation.reseal(from: old, to: new, now: CommandRunner.noon)
      #expect(try Self.files(box) == ["secret.key", "secret.key.new"])
      #expect(try Self.opened(box) == 5)
      #expect(await box.run("doctor").output.contains("a key rotation was interrupted; nothing is lost"))
      let finished = await box.run("rotate-key")
      #expect(finished.code == 0 && finished.output.contains("Finished the interrupted rotation"))
      #expect(try Self.files(box) == ["secret.key"] && Self.opened(box) == 5)
      #expect(try directory.storedKey()?.identifier == new.identifier)

      // The same, and a server starts.
      let third = try rotation.prepare()
      _ = try rotation.reseal(from: new, to: third, now: CommandRunner.noon)
      let server = try DataDirectory(box.data, environment: [:]).openAlone(readers: 1, now: CommandRunner.noon)
      server?.close()
      #expect(server != nil)
      #expect(try Self.files(box) == ["secret.key"] && Self.opened(box) == 5)
      #expect(await box.run("rotate-key").output.contains("Encrypted 5 secrets"))
    }
  }

  @Test("killed at any moment: every secret opens afterwards, and the next run ends well")
  func killed() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box, 3000)
      let program = try Child.signalbox()
      var ended = 0
      for moment in 0..<12 {
        let child = try Child([program, "rotate-key", "--data", box.data], in: box.folder, seconds: 60)
        // Half of them while files are made and rows are sealed, the rest later and later.
        try await eventually("it has begun") {
          !child.isRunning || (moment < 3 ? child.pid != nil : access(box.data + "/secret.key.new", F_OK) == 0)
        }
        try await Task.sleep(for: .milliseconds(moment < 3 ? moment * 4 : (moment - 3) * 12))
        child.send(SIGKILL)
        if await child.status() == 0 { ended += 1 }
        #expect(try Self.opened(box) == 3000, "after moment \(moment)")
      }
      #expect(ended < 12, "at least one was killed in the midst of it")
      let last = await box.run("rotate-key")
      #expect(last.code == 0, "\(last.errors)")
      #expect(try Self.files(box) == ["secret.key"] && Self.opened(box) == 3000)
    }
  }

  @Test("a key that is missing or another one: each command says so, and --lost begins anew")
  func lost() async throws {
    try await CommandRunner.with { box in
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(await box.run("certificates", "add", key, "--team-id", "TEAM123456").code == 0)
      #expect(await box.run("rotate-key", "--lost").errors.contains("Nothing is lost"))
      try FileManager.default.removeItem(atPath: box.data + "/secret.key")
      let check = await box.run("check-certificates")
      #expect(check.code == 2 && check.output.contains("LOCKED   AuthKey_ABCDE12345"))
      #expect(check.output.contains("the key file (secret.key) is missing"))
      let notifying = await box.run("check-certificates", "--notify")
      #expect(notifying.code == 2 && notifying.output == check.output, "\(notifying)")
      let doctor = await box.run("doctor")
      #expect(doctor.output.contains("cannot be decrypted without secret.key"))
      #expect(doctor.output.contains("Copy it back from where you keep it; backups do not contain it."))
      let refused = await box.run("certificates", "list")
      #expect(refused.code == 1 && refused.errors.contains("rotate-key --lost"))
      #expect(refused.errors.contains("(backups do not contain it)"), "\(refused.errors)")

      let other = SealingKey()
      _ = try box.file("data/secret.key", try Self.text(of: other, box))
      chmod(box.data + "/secret.key", 0o600)
      #expect(await box.run("doctor").output.contains("does not match this database"))
      let wrong = await box.run("check-certificates")
      #expect(wrong.code == 2 && wrong.output.contains("does not match this database"))
      #expect(await box.run("check-certificates", "--notify").output == wrong.output)
      let second = try box.file("AuthKey_ABCDE99999.p8", try PrivateKey.generateP256().pkcs8PEM)
      let mixed = await box.run("certificates", "add", second, "--team-id", "TEAM123456")
      #expect(mixed.code == 1 && mixed.errors.contains("does not match this database"))
      #expect(await box.run("rotate-key").code == 1, "with the wrong key nothing can be sealed anew")

      let anew = await box.run("rotate-key", "--lost")
      #expect(anew.code == 0 && anew.output.contains("Upload these again") && anew.output.contains("1  AuthKey_ABC"))
      let closed = await box.run("check-certificates")
      #expect(closed.code == 2 && closed.output.contains("Upload this file again"))
      let back = await box.run("certificates", "renew", "1", key)
      #expect(back.code == 0 && back.output.contains("Restored the private key of certificate 1"), "\(back.errors)")
      #expect(await box.run("check-certificates").code == 0)
    }
  }

  @Test("a key file that is there but cannot be used is not called missing", arguments: [true, false])
  func unusable(isMalformed: Bool) async throws {
    try await CommandRunner.with { box in
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(await box.run("certificates", "add", key, "--team-id", "TEAM123456").code == 0)
      if isMalformed { _ = try box.file("data/secret.key", "xx") }
      chmod(box.data + "/secret.key", isMalformed ? 0o600 : 0o644)
      for arguments in [[], ["--nagios"], ["--json"]] {
        let check = await box.run(["check-certificates"] + arguments)
        let words = isMalformed ? "secret.key) is malformed" : "secret.key) cannot be read, or other users can read it"
        #expect(check.code == 2 && check.output.contains(words), "\(check.output)")
        #expect(!check.output.contains("is missing"), "\(check.output)")
      }
    }
  }

  private static func text(of key: SealingKey, _ box: CommandRunner) throws -> String {
    let path = box.folder + "/other.key"
    _ = try SealingKey.loadOrCreate(path: path)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test("a key file elsewhere is honoured by every command, also behind a link, and kept there by a rotation")
  func elsewhere() async throws {
    try await CommandRunner.with { box in
      try FileManager.default.createDirectory(atPath: box.folder + "/keys", withIntermediateDirectories: true)
      let (real, link) = (box.folder + "/keys/real.key", box.folder + "/link.key")
      _ = try SealingKey.loadOrCreate(path: real)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
      let environment = ["SIGNALBOX_SECRET_KEY_FILE": link]
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      #expect(
        await box.run("certificates", "add", key, "--team-id", "TEAM123456", environment: environment).code == 0)
      #expect(try Self.files(box) == [])
      let before = try String(contentsOfFile: real, encoding: .utf8)
      #expect(await box.run("rotate-key", environment: environment).code == 0)
      #expect(try String(contentsOfFile: real, encoding: .utf8) != before)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == real)
      for words in [["certificates", "list"], ["check-certificates"], ["apps", "list"]] {
        #expect(await box.run(words, environment: environment).code == 0, "\(words)")
      }
      chmod(real, 0o644)
      let open = await box.run("certificates", "list", environment: environment)
      #expect(open.code == 1 && open.errors.contains("can be read by other users (mode 644)"))
    }
  }

  @Test("a backup has no secret in clear, whatever lies sealed in it")
  func backup() async throws {
    try await CommandRunner.with { box in
      let pem = try PrivateKey.generateP256().pkcs8PEM
      let key = try box.file("AuthKey_ABCDE12345.p8", pem)
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      await box.run("certificates", "add", key, "--team-id", "TEAM123456")
      #expect(await box.run("certificates", "request", "--app", "com.example.shop").output.contains("REQUEST"))
      let store = try DataDirectory(box.data, environment: [:]).open(now: CommandRunner.noon)
      try await store.write { [sealer = store.sealer] database in
        _ = try CertificateCandidate.add(
          database, certificate: 1, content: Array(pem.utf8), sealer: sealer, by: "test", now: CommandRunner.noon)
      }
      store.close()
      let copy = box.folder + "/copy.sqlite"
      #expect(await box.run("backup", copy).code == 0)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
      let der = try PEMBlock.all(in: Array(pem.utf8))[0].content
      let sealing = try Self.key(box).trimmingCharacters(in: .whitespacesAndNewlines)
      let secrets = [
        Data("PRIVATE KEY".utf8), Data(pem.split(separator: "\n")[1].utf8), der.dropFirst(36).prefix(32),
        Data(sealing.utf8), try #require(Base64URL.decode(sealing).map { Data($0) }),
      ]
      for secret in secrets { #expect(bytes.firstRange(of: secret) == nil) }
      #expect(bytes.firstRange(of: Data("AuthKey_ABCDE12345".utf8)) != nil, "the test looks at the right file")
    }
  }
}
