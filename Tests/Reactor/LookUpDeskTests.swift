import Dispatch
import Synchronization
import Testing

@testable import Reactor

@Suite("Look-ups of names", .timeLimit(.minutes(1)))
struct LookUpDeskTests {
  private static func errand(_ host: String, owner: Int64 = 0) -> LookUpDesk.Errand {
    LookUpDesk.Errand(name: .init(host: host, port: 443), owner: owner) {}
  }

  private static func hosts(_ errands: [LookUpDesk.Errand]) -> [String] { errands.map(\.name.host) }

  @Test("names that hang keep threads free for new names, and more of them for names that were found")
  func shares() {
    var desk = LookUpDesk(threads: 12)
    #expect(Self.hosts(desk.add(Self.errand("good"))) == ["good"])
    #expect(desk.ended(.init(host: "good", port: 443), isGood: true).isEmpty)
    for number in 0..<8 { #expect(desk.add(Self.errand("hangs-\(number)", owner: Int64(number))).count == 1) }
    #expect(desk.add(Self.errand("new", owner: 9)).isEmpty)
    #expect(Self.hosts(desk.add(Self.errand("good"))) == ["good"])
    // One has ended: the new name goes before one that has failed.
    #expect(Self.hosts(desk.ended(.init(host: "hangs-0", port: 443), isGood: false)) == ["new"])
    #expect(desk.add(Self.errand("hangs-0")).isEmpty)
  }

  @Test("names that failed take a third of the threads")
  func failed() {
    var desk = LookUpDesk(threads: 12)
    for number in 0..<6 {
      _ = desk.add(Self.errand("bad-\(number)"))
      _ = desk.ended(.init(host: "bad-\(number)", port: 443), isGood: false)
    }
    let begun = (0..<6).flatMap { desk.add(Self.errand("bad-\($0)")) }
    #expect(begun.count == 4)
    for number in 0..<4 { #expect(desk.add(Self.errand("new-\(number)")).count == 1) }
  }

  @Test("an owner has two new names looked up at a time; others are not held up")
  func owners() {
    var desk = LookUpDesk(threads: 12)
    let begun = (0..<5).flatMap { desk.add(Self.errand("app-\($0)", owner: 7)) }
    #expect(Self.hosts(begun) == ["app-0", "app-1"])
    #expect(Self.hosts(desk.add(Self.errand("other", owner: 8))) == ["other"])
    #expect(Self.hosts(desk.ended(.init(host: "app-0", port: 443), isGood: true)) == ["app-2"])
  }

  @Test("look-ups of the same name are one; four that hang hold up nobody else")
  func pool() async throws {
    let pool = BlockingPool(name: "resolver", threads: 12)
    defer { pool.stop() }
    let hang = DispatchSemaphore(value: 0)
    let asked = Mutex<[String: Int]>([:])
    let (answers, hand) = AsyncStream.makeStream(of: String.self)
    @Sendable func lookUp(_ host: String, _ port: UInt16) throws -> [SocketAddress] {
      asked.withLock { $0[host, default: 0] += 1 }
      if host.hasPrefix("hangs") { hang.wait() }
      return [SocketAddress(host: "127.0.0.1", port: port)].compactMap { $0 }
    }
    func ask(_ host: String, owner: Int64) {
      _ = pool.lookUp(host, 443, owner: owner, lookUp) { _ in hand.yield(host) }
    }
    for _ in 0..<3 { for number in 0..<4 { ask("hangs-\(number)", owner: Int64(number)) } }
    ask("fifth", owner: 5)
    var iterator = answers.makeAsyncIterator()
    #expect(await iterator.next() == "fifth")
    for _ in 0..<4 { hang.signal() }
    for _ in 0..<12 { #expect(await iterator.next()?.hasPrefix("hangs") == true) }
    #expect(asked.withLock { $0 } == ["hangs-0": 1, "hangs-1": 1, "hangs-2": 1, "hangs-3": 1, "fifth": 1])
  }
}
