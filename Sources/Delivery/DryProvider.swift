import Foundation
import HTTP2
import Providers
import Model

/// The provider of a dry run: sends nothing and reports that for each device.
final class DryProvider: Provider {
  private let report: @Sendable (SendReport) -> Void

  init(report: @escaping @Sendable (SendReport) -> Void) { self.report = report }

  /// For every platform; affects no credential's health.
  static func route(report: @escaping @Sendable (SendReport) -> Void) -> Route {
    Route(credentialID: 0, provider: DryProvider(report: report))
  }

  func prepare(_ push: ProviderPush) -> any PreparedPush { DryPush(push: push.id, report: report) }

  // A dry run has no queue, no requests in flight and no connections.
  func cancel(push: Int64) {}
  func reconnect() {}
  func stop() {}
  func ifIdle(_ then: @escaping @Sendable () -> Void) { then() }
  func probe(topic: String) {}
  var state: ProviderState { .ready }
  func health(at now: Date) -> ProviderHealth { ProviderHealth() }
}

private struct DryPush: PreparedPush {
  let push: Int64
  let report: @Sendable (SendReport) -> Void

  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    report(SendReport(push: push, results: devices.map { ($0.id, .notSent(reason: OwnReason.dryRun.rawValue)) }))
  }
}
