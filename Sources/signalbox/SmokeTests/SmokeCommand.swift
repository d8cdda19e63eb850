import Arguments
import Delivery
import Foundation
import JSON
import Model
import Store
import Text

/// `signalbox smoke`: runs saved smoke tests, for cron and CI.
enum SmokeCommand {
  private static let names = Argument<[String]>(rest: "name", "The names of the smoke tests.", atLeastOne: false)
  private static let all = Flag("all", "Run every smoke test.")
  private static let app = Option<String?>("app", "bundle-id", "With --all: only the tests of this app.")
  private static let list = Flag("list", "List the smoke tests instead of running them.")
  private static let junit = Option<String?>("junit", "file", "Write the results as JUnit XML.")
  private static let timeout = Option<Int>(
    "timeout", "seconds", "How long to wait for each test.", default: 120, showing: "120", SendCommand.parseNumber)

  /// More are for the API, which pages.
  private static let limit = 1000

  static let command = Command<Action>(
    "smoke", "Run saved smoke tests.",
    discussion: """
      A smoke test is a saved push with the answer that is expected for each device; the console and the API create \
      them. Its push is delivered by the running server, or by this command if there is none. Receipts come only to a \
      running server.
      Exit codes: 0: every test passed. 1: a test failed. 64: wrong usage, e.g. an unknown name.
      """,
    parameters: [
      names.parameter, all.parameter, app.parameter, list.parameter, junit.parameter, timeout.parameter,
      CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
      CommonOptions.data.parameter,
      CommonOptions.json.parameter,
    ]
  ) { values, io in
    let io = try io.proxied(values)
    let directory = DataDirectory(values, io)
    let store = try directory.open(readers: 2, now: io.now())
    defer { store.close() }
    let found = try store.readSync { database in
      let app = try values[app].map { try App.named($0, database) }
      return try SmokeTest.list(database, app: app?.id, limit: limit).items.map { try SmokeTestAnswer(database, $0) }
    }
    if values[list] { return show(found, values, io) }
    let tests = try chosen(found, values)
    let startedAt = io.now()
    var runs: [(test: SmokeTestAnswer, run: SmokeRun)] = []
    for test in tests {
      let run = try await carryOut(test.test, store, directory, limit: values[timeout], io)
      runs.append((test, run))
      if !values[CommonOptions.json] { for line in lines(test, run, io) { io.print(line) } }
    }
    if values[CommonOptions.json] { io.print(runs.map(\.run).prettyJSON) }
    if let path = values[junit] { try write(runs, startedAt, to: path) }
    return runs.allSatisfy { $0.run.state == .passed } ? ExitCode.done : ExitCode.failed
  }

  private static func chosen(_ found: [SmokeTestAnswer], _ values: Parsed) throws -> [SmokeTestAnswer] {
    let wanted = values[names]
    guard wanted.isEmpty == values[all] else {
      throw CommandFailure.usage("Name the smoke tests to run, or use --all.")
    }
    if values[all] {
      guard !found.isEmpty else { throw CommandFailure.usage("There are no smoke tests yet. Save one in the console.") }
      return found
    }
    return try wanted.map { name in
      guard let test = found.first(where: { $0.test.name.lowercased() == name.lowercased() }) else {
        let known = found.map { "“\(singleLine($0.test.name))”" }.joined(separator: ", ")
        throw CommandFailure.usage(
          known.isEmpty
            ? "Smoke test “\(singleLine(name))” not found. There are no smoke tests yet."
            : "Smoke test “\(singleLine(name))” not found. Known: \(known)")
      }
      return test
    }
  }

  /// Sends the push and waits for what it is compared with.
  private static func carryOut(
    _ test: SmokeTest, _ store: Store, _ directory: DataDirectory, limit: Int, _ io: CommandIO
  ) async throws -> SmokeRun {
    let runner = SmokeRunner(store: store, intake: PushIntake(store: store, patience: nil))
    let run = try await runner.start(test, .init(.cli, by: commandActor), now: io.now())
    guard run.state == .running, let push = run.push else { return run }
    let start = ContinuousClock.now
    let sending = Sending(directory: directory, store: store, io: io, isWaiting: true, limit: .seconds(limit))
    let left = try await sending.carryOut(push, expected: 0)
    // Without a server no receipt can come.
    let rest = left.isServed ? .seconds(limit) - (ContinuousClock.now - start) : .zero
    let ended = try await runner.wait(for: run.id, atMost: max(.zero, rest), clock: io.now)
    guard ended.state == .running else { return ended }
    return try await store.write { try SmokeRun.endIfDone($0, id: run.id, isOver: true, now: io.now()) }
  }

  // MARK: Output

  private static func show(_ found: [SmokeTestAnswer], _ values: Parsed, _ io: CommandIO) -> Int32 {
    io.hint(ifEmpty: found, "no smoke tests yet; save one in the console: Smoke tests")
    io.print(found, values, in: io.table("NAME", "APP", "STATE", "LAST RUN")) { one in
      let state = one.last.map { io.word($0.state.rawValue, "smoketests.states.") } ?? io.text("never run")
      return [one.test.name, one.app, state, one.last?.startedAt.text ?? ""]
    }
    return ExitCode.done
  }

  private static func lines(_ test: SmokeTestAnswer, _ run: SmokeRun, _ io: CommandIO) -> [String] {
    let push: Message = run.pushUID.map { ", push \($0)" } ?? ""
    let all = Message(
      count: run.devices, one: "1 of 1 device as expected.",
      other: "\(run.devices) of \(run.devices) devices as expected.")
    let result = run.failure.map(io.recorded) ?? io.text(all)
    let state = io.word(run.state.rawValue, "smoketests.states.")
    let line = io.text("\(state): \(singleLine(test.test.name)): \(singleLine(result)) (run \(run.id)\(push))")
    return [line] + run.differences.map { "  " + io.text(Self.line($0, io)) }
  }

  private static func line(_ one: SmokeDifference, _ io: CommandIO) -> Message {
    let reason = Reason.of(one.got)
    guard reason.isKnown else { return "\(singleLine(one.name)): expected \(one.expected), got \(one.got)." }
    return "\(singleLine(one.name)): expected \(one.expected), got \(one.got). \(io.cause(reason)) \(io.remedy(reason))"
  }

  private static func write(
    _ runs: [(test: SmokeTestAnswer, run: SmokeRun)], _ startedAt: Date, to path: String
  ) throws {
    let report = JUnitReport(startedAt: startedAt, runs.map { $0.run.junit($0.test.test.name, app: $0.test.app) })
    do {
      try Data(report.text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw CommandFailure("\(path) cannot be written.")
    }
  }
}
