import CEpoll
import Dispatch
import Foundation
import Glibc
import Synchronization

/// One thread with one epoll descriptor: sockets, timers, and work handed over by other threads.
///
/// Also a `TaskExecutor`, so that an async function on it (`Task(executorPreference: loop)`) needs no lock for the
/// loop's state. Nothing that blocks may run on it; see ``BlockingPool``.
package final class EventLoop: TaskExecutor, @unchecked Sendable {
  // @unchecked Sendable because `shared` has a lock, and everything else is touched by the loop's own thread only,
  // which every entry point checks with `precondition(isCurrent)`.

  private enum Job {
    case task(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  private struct Shared {
    var jobs: [Job] = []
    var wakeIsPending = false
    var stopping = false
    var hasEnded = false
  }

  private let shared = Mutex(Shared())
  private let epoll: Int32
  private let wakeup: Int32
  /// By descriptor: the kernel assigns the lowest free number, so the array stays short.
  private var handlers: [(any EventHandler)?] = []
  /// Deregistered since the loop last waited: its events are theirs, not of what has their number now.
  private var dropped: [Int32] = []
  /// Work from the loop itself: needs neither lock nor wake-up.
  private var ownJobs: [Job] = []
  private var timers = TimerHeap()
  private var timerSequence: UInt64 = 0
  /// Whether epoll_pwait2 works, which waits with nanosecond precision.
  private var waitsExactly: Bool
  private let threadID = Atomic<UInt>(0)
  private let finished = DispatchSemaphore(value: 0)
  private let clock: @Sendable () -> UInt64
  private let closing: @Sendable (Int32) -> Void

  /// Starts a loop on its own thread.
  ///
  /// - Parameters:
  ///   - name: the thread's name; the system shows 15 bytes.
  ///   - niceness: lowers the thread's priority, 0 to 19.
  ///   - clock: monotonic nanoseconds for timers. After a jump the loop checks its timers at the next wake-up.
  /// - Throws: ``SystemError`` if the process has no descriptors left.
  package convenience init(
    name: String, niceness: Int32 = 0, clock: @escaping @Sendable () -> UInt64 = { EventLoop.now() }
  ) throws {
    try self.init(name: name, niceness: niceness, clock: clock, waitsExactly: true)
  }

  /// Opens and closes the loop's descriptors; replaced in tests of failures.
  struct Descriptors: Sendable {
    var epoll: @Sendable () -> Int32 = { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    var wakeup: @Sendable () -> Int32 = { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
    var close: @Sendable (Int32) -> Void = { _ = Glibc.close($0) }
  }

  /// - Parameter waitsExactly: false in tests of systems without epoll_pwait2.
  init(
    name: String, niceness: Int32, clock: @escaping @Sendable () -> UInt64, waitsExactly: Bool,
    descriptors: Descriptors = Descriptors()
  ) throws {
    // First, because `deinit`, which closes both, is not called if this fails.
    (epoll, wakeup) = try Self.open(descriptors)
    closing = descriptors.close
    self.clock = clock
    self.waitsExactly = waitsExactly
    Thread.start(name, niceness: niceness) { self.run() }
  }

  private static func open(_ descriptors: Descriptors) throws -> (epoll: Int32, wakeup: Int32) {
    let epoll = descriptors.epoll()
    guard epoll >= 0 else { throw SystemError("epoll_create1") }
    let wakeup = descriptors.wakeup()
    guard wakeup >= 0 else {
      let error = SystemError("eventfd")
      descriptors.close(epoll)
      throw error
    }
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: wakeup))
    guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event) == 0 else {
      let error = SystemError("epoll_ctl")
      descriptors.close(epoll)
      descriptors.close(wakeup)
      throw error
    }
    return (epoll, wakeup)
  }

  deinit {
    closing(epoll)
    closing(wakeup)
  }

  package var isCurrent: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

  // MARK: From any thread

  /// Runs `work` on the loop, in the order of the calls; releases it if the loop has ended.
  package func execute(_ work: @escaping @Sendable () -> Void) { _ = add(.closure(work)) }

  /// Returns when the loop has come to the end of what it is doing.
  package func turn() async {
    await withCheckedContinuation { continuation in
      if !add(.closure { continuation.resume() }) { continuation.resume() }
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) { _ = add(.task(UnownedJob(job))) }

  /// Ends the loop after the work already handed over, and waits for its thread.
  ///
  /// Registered descriptors are not closed. Must not be called on the loop itself.
  package func stop() {
    precondition(!isCurrent, "an event loop cannot wait for itself")
    shared.withLock { $0.stopping = true }
    wake()
    finished.wait()
    finished.signal()
  }

  /// - Returns: false if the loop has ended. A job that it kept would be lost, with everything that the job retains.
  private func add(_ job: Job) -> Bool {
    if isCurrent {
      ownJobs.append(job)
      return true
    }
    let (isAdded, wakes) = shared.withLock { shared in
      guard !shared.hasEnded else { return (false, false) }
      shared.jobs.append(job)
      defer { shared.wakeIsPending = true }
      return (true, !shared.wakeIsPending)
    }
    if wakes { wake() }
    return isAdded
  }

  private func wake() {
    var one: UInt64 = 1
    // A full counter (EAGAIN) means that a wake-up is pending.
    _ = Glibc.write(wakeup, &one, 8)
  }

  /// Watches a descriptor. The loop retains `handler` until ``deregister(_:)``.
  package func register(_ descriptor: Int32, for interest: Readiness, handler: any EventHandler) throws {
    precondition(isCurrent)
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(fd: descriptor))
    guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw SystemError("epoll_ctl") }
    while handlers.count <= Int(descriptor) { handlers.append(nil) }
    handlers[Int(descriptor)] = handler
  }

  package func update(_ descriptor: Int32, for interest: Readiness) throws {
    precondition(isCurrent)
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(fd: descriptor))
    guard epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 else { throw SystemError("epoll_ctl") }
  }

  /// Stops watching. Call it before the descriptor is closed, because its number may be reused at once.
  package func deregister(_ descriptor: Int32) {
    precondition(isCurrent)
    guard handlers.indices.contains(Int(descriptor)) else { return }
    handlers[Int(descriptor)] = nil
    dropped.append(descriptor)
    var event = epoll_event()
    _ = epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
  }

  /// Calls `action` on the loop after a delay, measured on the monotonic clock.
  @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> Timer {
    precondition(isCurrent)
    timerSequence += 1
    let timer = Timer(
      deadline: now() &+ delay.wholeNanoseconds, sequence: timerSequence, cancelled: timers.cancelled,
      action: action)
    timers.insert(timer)
    return timer
  }

  /// Nanoseconds on this loop's clock, by default ``now()-swift.type.method``.
  package func now() -> UInt64 { clock() }

  /// Monotonic nanoseconds, independent of the wall clock.
  package static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  private func run() {
    threadID.store(UInt(pthread_self()), ordering: .relaxed)
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    var stopping = false
    while !stopping {
      var count = wait(&events)
      if count < 0 && errno != EINTR {
        preconditionFailure("epoll_wait: \(SystemError("epoll_wait"))")
      }
      // A stopped process continues with EINTR: handle what has arrived before the timers.
      if count < 0 { count = epoll_wait(epoll, &events, Int32(events.count), 0) }
      dropped.removeAll(keepingCapacity: true)
      for index in 0..<max(0, Int(count)) {
        let descriptor = events[index].data.fd
        if descriptor == wakeup {
          var value: UInt64 = 0
          _ = Glibc.read(wakeup, &value, 8)
        } else {
          // An earlier event of this round may have closed the descriptor, and another one may have its number.
          guard dropped.isEmpty || !dropped.contains(descriptor) else { continue }
          handler(of: descriptor)?.ready(Readiness(rawValue: events[index].events))
        }
      }
      fireTimers()
      stopping = runJobs()
    }
    handlers.removeAll()
    // Timers may retain the loop.
    timers = TimerHeap()
    threadID.store(0, ordering: .relaxed)
    // What the released handlers handed over.
    ownJobs.removeAll()
    finished.signal()
  }

  /// Runs handed-over work; true when the loop is stopping and nothing is left.
  private func runJobs() -> Bool {
    var own: [Job] = []
    swap(&own, &ownJobs)
    let (jobs, hasEnded) = shared.withLock { shared in
      defer {
        if !shared.jobs.isEmpty { shared.jobs = [] }
        shared.wakeIsPending = false
      }
      shared.hasEnded = shared.stopping && own.isEmpty && shared.jobs.isEmpty
      return (shared.jobs, shared.hasEnded)
    }
    for job in own { run(job) }
    for job in jobs { run(job) }
    return hasEnded
  }

  private func run(_ job: Job) {
    switch job {
    case .task(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    case .closure(let work): work()
    }
  }

  private func handler(of descriptor: Int32) -> (any EventHandler)? {
    handlers.indices.contains(Int(descriptor)) ? handlers[Int(descriptor)] : nil
  }

  private func wait(_ events: inout [epoll_event]) -> Int32 {
    let most = Int32(events.count)
    guard let nanoseconds = waitTime() else { return epoll_wait(epoll, &events, most, -1) }
    if waitsExactly {
      var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
      let count = epoll_pwait2(epoll, &events, most, &time, nil)
      if count >= 0 || errno == EINTR { return count }
      // Linux before 5.11 lacks it, and a sandbox may forbid it.
      waitsExactly = false
    }
    // Rounded up, because waking early would spin until the deadline.
    return epoll_wait(epoll, &events, most, Int32(clamping: (nanoseconds + 999_999) / 1_000_000))
  }

  /// Nanoseconds until the next timer; nil: none.
  private func waitTime() -> UInt64? {
    let ready = shared.withLock { !$0.jobs.isEmpty || $0.stopping }
    if ready || !ownJobs.isEmpty { return 0 }
    guard let deadline = timers.earliest else { return nil }
    let now = self.now()
    return deadline <= now ? 0 : deadline - now
  }

  private func fireTimers() {
    guard timers.earliest != nil else { return }
    let now = self.now()
    while let timer = timers.popDue(at: now) {
      let action = timer.action
      timer.action = nil
      action?()
    }
  }
}

extension Duration {
  /// Nanoseconds: 0 if negative, at most about 292 years.
  fileprivate var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 9_000_000_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
  }
}

/// The readiness of a file descriptor, in the bits of epoll(7).
package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The peer has closed its side. Always reported together with `readable`.
  package static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// Error or hang-up. Always reported.
  package static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Receives the readiness of one registered descriptor, always on its loop's thread.
package protocol EventHandler: AnyObject {
  /// Level-triggered: called again until the cause is gone.
  func ready(_ readiness: Readiness)
}
