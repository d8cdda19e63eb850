import Foundation
import Reactor
import Testing

@Suite("Event loop")
struct EventLoopTests {
  @Test("work runs on the loop, in order")
  func order() async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    let values = await withCheckedContinuation { (continuation: CheckedContinuation<[Int], Never>) in
      loop.execute {
        nonisolated(unsafe) var values: [Int] = []
        loop.execute { values.append(1) }
        loop.execute { values.append(2) }
        loop.execute { continuation.resume(returning: values) }
      }
    }
    #expect(values == [1, 2])
  }

  @Test("timers fire by deadline, not by the order of the calls; a cancelled one does not")
  func timers() async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    let values = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
      loop.execute {
        var values: [String] = []
        loop.schedule(after: .milliseconds(20)) {
          values.append("late")
          continuation.resume(returning: values)
        }
        loop.schedule(after: .milliseconds(1)) { values.append("early") }
        loop.schedule(after: .milliseconds(2)) { values.append("cancelled") }.cancel()
      }
    }
    #expect(values == ["early", "late"])
  }

  @Test("a task with the loop as its executor runs on its thread, also after a suspension")
  func executor() async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    let pool = BlockingPool(name: "test", threads: 1)
    defer { pool.stop() }
    let task = Task(executorPreference: loop) {
      let before = loop.isCurrent
      let inside = try await pool.run { loop.isCurrent }
      return (before, inside, loop.isCurrent)
    }
    let (before, inside, after) = try await task.value
    #expect(before && !inside && after)
  }

  @Test("addresses are read and written in the same form", arguments: ["127.0.0.1:80", "[::1]:8080", "0.0.0.0:0"])
  func addresses(text: String) {
    #expect(SocketAddress(text)?.description == text)
  }

  @Test("what is no address is refused", arguments: ["", "localhost", "::1:80", "1.2.3:80", "127.0.0.1:65536"])
  func badAddresses(text: String) {
    #expect(SocketAddress(text) == nil)
  }

  @Test("a connection to a listening socket stands, and its peer is known")
  func sockets() throws {
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    defer { close(listener) }
    let address = try Socket.localAddress(of: listener)
    let client = try Socket.connect(to: address)
    defer { close(client) }
    var accepted: (descriptor: Int32, peer: SocketAddress?)?
    while accepted == nil { accepted = try Socket.accept(listener) }
    let (descriptor, peer) = try #require(accepted)
    defer { close(descriptor) }
    #expect(peer == (try Socket.localAddress(of: client)))
  }
}
