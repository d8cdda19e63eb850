package import Foundation
import HTTP2
package import Providers

/// A provider whose sending and cancelling are closures; the rest of it does nothing.
package final class ProviderClosure: Provider {
  package typealias Send = @Sendable (_ push: ProviderPush, _ devices: [ProviderDevice]) -> Void

  private struct Prepared: PreparedPush {
    let push: ProviderPush
    let send: Send

    func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
      // All of them at once: when each leaves is not known.
      for (index, device) in devices.enumerated() { notes?.left(index, id: device.id) }
      send(push, devices)
    }
  }

  private let send: Send
  private let cancelled: @Sendable (Int64) -> Void
  private let reconnected: @Sendable () -> Void
  private let standing: @Sendable () -> (ProviderState, ProviderHealth)

  package init(
    send: @escaping Send, cancel: @escaping @Sendable (Int64) -> Void = { _ in },
    reconnect: @escaping @Sendable () -> Void = {},
    standing: @escaping @Sendable () -> (ProviderState, ProviderHealth) = { (.ready, ProviderHealth()) }
  ) {
    (self.send, cancelled, reconnected, self.standing) = (send, cancel, reconnect, standing)
  }

  package func prepare(_ push: ProviderPush) -> any PreparedPush { Prepared(push: push, send: send) }
  package func cancel(push: Int64) { cancelled(push) }
  package func reconnect() { reconnected() }
  package func stop() {}
  package func ifIdle(_ then: @escaping @Sendable () -> Void) { then() }
  package func probe(topic: String) {}
  package var state: ProviderState { standing().0 }
  package func health(at now: Date) -> ProviderHealth { standing().1 }
}
