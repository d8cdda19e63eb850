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
    /// Counted requests whose answer has not begun.
    var underWay = 0
    var waiting: [Request] = []
    /// Whether it stands in ``Turns/order``.
    var isListed = false
  }

  private struct Request {
    let isCounted: Bool
    let start: () -> Void
  }

  private static let period: UInt64 = 50_000_000
  /// Of a period: one in 25 of it.
  private static let share: UInt64 = 2_000_000
  /// How long the lines may take before the loop looks for requests of others.
  private static let slice: UInt64 = 500_000

  private let loop: EventLoop
  private let limit: Int
  private var periodStart: UInt64 = 0
  private var lines: [Client: Line] = [:]
  /// Clients with waiting requests, in the order of their turns.
  private var order: [Line] = []
  private var isPlanned = false

  /// - Parameter limit: how many counted requests of a client may be under way.
  init(loop: EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
  }

  /// Runs `start` now, or when it is the client's turn.
  ///
  /// - Parameter isCounted: whether the request is under way until ``answered(_:)``.
  func take(_ client: Client, isCounted: Bool, _ start: @escaping () -> Void) {
    let now = EventLoop.now()
    if now &- periodStart > Self.period { beginPeriod(now) }
    let line = line(of: client)
    let request = Request(isCounted: isCounted, start: start)
    if line.waiting.isEmpty, line.spent <= Self.share, !isCounted || line.underWay < limit {
      run(request, of: line, at: now)
    } else {
      line.waiting.append(request)
      if !line.isListed {
        line.isListed = true
        order.append(line)
      }
      plan()
    }
  }

  /// The answer of a counted request has begun.
  func answered(_ client: Client) {
    guard let line = lines[client] else { return }
    line.underWay -= 1
    if !line.waiting.isEmpty { plan() }
  }

  private func line(of client: Client) -> Line {
    if let line = lines[client] { return line }
    let line = Line()
    lines[client] = line
    return line
  }

  /// Most clients are gone by then; the others begin anew.
  private func beginPeriod(_ now: UInt64) {
    periodStart = now
    lines = lines.filter { $0.value.underWay > 0 || !$0.value.waiting.isEmpty }
    for line in lines.values { line.spent = 0 }
  }

  private func run(_ request: Request, of line: Line, at begin: UInt64) {
    if request.isCounted { line.underWay += 1 }
    request.start()
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
    // Once round without a start means that every client has enough under way: ``answered(_:)`` continues.
    var passed = 0
    while passed < order.count, now &- begin < Self.slice {
      let line = order.removeFirst()
      guard let first = line.waiting.first, !first.isCounted || line.underWay < limit else {
        order.append(line)
        passed += 1
        continue
      }
      line.waiting.removeFirst()
      line.isListed = !line.waiting.isEmpty
      if line.isListed { order.append(line) }
      run(first, of: line, at: now)
      now = EventLoop.now()
      passed = 0
    }
    if passed < order.count { plan() }
  }
}
