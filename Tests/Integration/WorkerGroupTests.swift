import Logging
import Synchronization
import TestSupport
import Testing

@testable import signalbox

@Suite("The workers of the service", .timeLimit(.minutes(1)))
struct WorkerGroupTests {
  private struct Boom: Error, CustomStringConvertible { let description = "boom" }

  /// Lives until it is cancelled.
  static let forever: @Sendable () async -> Void = {
    let (never, hold) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    withExtendedLifetime(hold) {}
  }

  private func lines(_ sink: MemorySink) -> [String] { sink.entries.map { LogFormat.text.line($0) } }

  @Test("one that throws is said with its name and cause, and ends the service if nothing works without it")
  func throwing() async {
    let sink = MemorySink()
    let group = WorkerGroup(
      [
        .init(name: "delivery", loss: .endsService) { throw Boom() },
        .init(name: "reminders", loss: .isRestarted, run: Self.forever),
      ], log: Logger(label: "test", sink: sink))
    async let all: Void = group.run()
    let failure = await group.failure()
    #expect(failure == WorkerGroup.Failure(worker: "delivery", cause: "boom"))
    #expect(failure?.description == "delivery ended unexpectedly: boom")
    #expect(lines(sink).count == 1 && lines(sink)[0].contains("delivery") && lines(sink)[0].contains("boom"))
    #expect(await group.hasEnded("delivery", within: .seconds(60)))
    #expect(await !group.hasEnded("reminders", within: .zero), "the others go on until they are stopped")
    group.stop()
    await all
    #expect(await group.hasEnded("reminders"))
  }

  @Test("one that can be done without is started again, after growing pauses; returning is as bad as throwing")
  func restarted() async {
    let sink = MemorySink()
    let pauses = Mutex<[Duration]>([])
    let starts = Mutex(0)
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let worker = WorkerGroup.Worker(name: "reminders", loss: .isRestarted) {
      let number = starts.withLock { number in
        number += 1
        return number
      }
      if number == 2 { return }
      if number < 9 { throw Boom() }
      start.finish()
      await Self.forever()
    }
    let group = WorkerGroup([worker], log: Logger(label: "test", sink: sink)) { pause in
      pauses.withLock { $0.append(pause) }
    }
    async let all: Void = group.run()
    for await _ in started {}
    #expect(pauses.withLock { $0 } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    #expect(lines(sink).count == 8 && lines(sink)[1].contains("it returned"))
    group.stop()
    await all
    #expect(lines(sink).count == 8, "the end that was asked for is no news")
  }

  @Test("one that ran well for a while is started again soon")
  func restartedSoon() async {
    let pauses = Mutex<[Duration]>([])
    let starts = Mutex(0)
    let ran = Mutex(Duration.zero)
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let worker = WorkerGroup.Worker(name: "reminders", loss: .isRestarted) {
      let number = starts.withLock { number in
        number += 1
        return number
      }
      // The fourth runs for 61 seconds.
      if number == 4 { ran.withLock { $0 += .seconds(61) } }
      if number < 6 { throw Boom() }
      start.finish()
      await Self.forever()
    }
    let began = ContinuousClock.now
    let group = WorkerGroup(
      [worker], log: Logger(label: "test", sink: MemorySink()),
      pause: { pause in pauses.withLock { $0.append(pause) } }, now: { began + ran.withLock { $0 } })
    async let all: Void = group.run()
    for await _ in started {}
    #expect(pauses.withLock { $0 } == [1, 2, 4, 1, 2].map { .seconds($0) })
    group.stop()
    await all
  }

  @Test("one that ends by being told is not cancelled")
  func told() async {
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let wasCancelled = Mutex(true)
    let worker = WorkerGroup.Worker(name: "delivery", loss: .endsService, isCancelled: false) {
      for await _ in told {}
      wasCancelled.withLock { $0 = Task.isCancelled }
    }
    let group = WorkerGroup([worker], log: Logger(label: "test", sink: MemorySink()))
    async let all: Void = group.run()
    group.stop()
    #expect(await !group.hasEnded("delivery", within: .milliseconds(1)))
    tell.finish()
    await all
    #expect(!wasCancelled.withLock { $0 })
  }
}
