/// How much a group may send while its server does not answer. A value without a clock.
///
/// One rule for every way in which a request or a connection ends without an answer: a reset, a time-out, a refusal, an
/// answer that cannot be read, a connection that is refused, closed or cut. As soon as more has ended so than can still
/// be answered, the group pauses; each further setback doubles the pause. After it one request is tried, and answers
/// widen the allowance as TCP's slow start does.
struct Setbacks {
  /// A connection that answered fewer requests was of little use.
  static let few = 10
  /// So many connections of little use may follow each other at once.
  static let freeConnections = 10
  /// From this allowance on there is none.
  private static let open = 1000

  /// The pause after the first setback.
  private let first: Duration
  private let longest: Duration
  /// In a row.
  private var count = 0
  /// Connections in a row that were of little use.
  private var shortLives = 0
  /// Requests that ended without an answer, less the answers since.
  private var unanswered = 0
  /// How many requests may be sent before the next answer; nil: no limit.
  private(set) var allowance: Int?

  init(first: Duration, longest: Duration) { (self.first, self.longest) = (first, longest) }

  mutating func sent(_ count: Int) {
    if let allowance { self.allowance = max(0, allowance - count) }
  }

  /// Counts requests that ended.
  ///
  /// - Parameter inFlight: requests that may still be answered.
  /// - Returns: whether this is a setback.
  mutating func ended(answered: Int, unanswered lost: Int, inFlight: Int) -> Bool {
    unanswered = max(0, unanswered + lost - answered)
    if answered > 0 {
      count = 0
      if let allowance { self.allowance = allowance + 2 * answered < Self.open ? allowance + 2 * answered : nil }
    }
    return lost > 0 && unanswered > inFlight
  }

  /// Begins a pause, in which nothing is sent.
  ///
  /// - Parameter isLasting: further attempts would end alike.
  mutating func pause(isLasting: Bool) -> Duration {
    count += 1
    (unanswered, allowance) = (0, 0)
    return isLasting ? longest : doubled(count)
  }

  /// Requests came back that were not to blame: others may be sent in their place.
  mutating func returned(_ count: Int) {
    if let allowance { self.allowance = allowance + count }
  }

  /// The pause is over: one request is tried. What ended meanwhile belongs to the setback.
  mutating func resume() { (unanswered, allowance) = (0, allowance.map { max(1, $0) }) }

  /// A connection has ended.
  ///
  /// - Returns: the time before another may be opened.
  mutating func connectionEnded(answered: Int) -> Duration {
    guard answered < Self.few else {
      shortLives = 0
      return .zero
    }
    shortLives += 1
    if answered == 0 { return doubled(shortLives) }
    return shortLives > Self.freeConnections ? first : .zero
  }

  private func doubled(_ times: Int) -> Duration { min(longest, first * (1 << min(times - 1, 16))) }
}
