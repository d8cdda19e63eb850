import Foundation
import Logging
import Providers
import Model
import SQLite
import Store
import Synchronization

/// The active pushes, each with its ``PushRunner``.
extension DeliveryEngine {
  /// Gives an order to an active push.
  func order(_ order: RunControl.Order, push: Int64) {
    state.withLock { $0.running[push]?.control }?.give(order)
    tell(push)
  }

  /// Starts a push now, or once its current run has stopped.
  func goOn(_ id: Int64) {
    let isRunning = state.withLock { state in
      state.stopped[id] = nil
      state.running[id]?.goesOn = true
      return state.running[id] != nil
    }
    if !isRunning { enqueue(id) }
    tell(id)
  }

  /// - Returns: false if the push is already active.
  func begin(_ id: Int64) -> Bool {
    defer { tell(id) }
    return state.withLock { state in
      guard state.running[id] == nil else { return false }
      let control = RunControl(isStopping: state.isStopping)
      if state.isInterrupted { control.interrupt() }
      state.running[id] = Running(control: control)
      return true
    }
  }

  /// Passes results to their push; results of a push that is no longer active are dropped.
  private func deliver(_ report: SendReport) {
    let control = state.withLock { $0.running[report.push]?.control }
    var items = report.results.map { Inbox.Item(device: $0.device, result: $0.result) }
    let devices = report.results.map(\.device)
    if let message = report.message, let first = devices.min(), let last = devices.max() {
      items[0].message = SentJPushMessage(
        push: report.push, id: message.id, firstDevice: first, lastDevice: last, devices: devices.count,
        sentAt: message.sentAt)
    }
    if !items.isEmpty { (items[0].names, items[0].answers) = (report.names, report.answers) }
    control?.inbox.add(items)
  }

  func carryOut(_ id: Int64) async {
    guard let control = state.withLock({ $0.running[id]?.control }) else { return }
    let patient = PatientStore(
      store: store, push: id, log: log, pause: pause, told: { self.note(id, storeTrouble: $0) })
    let tools = PushRunner.Tools(
      store: patient, routes: routes, clock: clock, steady: steady, sleep: sleep, policy: policy, shares: shares,
      leaps: leaps, trail: state.withLock { $0.trail }, log: log, report: { self.deliver($0) },
      publish: { self.publish(id, $0) })
    do {
      try await PushRunner(id, tools: tools, control: control).carryOut()
      state.withLock { $0.stopped[id] = nil }
    } catch {
      stop(id, error)
    }
    let (listeners, goesOn) = state.withLock { state in
      let ended = state.running.removeValue(forKey: id)
      return (ended?.listeners.values.map { $0 } ?? [], ended?.goesOn ?? false)
    }
    if goesOn { enqueue(id) }
    for listener in listeners { listener.finish() }
    tell(id)
  }
}
