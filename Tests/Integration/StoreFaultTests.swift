import Delivery
import Foundation
import JSON
import Logging
import Glibc
import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

@testable import signalbox

/// The disk fails in the middle of a push. Nothing is sent twice for it and nobody is forgotten: the push waits, says so
/// in the log, and goes on when the disk is well again.
@Suite("Faults of the store", .timeLimit(.minutes(3)))
struct StoreFaultTests {
  /// A minute and more for thousands of phones: on a busy machine too, the damage is done long before all is over.
  private static func slow() throws -> Faults { try Faults(parsing: "delay=500ms,streams=50") }
  private static func quick() throws -> Faults { try Faults(parsing: "delay=20ms,streams=50") }

  /// Sends to 6000 phones; breaks the store after some outcomes, and mends it when the log has told of it.
  private func outage(
    _ words: String, break damage: @escaping @Sendable (DeliveryScene) async throws -> Void,
    mend: @escaping @Sendable (DeliveryScene) async throws -> Void
  ) async throws {
    try await DeliveryScene.run(faults: try Self.slow()) { scene in
      let phones = try await scene.add(6000)
      let push = try await scene.push()
      async let carried: Void = scene.carryOut(push)
      try await eventually("some outcomes", every: .milliseconds(5)) { try await scene.progress(push).total >= 100 }
      try await damage(scene)
      scene.simulator.faults(.development).set(try Self.quick())
      try await eventually("the log says so") {
        scene.log.entries.contains { entry in
          entry.level == .error && entry.metadata.contains { $0.value.contains(words) }
        }
      }
      let during = try await scene.progress(push)
      #expect(during.state == .sending && during.total < 6000)
      try await mend(scene)
      try await carried
      let tally = try await scene.tally(push, phones)
      #expect(try await scene.progress(push).state == .finished)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      #expect(tally.outcomes == ["accepted": 6000], "\(tally)")
      #expect(scene.log.entries.contains { $0.message == "store available again; push continues" })
      let problems = try await scene.store.pool.read { try $0.integrityCheck() }
      #expect(problems.isEmpty, "\(problems)")
    }
  }

  /// SQLite's own limit of the file's size gives the very error of a full disk, without a file system to mount.
  @Test("a full disk")
  func full() async throws {
    try await outage("SQLite 13") { scene in
      try await scene.store.write { database in
        let pages = try database.fetchOne("PRAGMA page_count") { $0.int(0) } ?? 0
        // A limit below what there is, is taken as what there is.
        try database.forEach("PRAGMA max_page_count = \(pages)") { _ in .continue }
      }
    } mend: { scene in
      try await scene.store.write { try $0.forEach("PRAGMA max_page_count = 4294967294") { _ in .continue } }
    }
  }

  @Test("another program that holds the lock for longer than the time-out")
  func locked() async throws {
    let other = Holder()
    try await outage("SQLite 5") { scene in
      try other.lock(scene.box.data + "/signalbox.sqlite")
    } mend: { _ in
      other.unlock()
    }
  }

  /// The system refuses to let any file grow (`ulimit -f`): the same moment in the real program, with an error of the
  /// system instead of SQLite's own.
  @Test("a real server whose files may not grow")
  func noGrowth() async throws {
    try await DeliveryScene.run(faults: try Self.quick()) { scene in
      // So many that the log grows beyond the limit also in the few large steps of a slow machine.
      let phones = try await scene.add(10_000)
      let push = try await scene.push()
      try scene.store.pool.checkpoint(waiting: true)
      // 512-byte blocks. Without the trap the signal XFSZ would end the program, as it would end any.
      let child = try await scene.serve(limits: "trap '' XFSZ; ulimit -S -f 1200")
      try await eventually("the log says so") { child.errorText.contains("push is waiting for the store") }
      let during = try await scene.progress(push)
      #expect(during.state == .sending && during.total < 10_000, "\(during)")
      #expect(child.isRunning && child.errorText.contains("SQLite 778"), "\(child.errorText)")
      let pid = try #require(child.pid)
      try await Child.run("prlimit", ["--pid", "\(pid)", "--fsize=unlimited"], in: scene.box.folder)
      try await scene.finished(push, by: child)
      #expect(await scene.stop(child) == 0)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 10_000], "\(tally)")
      #expect(child.errorText.contains("store available again; push continues"))
    }
  }

