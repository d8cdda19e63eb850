import Reactor

/// Whose request is next on an event loop.
///
/// Requests run on the loop as they arrive. That is fair to connections, and so gives most to the client that opens most.
/// A client that has used more than its share of the last moments therefore waits in a line of its own, and the lines take
/// turns while nobody else wants anything; and only a few of its requests may be under way at once, because each may hold
/// a reader of the database that others need. Nothing is refused, and nothing waits while the loop is idle.
///
/// @unchecked Sendable because it is touched on its loop only.
final class Turns: @unchecked Sendable {
  /// What a client is known by: a hash of the credentials that it shows, or of its address.
  typealias Client = Int

  private final class Line {
    /// Nanoseconds of the loop in this period.
    var spent: UInt64 = 0
    /// Counted requests from their admission until their answer has begun.
    var underWay = 0
    /// Counted requests that wait for one of those.
    var held: [() -> Void] = []
    /// Requests that wait for the line's turn.
    var waiting: [() -> Void] = []
  }

  private static let period: UInt64 = 50_000_000
  /// A client's share of a period: 1/25.
  private static let share: UInt64 = 2_000_000
  /// How long the lines may take before the loop looks for requests of others.
  private static let slice: UInt64 = 500_000

  private let loop: EventLoop
  private let limit: Int
  private var periodStart: UInt64 = 0
  private var lines: [Client: Line] = [:]
  /// Lines with waiting requests, in the order of their turns.
  private var order: [Line] = []
  private var isPlanned = false

  /// - Parameter limit: how many counted requests of a client may be under way.
  init(loop: EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
  }

  /// Runs `start` now, or when it is the client's turn.
  ///
  /// - Parameters:
  ///   - isCounted: whether the request is under way until ``answered(_:)``.
  ///   - now: by the loop's clock.
  func take(_ client: Client, isCounted: Bool, at now: UInt64, _ start: @escaping () -> Void) {
    if now &- periodStart > Self.period { beginPeriod(now) }
    let line = line(of: client)
    if isCounted {
      guard line.underWay < limit else { return line.held.append(start) }
      line.underWay += 1
    }
    if line.waiting.isEmpty, line.spent <= Self.share {
      run(start, of: line, at: now)
    } else {
      wait(start, in: line)
    }
  }

  /// The answer of a counted request has begun.
  func answered(_ client: Client) {
    guard let line = lines[client] else { return }
    if line.held.isEmpty {
      line.underWay -= 1
    } else {
      wait(line.held.removeFirst(), in: line)
    }
  }

  private func wait(_ start: @escaping () -> Void, in line: Line) {
    line.waiting.append(start)
    if line.waiting.count == 1 { order.append(line) }
    plan()
  }

  private func line(of client: Client) -> Line {
    if let line = lines[client] { return line }
    let line = Line()
    lines[client] = line
    return line
  }

  /// Drops idle clients; the others start with a fresh budget.
  private func beginPeriod(_ now: UInt64) {
    periodStart = now
    lines = lines.filter { $0.value.underWay > 0 || !$0.value.waiting.isEmpty }
    for line in lines.values { line.spent = 0 }
  }

  private func run(_ start: () -> Void, of line: Line, at begin: UInt64) {
    start()
    line.spent &+= EventLoop.now() &- begin
  }

  /// Goes on after what has arrived by now.
  private func plan() {
    guard !isPlanned else { return }
    isPlanned = true
    loop.execute { [self] in
      isPlanned = false
      work()
    }
  }

  private func work() {
    let begin = EventLoop.now()
    var now = begin
    while !order.isEmpty, now &- begin < Self.slice {
      let line = order.removeFirst()
      let start = line.waiting.removeFirst()
      if !line.waiting.isEmpty { order.append(line) }
      run(start, of: line, at: now)
      now = EventLoop.now()
    }
    if !order.isEmpty { plan() }
  }
}
