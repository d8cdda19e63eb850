import Foundation
import JSON

/// What was answered to each `cid`: within a day the same `cid` gets the same answer, and does nothing again.
///
/// Of more than ``limit``, the earliest may be forgotten sooner.
struct JPushAnswers: Sendable {
  static let limit = 10_000
  /// Seconds.
  private static let life: TimeInterval = 86_400

  private typealias Answers = [String: (body: JSONValue, at: Date)]

  /// At most ``limit``; once it is full, it takes the place of ``former``.
  private var recent: Answers = [:]
  private var former: Answers = [:]

  func find(_ cid: String, now: Date) -> JSONValue? {
    guard let answer = recent[cid] ?? former[cid], now.timeIntervalSince(answer.at) < Self.life else { return nil }
    return answer.body
  }

  mutating func keep(_ body: JSONValue, to cid: String, now: Date) {
    if recent.count >= Self.limit { (former, recent) = (recent, [:]) }
    recent[cid] = (body, now)
  }
}
