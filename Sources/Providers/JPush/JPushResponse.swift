import Foundation
import HTTP2
import JSON
import Model
import Synchronization
import Text

/// A parsed refusal of JPush: `{"error":{"code","message"}}` (docs/protocols.md §4.3).
struct JPushResponse: Sendable, Hashable {
  /// As in `Reason+JPush.swift`; nil: the body has none, as that of a proxy.
  let code: Int?
  /// JPush's text, which names the parameter that is wrong.
  let message: String
  let status: Int

  init(status: Int, body: [UInt8]) {
    // A body that is not JSON carries no code; fall back to the status.
    let error = (try? JSONValue(parsing: body))?["error"] ?? .null
    self.status = status
    code = error["code"]?.integer.flatMap { Int(exactly: $0) } ?? Self.code(status)
    message = (error["message"]?.string ?? "").singleLine.withoutFullStop.abbreviated(to: 80)
  }

  /// The code of an answer without one.
  private static func code(_ status: Int) -> Int? {
    switch status {
    case 401: JPushCode.authentication.rawValue
    case 429: JPushCode.tooOften.rawValue
    case 500: JPushCode.internalError.rawValue
    case 503: JPushCode.timeout.rawValue
    default: nil
    }
  }

  /// `JPush 1003 (Invalid alias value)`; without JPush's text where it is always the same.
  var reason: String {
    guard let code else { return "HTTP \(status)" }
    let word = "JPush \(code)"
    let isNamed = JPushCode(rawValue: code).map { ![.missing, .invalid, .tooLarge, .unknownKey].contains($0) } ?? false
    return isNamed || message.isEmpty || code >= 2002 && Reason.of(word).isKnown ? word : "\(word) (\(message))"
  }

  /// Whether nothing can be sent with the credential until a person has acted.
  var isAboutCredential: Bool {
    status == 401 || code.map { Reason.of("JPush \($0)").retry == .afterCredential } ?? (status == 403)
  }
}

/// The handling of JPush's answers, the messages that it accepted, and the pause that its limits ask for
/// (docs/protocols.md §4.3).
final class JPushRules: ServiceRules {
  /// No more is sent before the end; `since` is the first answer that said so.
  struct Pause: Sendable, Hashable {
    let since: Date
    let until: Date
  }

  private struct State {
    var requests: [Int64: [Int64]] = [:]
    var messages: [Int64: SentMessage] = [:]
    var lastRequest: Int64 = 0
    var pause: Pause?
  }

  /// Seconds after a refusal without `X-Rate-Limit-Reset`: the window of JPush's limits.
  private static let window: TimeInterval = 60

  private let state = Mutex(State())

  /// Never: a pause, not fewer requests, is JPush's remedy.
  func isRefusal(_ status: Int) -> Bool { false }

  func provesCredential(_ status: Int) -> Bool { status == 400 }

  func lack(in detail: Answer.Detail?) -> String? { Self.number(detail) == nil ? "without a msg_id" : nil }

  /// The number that JPush gives to what it accepts; nil: this is no acceptance.
  private static func number(_ detail: Answer.Detail?) -> String? {
    let answer = (try? JSONValue(parsing: detail?.body ?? [])) ?? .null  // of somebody else
    guard answer["error"] == nil else { return nil }
    return answer["msg_id"]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? answer["msg_id"]?.integer.map(String.init)
  }

  func reading(_ status: Int, _ detail: Answer.Detail?, now: Date) -> AnswerReading {
    let response = JPushResponse(status: status, body: detail?.body ?? [])
    let reason = response.reason
    let outcome = SendResult.outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil))
    if response.isAboutCredential { return AnswerReading(consequence: .stops, result: outcome, reason: reason) }
    let known = Reason.of(reason)
    guard known.retry == .later || !known.isKnown && (status == 429 || status >= 500) else {
      return AnswerReading(consequence: .none, result: outcome, reason: reason)
    }
    var wait: Duration?
    if status == 429 { wait = .seconds(Self.reset(detail) ?? Self.window) }
    let cause = RetryCause(status: status, reason: reason, retryAfter: wait)
    return AnswerReading(consequence: .none, result: .retry(cause), reason: reason)
  }

  /// Keeps the number of an accepted message, and follows the limits.
  func note(_ answer: Answer, now: Date) {
    guard case .answered(let status, let detail) = answer.result else { return }
    let isUsedUp = detail?.fields["x-rate-limit-remaining"] == "0"
    state.withLock { state in
      if status == 429 || isUsedUp {
        let seconds = Self.reset(detail) ?? (status == 429 ? Self.window : 0)
        let until = now.addingTimeInterval(seconds)
        let since = state.pause.flatMap { $0.until > now ? $0.since : nil } ?? now
        if seconds > 0 { state.pause = Pause(since: since, until: until) }
      }
      // Nothing is kept for a request without devices, which only tries the credential.
      guard status == 200, state.requests[answer.id] != nil else { return }
      if let id = Self.number(detail) { state.messages[answer.id] = SentMessage(id: id, sentAt: now) }
    }
  }

  /// `X-Rate-Limit-Reset` in seconds; nil if missing.
  private static func reset(_ detail: Answer.Detail?) -> TimeInterval? {
    detail?.fields["x-rate-limit-reset"].flatMap { TimeInterval($0) }.map { min(max(0, $0), 300) }
  }

  /// The pause at a time; nil: none.
  func pause(at now: Date) -> Pause? {
    state.withLock { state in
      guard let pause = state.pause, now < pause.until, now >= pause.since.addingTimeInterval(-1) else { return nil }
      return pause
    }
  }

  /// - Returns: the ID of a request to these devices.
  func begin(_ devices: [Int64]) -> Int64 {
    state.withLock { state in
      state.lastRequest += 1
      state.requests[state.lastRequest] = devices
      return state.lastRequest
    }
  }

  /// Puts the devices of each request in its place.
  func expand(_ report: SendReport) -> [SendReport] {
    state.withLock { state in
      report.results.map { request, result in
        guard let devices = state.requests.removeValue(forKey: request) else {
          return SendReport(push: report.push, results: [(request, result)])
        }
        // One answer is that of all devices; it is kept with the first of them.
        let answer = report.answers[request]
        let kept = answer.map { answer in devices.prefix(AnswerBudget.size).map { ($0, answer) } } ?? []
        return SendReport(
          push: report.push, results: devices.map { ($0, result) },
          message: state.messages.removeValue(forKey: request), answers: Dictionary(kept) { first, _ in first })
      }
    }
  }
}