  /// EIO on reading comes from SQLite in the words of damage: the same moment as when a disk, or the way to it, is gone.
  @Test("a real server whose disk does not read for a while", .enabled(if: SickDisk.isPossible))
  func noReading() async throws {
    try await DeliveryScene.run(faults: try Self.slow()) { scene in
      let phones = try await scene.add(10_000)
      let push = try await scene.push()
      let disk = try await SickDisk(in: scene.box.folder)
      let child = try await scene.serve(limits: disk.exports)
      try await eventually("some outcomes") { try await scene.progress(push).total >= 100 }
      disk.fails(true)
      scene.simulator.faults(.development).set(try Self.quick())
      try await eventually("the log says so") { child.errorText.contains("push is waiting for the store") }
      disk.fails(false)
      try await scene.finished(push, by: child)
      #expect(await scene.stop(child) == 0)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 10_000], "\(tally)")
      #expect(child.errorText.contains("SQLite 11"), "\(child.errorText)")
      #expect(!child.errorText.contains("The database is damaged") && !child.errorText.contains("stopped by an error"))
      #expect(child.errorText.contains("store available again; push continues"))
    }
  }

  /// Reads of the database that fail as a disk's do, in a program that is started for it.
  private struct SickDisk {
    private static let compiler: String? = ["cc", "clang"].first { name in
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        access("\($0)/\(name)", X_OK) == 0
      }
    }
    static let isPossible = compiler != nil

