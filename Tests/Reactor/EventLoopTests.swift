import Foundation
import Glibc
import Synchronization
import Testing

@testable import Reactor

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

  @Test("a loop that cannot be made closes each of its descriptors once")
  func failedLoop() throws {
    let opened = Mutex<[Int32]>([])
    let closed = Mutex<[Int32]>([])
    @Sendable func note(_ descriptor: Int32) -> Int32 {
      opened.withLock { $0.append(descriptor) }
      return descriptor
    }
    let real = EventLoop.Descriptors()
    var descriptors = real
    descriptors.epoll = { note(real.epoll()) }
    descriptors.close = { descriptor in
      closed.withLock { $0.append(descriptor) }
      real.close(descriptor)
    }
    let wakeups: [(call: String, open: @Sendable () -> Int32)] = [
      (
        "eventfd",
        {
          errno = EMFILE
          return -1
        }
      ),
      // A file is never waited for.
      ("epoll_ctl", { note(open("/dev/null", O_RDONLY)) }),
    ]
    for wakeup in wakeups {
      opened.withLock { $0 = [] }
      closed.withLock { $0 = [] }
      descriptors.wakeup = wakeup.open
      let error = #expect(throws: SystemError.self) {
        try EventLoop(
          name: "test", niceness: 0, clock: EventLoop.now, waitsExactly: true, descriptors: descriptors)
      }
      #expect(error?.call == wakeup.call)
      #expect(closed.withLock { $0 } == opened.withLock { $0 })
    }
  }

  @Test("the soft limit of descriptors is raised as far as the hard one lets it, and never lowered")
  func descriptorLimit() {
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    #expect(getrlimit(kind, &limit) == 0)
    let before = Int(clamping: limit.rlim_cur)
    // Lower than the hard limit, whatever the machine begins with.
    limit.rlim_cur -= 1
    #expect(setrlimit(kind, &limit) == 0)
    #expect(DescriptorLimit.raise(to: before - 2) == before - 1)
    #expect(DescriptorLimit.raise(to: before) == before)
    #expect(getrlimit(kind, &limit) == 0 && Int(clamping: limit.rlim_cur) == before)
    let hard = Int(clamping: limit.rlim_max)
    let raised = DescriptorLimit.raise(to: before + 1)
    #expect(raised == min(before + 1, hard))
    #expect(DescriptorLimit.raise(to: 0) == raised)
  }

  @Test("an event of a closed descriptor does not reach what got its number in the same round")
  func reusedNumber() async throws {
    final class Handler: EventHandler {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
      func ready(_ readiness: Readiness) { body() }
    }
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    // Readable ends with a byte each, and one without.
    let pipes = try (0..<3).map { _ in
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw SystemError("pipe") }
      return ends
    }
    defer { for end in pipes.joined() { close(end) } }
    let (one, other, empty) = (pipes[0][0], pipes[1][0], pipes[2][0])
    for ends in pipes[..<2] { #expect(write(ends[1], "x", 1) == 1) }
    let calls = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[String], any Error>) in
      loop.execute {
        nonisolated(unsafe) var calls: [String] = []
        // Whichever comes first takes the other one's number away.
        func replace(_ closed: Int32, _ own: Int32) {
          calls.append("first")
          loop.deregister(own)
          loop.deregister(closed)
          dup2(empty, closed)
          do {
            try loop.register(closed, for: .readable, handler: Handler { calls.append("stale") })
          } catch {
            return continuation.resume(throwing: error)
          }
          loop.execute {
            loop.deregister(closed)
            continuation.resume(returning: calls)
          }
        }
        do {
          try loop.register(one, for: .readable, handler: Handler { replace(other, one) })
          try loop.register(other, for: .readable, handler: Handler { replace(one, other) })
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(calls == ["first"])
  }

  @Test("an ended loop keeps no work that comes too late, and nobody waits for it")
  func tooLate() async throws {
    final class Held: Sendable {}
    let loop = try EventLoop(name: "test")
    loop.stop()
    weak var held: Held?
    do {
      let new = Held()
      held = new
      // The work retains the loop, as a connection's does.
      loop.execute { [loop] in withExtendedLifetime((new, loop)) {} }
    }
    #expect(held == nil)
    await loop.turn()
  }

  @Test("the system knows the threads by name")
  func names() async throws {
    @Sendable func name() -> String { (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "" }
    let loop = try EventLoop(name: "a name that is long")
    defer { loop.stop() }
    let pool = BlockingPool(name: "pool", threads: 1)
    defer { pool.stop() }
    let seen = await withCheckedContinuation { continuation in loop.execute { continuation.resume(returning: name()) } }
    #expect(seen == "a name that is \n")
    #expect(try await pool.run(name) == "pool-0\n")
  }

  @Test(
    "timers fire by deadline, not by the order of the calls; a cancelled one does not",
    arguments: [true, false])
  func timers(waitsExactly: Bool) async throws {
    let loop = try EventLoop(name: "test", niceness: 0, clock: EventLoop.now, waitsExactly: waitsExactly)
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

  @Test("thousands of cancelled timers neither fire nor keep others from firing in their order")
  func cancelledTimers() async throws {
    // A clock that stands while the timers are set: however long that takes, their order is that of the delays.
    let begin = EventLoop.now()
    let isSet = Atomic(false)
    let loop = try EventLoop(
      name: "test", niceness: 0,
      clock: { isSet.load(ordering: .relaxed) ? EventLoop.now() : begin }, waitsExactly: true)
    defer { loop.stop() }
    let values = await withCheckedContinuation { (continuation: CheckedContinuation<[Int], Never>) in
      loop.execute {
        var values: [Int] = []
        defer { isSet.store(true, ordering: .relaxed) }
        for number in 0..<5000 {
          let delay = Duration.microseconds((5000 - number) * 40)
          loop.schedule(after: delay) { values.append(number) }.cancel()
          if number % 1000 == 0 { loop.schedule(after: delay) { values.append(-number) } }
        }
        loop.schedule(after: .milliseconds(300)) { continuation.resume(returning: values) }
      }
    }
    #expect(values == [-4000, -3000, -2000, -1000, 0])
  }

  @Test("work that the loop gives to itself runs in order, without starving what comes from outside")
  func ownWork() async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    let outside = Flag()
    let rounds = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      @Sendable func again(_ round: Int) {
        if outside.isSet { return continuation.resume(returning: round) }
        loop.execute { again(round + 1) }
      }
      loop.execute { again(0) }
      Thread { loop.execute { outside.set() } }.start()
    }
    #expect(rounds >= 0)
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

  @Test(
    "networks of addresses, and addresses that nobody should be sent to",
    arguments: [
      ("2001:db8:1:2:3::4", 64, "2001:db8:1:2::/64", false), ("2001:db8:1:2:3::4", 48, "2001:db8:1::/48", false),
      ("2001:db8:1:ffff::", 50, "2001:db8:1:c000::/50", false), ("::1", 64, "::/64", false),
      ("10.1.2.3", 8, "10.0.0.0/8", false), ("::ffff:10.1.2.3", 24, "10.1.2.0/24", false),
      ("169.254.169.254", 16, "169.254.0.0/16", true), ("169.253.255.255", 16, "169.253.0.0/16", false),
      ("100.100.100.200", 32, "100.100.100.200/32", true), ("100.100.100.201", 32, "100.100.100.201/32", false),
      ("::ffff:169.254.1.1", 32, "169.254.1.1/32", true), ("fe80::1", 10, "fe80::/10", true),
      ("fec0::1", 10, "fec0::/10", false), ("fd00:ec2::254", 32, "fd00:ec2::/32", true),
      ("fd00:ec2::253", 32, "fd00:ec2::/32", false), ("fd20:ce::254", 32, "fd20:ce::/32", true),
      ("64:ff9b::a9fe:a9fe", 32, "64:ff9b::/32", true), ("64:ff9b::a01:203", 32, "64:ff9b::/32", false),
      ("2002:a9fe:a9fe::", 16, "2002::/16", true), ("2002:a01:203::", 16, "2002::/16", false),
    ])
  func networks(host: String, length: Int, network: String, isForbidden: Bool) throws {
    let address = try #require(SocketAddress(host: host, port: 443))
    #expect(address.network(length) == network)
    #expect(address.isLinkLocalOrMetadata == isForbidden)
  }

  @Test("a full queue is refused at once; cancelled work is never run and frees its place")
  func boundedPool() async throws {
    let pool = BlockingPool(name: "test", threads: 1)
    defer { pool.stop() }
    let gate = DispatchSemaphore(value: 0)
    await withCheckedContinuation { (held: CheckedContinuation<Void, Never>) in
      _ = pool.execute {
        held.resume()
        // Where a full queue takes more, the test ends, and fails.
        _ = gate.wait(timeout: .now() + 20)
      }
    }
    let (ran, never) = (Flag(), Flag())
    _ = pool.execute { ran.set() }
    await #expect(throws: BlockingPoolFull()) { try await pool.run(waiting: 1) { never.set() } }
    let task = Task { try await pool.run(waiting: 2) { never.set() } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let second = Task { try await pool.run(waiting: 2) { 7 } }
    gate.signal()
    #expect(try await second.value == 7)
    #expect(ran.isSet && !never.isSet)
    pool.stop()
    await #expect(throws: CancellationError.self) { try await pool.run(waiting: 2) { never.set() } }
  }

  @Test("addresses are read and written in the same form", arguments: ["127.0.0.1:80", "[::1]:8080", "0.0.0.0:0"])
  func addresses(text: String) {
    #expect(SocketAddress(text)?.description == text)
  }

  @Test("names below localhost are this machine, whatever the system knows", arguments: ["localhost", "App.LocalHost"])
  func localhost(name: String) throws {
    let found = try Socket.resolve(host: name, port: 80)
    #expect(found.contains(try #require(SocketAddress("127.0.0.1:80"))), "\(found)")
    #expect(throws: LookupError.self) { try Socket.resolve(host: "localhost.invalid", port: 80) }
  }

  @Test("invalid addresses are refused", arguments: ["", "localhost", "::1:80", "1.2.3:80", "127.0.0.1:65536"])
  func badAddresses(text: String) {
    #expect(SocketAddress(text) == nil)
  }

  @Test("a connection to a listening socket succeeds, and its peer is known")
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

/// Something that one thread says and another sees.
private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
