import Foundation
import HTTPServer
import Reactor
import Synchronization

/// Counts the calls of apps in windows of one minute that begin with the first call. In memory: a restart begins anew.
final class ClientLimits: Sendable {
  /// Calls in a minute.
  enum Rate {
    /// Registrations from one address; many phones of one network share one.
    static let registrations = 600
    /// Registrations of one device: an app that repeats every 3 seconds (docs/protocols.md §6) stays below.
    static let device = 30
    /// Registrations with one client key.
    static let key = 30_000
    /// Requests with receipts from one address.
    static let receipts = 1200
  }

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
  /// Between two searches for windows that are over: each looks at all of them.
  private static let cleaning: TimeInterval = 10

  private struct State {
    var windows: [Subject: Window] = [:]
    var cleanedAt = Date.distantPast
  }

  private let state = Mutex(State())

  /// An address; of IPv6 the network /64, which one customer has. Nil: the request is from this process, such as a
  /// simulated phone's.
  static func address(_ request: Request) -> String? {
    request.remoteAddress.map { $0.bytes.count == 16 ? $0.network(64) : $0.host }
  }

  /// Counts a call.
  ///
  /// - Returns: seconds to wait before the next one; nil: this one is taken.
  func wait(_ subject: Subject, now: Date) -> Int? {
    let limit = Self.limit(subject)
    return state.withLock { state in
      var subject = subject
      var (window, most) = (state.windows[subject], limit)
      if window == nil, state.windows.count >= Self.most {
        if now.timeIntervalSince(state.cleanedAt) >= Self.cleaning {
          state.cleanedAt = now
          state.windows = state.windows.filter { !Self.isOver($0.value, now) }
        }
        if state.windows.count >= Self.most {
          subject = .others(limit)
          window = state.windows[subject]
          most = limit * 10
        }
      }
      var counted = window.flatMap { Self.isOver($0, now) ? nil : $0 } ?? Window(start: now)
      if counted.count >= most {
        return max(1, Int((Self.length - now.timeIntervalSince(counted.start)).rounded(.up)))
      }
      counted.count += 1
      state.windows[subject] = counted
      return nil
    }
  }

  private static func limit(_ subject: Subject) -> Int {
    switch subject {
    case .registrations: Rate.registrations
    case .device: Rate.device
    case .key: Rate.key
    case .receipts: Rate.receipts
    case .others(let limit): limit
    }
  }

  private static func isOver(_ window: Window, _ now: Date) -> Bool {
    !(0..<length).contains(now.timeIntervalSince(window.start))
  }
}
