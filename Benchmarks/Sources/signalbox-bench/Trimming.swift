import Foundation
import Logging
import Model
import SQLite
import Store

/// How long a batch of a broadcast waits for the writer and takes, first alone, then while old deliveries are trimmed
/// away, each for so many seconds; and how many rows a second are trimmed meanwhile, and when nobody else writes.
func trim(database path: String, seconds: Int) async throws {
  let store = try Store.open(path: path, sealer: NoSealer(), now: Date())
  defer { store.close() }
  let before = try await store.read { try $0.int("PRAGMA freelist_count") }
  report("writes alone", try await writes(store, seconds: seconds))
  // Everything that the benchmark made is old.
  let clock: @Sendable () -> Date = { Date() + 400 * 86_400 }
  let log = Logger(label: "bench", level: .error, sink: StreamSink.standardError(.text))
  let trimmer = Trimmer(store: store, clock: clock, log: log)
  let trimming = Task { try await trimmer.trim() }
  let removedBefore = try await removed(store)
  report("writes beside the trimmer", try await writes(store, seconds: seconds))
  let removedMeanwhile = try await removed(store)
  try await Task.sleep(for: .seconds(seconds))
  let removedAlone = try await removed(store)
  trimming.cancel()
  _ = try? await trimming.value
  let after = try await store.read { try $0.int("PRAGMA freelist_count") }
  print(
    "trimmed: \((removedMeanwhile - removedBefore) / seconds) rows/s beside writes, "
      + "\((removedAlone - removedMeanwhile) / seconds) rows/s alone; free pages \(before) before, \(after) after")
}

private func removed(_ store: Store) async throws -> Int {
  try await store.read { try $0.int("SELECT sum(details_removed) FROM pushes") }
}

/// Batches of 1000 results for a push of its own, 20 a second, as a broadcast that is held back to 20 000 a second.
private func writes(_ store: Store, seconds: Int) async throws -> [Double] {
  let push = try await store.write { database in
    var new = NewPush(
      uid: NewPushID.next(), seed: 1, appID: 1, environment: .production, draftJSON: "{}", source: .api,
      createdBy: "bench")
    new.title = "bench"
    return try Push.create(database, new, now: Date()).id
  }
  var times: [Double] = []
  for batch in 0..<(seconds * 20) {
    let results = (0..<1000).map { index in
      DeliveryResult(
        deviceID: Int64(batch * 1000 + index + 1), platform: .ios, outcome: .accepted, at: Date(),
        durationMilliseconds: 20)
    }
    let start = ContinuousClock.now
    _ = try await store.write { try Delivery.record($0, push: push, results, now: Date()) }
    let took = ContinuousClock.now - start
    times.append(took / .milliseconds(1))
    if took < .milliseconds(50) { try await Task.sleep(for: .milliseconds(50) - took) }
  }
  return times.sorted()
}

private func report(_ name: String, _ times: [Double]) {
  print(
    "\(name): p50 \(times.quantile(0.5).text) ms, p99 \(times.quantile(0.99).text) ms, max \((times.last ?? 0).text) ms"
      + " of \(times.count) batches of 1000")
}

private enum NewPushID {
  static func next() -> String { "bench_\(UInt64.random(in: 0 ... .max))" }
}
