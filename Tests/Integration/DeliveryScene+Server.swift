import Foundation
import Glibc
import Model
import Store

@testable import signalbox

extension DeliveryScene {
  /// Starts the real `signalbox serve` on the scene's folder; returns when it listens.
  func serve(limits: String = "true", seconds: Int = 240) async throws -> Child {
    let child = try Child(
      [
        try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0", "--log-format", "json",
      ], in: box.folder, limits: limits, seconds: seconds)
    try await eventually("signalbox serve listens") {
      guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
      return child.outputText.contains("http://")
    }
    return child
  }

  /// Asks the server to stop, as an operator does, and returns how it ended: 0 if as it should.
  func stop(_ child: Child) async -> Int32 {
    child.send(SIGTERM)
    return await child.status()
  }

  /// How many devices of a push have their outcome.
  func progress(_ push: Push) async throws -> (state: PushState, total: Int) {
    try await store.read { database in
      let present = try Push.get(database, id: push.id)
      return (present.state, present.counts.total)
    }
  }

  /// Waits for the end of a push, while `child`, if there is one, is there.
  func finished(_ push: Push, by child: Child? = nil, within limit: Duration = .seconds(120)) async throws {
    try await eventually("the push ends", within: limit, every: .milliseconds(50)) {
      if let child, !child.isRunning { throw SceneError("serve ended: \(child.errorText)") }
      return try await progress(push).state == .finished
    }
  }
}

/// How a test of faults is asked for from outside; see `script/faults`.
enum FaultPlan {
  private static let environment = ProcessInfo.processInfo.environment

  /// How many broadcasts are tried in the long form, nil: the short form.
  static let runs = environment["SIGNALBOX_FAULT_RUNS"].flatMap { Int($0) }
  /// Devices of the long form's broadcast through three services.
  static let broadcast = environment["SIGNALBOX_FAULT_DEVICES"].flatMap { Int($0) } ?? 300_000
  /// Where the random numbers begin; the same seed chooses the same moments, as far as a machine can.
  static let seed = environment["SIGNALBOX_FAULT_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999)
}
