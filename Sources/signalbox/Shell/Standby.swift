import Foundation
import Glibc
import HTTPServer
import Logging
import Reactor
import Text

/// A second server in waiting: follows the replica of the first one's database, and becomes a server when
/// `signalbox take-over` asks.
struct Standby: Sendable {
  /// How long a take-over waits for the copy to catch up with the replica.
  private static let patience = Duration.seconds(300)

  let options: Service.Options
  let follower: Follower

  init(_ options: Service.Options, replica: String, litestream: String) {
    self.options = options
    follower = Follower(
      program: litestream, replica: replica, database: options.data.database, log: options.log.labelled("Standby"))
  }

  /// Follows until somebody asks to take over, and the copy is complete.
  ///
  /// - Parameter started: told the address at which it answers meanwhile, and where the server is to listen.
  /// - Returns: who asked, to be told how it ends; nil if `stopped` returned before.
  /// - Throws: ``CommandFailure``.
  func wait(
    _ manager: ServiceManager, stopped: StopSignal, started: (SocketAddress) -> Void
  ) async throws -> TakeOverDoor.Caller? {
    try checkFolder()
    let door = try TakeOverDoor(of: options.data)
    do {
      let caller = try await wait(at: door, manager, stopped: stopped, started: started)
      await door.shut()
      return caller
    } catch {
      await door.shut()
      throw error
    }
  }

  private func wait(
    at door: TakeOverDoor, _ manager: ServiceManager, stopped: StopSignal, started: (SocketAddress) -> Void
  ) async throws -> TakeOverDoor.Caller? {
    let server = try standIn()
    started(try await server.start())
    manager.isReady("Standby: following \(follower.place)")
    options.log.notice("standby: following the replica", ["replica": follower.place])
    let follow = Task { await follower.run() }
    let watch = Task { await manager.watch { await server.turn() } }
    let caller = await withTaskGroup(of: TakeOverDoor.Caller?.self) { group in
      group.addTask {
        await stopped.wait()
        return nil
      }
      group.addTask { await self.completed(door) }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    watch.cancel()
    follow.cancel()
    await follow.value
    await server.stop(within: .seconds(1))
    guard let caller else { return nil }
    caller.tell("The copy has transaction \(follower.position ?? 0), the replica's last. Starting the server.")
    do { try follower.finish() } catch {
      caller.finish(.failure(error))
      throw error
    }
    return caller
  }

  /// Who asked, once the copy has everything. A caller who comes too early, or for whom the replica cannot be read, is
  /// told so, and following goes on.
  private func completed(_ door: TakeOverDoor) async -> TakeOverDoor.Caller? {
    for await caller in door.callers {
      do {
        let newest = try await follower.newest()
        let limit = ContinuousClock.now + Self.patience
        while follower.position ?? 0 < newest {
          guard ContinuousClock.now < limit else {
            throw CommandFailure("The copy is still behind the replica after \(Self.patience); see the standby's log.")
          }
          try await Task.sleep(for: .milliseconds(50))
        }
        return caller
      } catch {
        caller.finish(.failure(Task.isCancelled ? TakeOverDoor.late : error))
      }
    }
    return nil
  }

  /// Answers health checks, and tells everybody else that this is the standby.
  private func standIn() throws -> Server {
    guard let listen = options.listen else { throw CommandFailure("No listen address was given.") }
    var router = Router()
    let (follower, path) = (follower, options.data.path)
    router.get("/healthz") { _ in .text("ok\n") }
    router.get("/readyz") { _ in
      .text(
        "standby: \(follower.position.map { "has transaction \($0)" } ?? "nothing copied yet")\n",
        status: .serviceUnavailable)
    }
    router.missing = { _ in
      var answer = Response.text(
        "This is a standby. On this machine, signalbox take-over --data \(path) makes it the server.\n",
        status: .serviceUnavailable)
      answer.headers.append("Retry-After", "60")
      return answer
    }
    var configuration = try Service.serverConfiguration(listen, options)
    // The server closes its socket at the end; the service needs it afterwards.
    configuration.listener = try options.listener.map { listener in
      let copy = fcntl(listener, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw SystemError("fcntl") }
      return copy
    }
    return Server(configuration, router)
  }

  /// - Throws: ``CommandFailure`` if the folder is in use, has another database, or lacks the key.
  private func checkFolder() throws {
    let data = options.data
    try data.create()
    guard try data.lock() else {
      throw CommandFailure("Another signalbox is using \(data.path). Stop it, or choose another folder with --data.")
    }
    guard !data.exists || follower.position != nil else {
      throw CommandFailure(
        """
        \(data.database) is an independent database, not the copy of a replica. Choose an empty folder with \
        --data.
        """)
    }
    guard access(data.keyFile, R_OK) == 0 else {
      throw CommandFailure(
        """
        \(data.keyFile) is missing. Copy secret.key from the other server, readable by its owner only: a replica does \
        not contain it, and without it no credential can be read.
        """)
    }
  }
}