    private static let source = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <unistd.h>
      static int sick(int fd) {
        const char *sign = getenv("SICK_DISK");
        char link[64], path[4096];
        if (!sign || access(sign, F_OK)) return 0;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t size = readlink(link, path, sizeof path - 1);
        if (size <= 0) return 0;
        path[size] = 0;
        return strstr(path, "signalbox.sqlite") && !strstr(path, "-shm");
      }
      ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
        static ssize_t (*next)(int, void *, size_t, off64_t);
        if (!next) next = dlsym(RTLD_NEXT, "pread64");
        if (sick(fd)) { errno = EIO; return -1; }
        return next(fd, bytes, count, at);
      }
      ssize_t pread(int fd, void *bytes, size_t count, off_t at) { return pread64(fd, bytes, count, at); }
      """

    private let sign: String
    /// For the shell that starts the program.
    let exports: String

    init(in folder: String) async throws {
      sign = folder + "/sick"
      try Self.source.write(toFile: folder + "/sick.c", atomically: true, encoding: .utf8)
      try await Child.run(
        Self.compiler ?? "cc", ["-shared", "-fPIC", "-o", folder + "/sick.so", folder + "/sick.c", "-ldl"], in: folder)
      // A sanitizer may have a library of its own there.
      exports = "export LD_PRELOAD=\"\(folder)/sick.so${LD_PRELOAD:+:$LD_PRELOAD}\" SICK_DISK='\(sign)'"
    }

    func fails(_ isSick: Bool) {
      if isSick { symlink("/", sign) } else { unlink(sign) }
    }
  }

  /// A file system of some hundred kilobytes more than the database, seen by the server alone; it ends with the server.
  @Test("a real server on a full file system", .enabled(if: OwnMount.isPossible))
  func fullFileSystem() async throws {
    try await DeliveryScene.run(faults: try Self.quick()) { scene in
      let phones = try await scene.add(10_000)
      let push = try await scene.push()
      scene.store.close()
      let small = scene.box.folder + "/small"
      try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: false)
      // 10 000 outcomes need more than is left, be it in the log or in the file.
      let script = """
        mount -t tmpfs -o mode=700,size=$(($(du -sk "$0" | cut -f1) + 400))k none "$1" && cp -p "$0"/* "$1" && shift \
        && exec "$@"
        """
      let child = try Child(
        OwnMount.namespace + [
          "sh", "-c", script, scene.box.data, small, try Child.signalbox(), "serve", "--data", small, "--listen",
          "127.0.0.1:0", "--log-format", "json",
        ], in: scene.box.folder)
      try await eventually("the log says so") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.errorText.contains("push is waiting for the store")
      }
      #expect(child.errorText.contains("SQLite 13"), "\(child.errorText)")
      // Said before it listened: there is hardly any room from the beginning.
      let said = child.errorText.split(separator: "\n").map(String.init)
      let warned = try #require(said.firstIndex { $0.contains("nothing can be saved until the disk is fixed") })
      #expect(warned < said.firstIndex { $0.contains("listening") } ?? 0)
      let pid = try #require(child.pid)
      let during = try await Self.copy(of: small, at: pid, in: scene.box)
      defer { during.close() }
      let (state, counts) = try await during.read { database in
        let push = try Push.get(database, id: push.id)
        return (push.state, push.counts)
      }
      #expect(state == .sending && counts.total < 10_000, "\(counts)")
      try await Child.run(
        "nsenter",
        ["-t", "\(pid)", "-m"] + (geteuid() == 0 ? [] : ["-U", "--preserve-credentials"]) + [
          "mount", "-o", "remount,size=64m", small,
        ], in: scene.box.folder)
      try await eventually("the push ends", within: .seconds(120), every: .milliseconds(200)) {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        // Torn, if it was written to meanwhile; then the next is looked at.
        guard let copy = try? await Self.copy(of: small, at: pid, in: scene.box) else { return false }
        defer { copy.close() }
        return (try? await copy.read { try Push.get($0, id: push.id).state }) == .finished
      }
      let copy = try await Self.copy(of: small, at: pid, in: scene.box)
      defer { copy.close() }
      #expect(await scene.stop(child) == 0)
      let tally = try await Tally(
        copy, push: push.id, audience: Set(phones.map(\.token)), phones: scene.simulator.phones)
      #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 10_000], "\(tally)")
      #expect(child.errorText.contains("store available again; push continues"))
      #expect(try await copy.pool.read { try $0.integrityCheck() }.isEmpty)
    }
  }

  @Test("a database that was damaged while nobody looked is found at the start: in the log and by monitoring")
  func damaged() async throws {
    try await DeliveryScene.run { scene in
      try await scene.add(2000)
      scene.store.close()
      // A page that the start does not read: an index's.
      let path = scene.box.data + "/signalbox.sqlite"
      let database = try Database(path: path, mode: .reader)
      let page = try database.int(
        "SELECT max(pageno) FROM dbstat WHERE name = 'devices_alias' AND pagetype = 'leaf'")
      database.close()
      try #require(page > 1)
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(page - 1) * 4096)
      try file.write(contentsOf: Data(repeating: 0x55, count: 4096))
      try file.close()
      let child = try await scene.serve()
      defer { child.send(SIGKILL) }
      try await eventually("the log says so") { child.errorText.contains("The database is damaged") }
      let address = try #require(child.outputText.firstMatch(of: /"(http:\/\/127\.0\.0\.1:\d+)"/)).1
      let ready = try await OtherProgram.run("/usr/bin/curl", ["-s", "-w", "%{http_code}", "\(address)/readyz"])
      #expect(ready.output.contains("The database is damaged") && ready.output.hasSuffix("503"))
    }
  }

  /// What stands in a folder that only the process sees. SQLite would follow the link out of its file system.
  private static func copy(of folder: String, at pid: pid_t, in box: CommandRunner) async throws -> Store {
    let copy = "\(box.folder)/\(UUID().uuidString)"
    try await Child.run("cp", ["-r", "/proc/\(pid)/root\(folder)", copy], in: box.folder)
    return try DataDirectory(copy).open(now: Date())
  }

  /// A mount of its own that ends with the program. A file system cannot become read-only under an open file, short of
  /// a damaged disk, so this is how it is met: at the start.
  @Test("a server on a read-only folder says so and ends", .enabled(if: OwnMount.isPossible))
  func readOnly() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(10)
      let push = try await scene.push()
      scene.store.close()
      let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
      let child = try Child(
        OwnMount.namespace + [
          "sh", "-c", script, scene.box.data, try Child.signalbox(), "serve", "--data", scene.box.data, "--listen",
          "127.0.0.1:0",
        ], in: scene.box.folder, seconds: 30)
      #expect(await child.status() == 1)
      #expect(
        child.errorText.contains("signalbox: error: ") && child.errorText.contains(scene.box.data), "\(child.errorText)"
      )
      #expect(scene.simulator.counters(.development).requests == 0)
      // Writable again, the push goes out.
      let store = try DataDirectory(scene.box.data).open(now: Date())
      defer { store.close() }
      let second = try await scene.serve()
      try await eventually("the push ends") {
        try await store.read { try Push.get($0, id: push.id).state == .finished }
      }
      #expect(await scene.stop(second) == 0)
      let tally = try await Tally(
        store, push: push.id, audience: Set(phones.map(\.token)), phones: scene.simulator.phones)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 10], "\(tally)")
    }
  }

  /// Whether this machine lets us mount in a namespace of our own.
  private enum OwnMount {
    static let namespace = geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-Urm"]
    static let isPossible: Bool = {
      let command = "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp"
      // Whatever the reason is: then the test is skipped.
      return (try? OtherProgram.runNow(namespace[0], namespace.dropFirst() + ["sh", "-c", command])) != nil
    }()
  }

  /// A process that holds the write lock.
  private final class Holder: @unchecked Sendable {
    // @unchecked because: used by one task, first to lock and then to unlock.
    private var database: Database?

    func lock(_ path: String) throws {
      let database = try Database(path: path)
      try database.execute("BEGIN IMMEDIATE")
      self.database = database
    }

    func unlock() { database?.close() }
  }
}
