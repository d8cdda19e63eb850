import Foundation
import HTTPServer
import Reactor
import Synchronization

/// How many calls of apps are taken in a minute.
package struct ClientRates: Sendable, Hashable {
  /// Registrations from one address; many phones of one network share one.
  package var registrations = 600
  /// Registrations of one device: an app that repeats every 3 seconds (docs/protocols.md §6) stays below.
  package var device = 30
  /// Registrations with one client key.
  package var key = 30_000
  /// Requests with receipts from one address.
  package var receipts = 1200

  package init() {}

  /// For tests and benchmarks with one address.
  package static var unlimited: ClientRates {
    var rates = ClientRates()
    (rates.registrations, rates.device, rates.key, rates.receipts) = (.max, .max, .max, .max)
    return rates
  }
}

/// Counts the calls of apps in windows of one minute that begin with the first call. In memory: a restart begins anew.
final class ClientLimits: Sendable {
  /// Whose calls are counted.
  enum Subject: Hashable {
    case registrations(String)
    case device(Int)
    case key(String)
    case receipts(String)
    /// All those for whom there is no more room, by their limit.
    case others(Int)
  }

  private struct Window {
    let start: Date
    var count = 0
  }

  /// Subjects that are remembered at the same time, so that many addresses do not fill the memory.
  private static let most = 100_000
  private static let length: TimeInterval = 60

  private let rates: ClientRates
  private let windows = Mutex<[Subject: Window]>([:])

  init(_ rates: ClientRates) { self.rates = rates }

  /// An address; of IPv6 the network /64, which one customer has.
  /// Nil: the request is from this process, such as a simulated phone's.
  static func address(_ request: Request) -> String? {
    request.remoteAddress.map { $0.bytes.count == 16 ? $0.network(64) : $0.host }
  }

  /// Counts a call.
  ///
  /// - Returns: seconds to wait before the next one; nil: this one is taken.
  func wait(_ subject: Subject, now: Date) -> Int? {
    let limit = limit(subject)
    return windows.withLock { windows in
      var subject = subject
      var (window, most) = (windows[subject], limit)
      if window == nil, windows.count >= Self.most {
        windows = windows.filter { !Self.isOver($0.value, now) }
        if windows.count >= Self.most {
          subject = .others(limit)
          window = windows[subject]
          most = limit.multipliedReportingOverflow(by: 10).overflow ? .max : limit * 10
        }
      }
      var counted = window.flatMap { Self.isOver($0, now) ? nil : $0 } ?? Window(start: now)
      if counted.count >= most {
        return max(1, Int((Self.length - now.timeIntervalSince(counted.start)).rounded(.up)))
      }
      counted.count += 1
      windows[subject] = counted
      return nil
    }
  }

  private func limit(_ subject: Subject) -> Int {
    switch subject {
    case .registrations: rates.registrations
    case .device: rates.device
    case .key: rates.key
    case .receipts: rates.receipts
    case .others(let limit): limit
    }
  }

  private static func isOver(_ window: Window, _ now: Date) -> Bool {
    !(0..<length).contains(now.timeIntervalSince(window.start))
  }
}
