import Calendar
import Foundation
import HTTP2
import JSON
import Model
import Text

/// A parsed answer of APNs.
struct APNsResponse: Sendable, Hashable {
  /// Empty if the answer gave none.
  let reason: String
  /// Of a 410: when the token became invalid; not later than the answer.
  var tokenInvalidSince: Date?
  var retryAfter: Duration?

  /// - Parameter now: when the answer came.
  init(detail: Answer.Detail?, now: Date) {
    guard let detail else {
      reason = ""
      return
    }
    let (reason, timestamp) = Self.parse(detail.body)
    self.reason = reason
    // A damaged answer can name any number, and not every number is a date that can be written.
    tokenInvalidSince = timestamp.map { min(Date(timeIntervalSince1970: Double(max(0, $0)) / 1000), now) }
    retryAfter = detail.fields["retry-after"].flatMap { RetryAfter.wait($0, now: now) }
  }

  /// An answer whose fields do not matter.
  init(body: [UInt8]) { reason = Self.parse(body).reason }

  private static func parse(_ body: [UInt8]) -> (reason: String, timestamp: Int64?) {
    let (reason, timestamp) = members(body)
    // Stored for each device, and shown: what another server answers in place of APNs may be long.
    return (reason.singleLine.abbreviated(to: 80), timestamp)
  }

  /// Reads `{"reason":"…"}` and `{"reason":"…","timestamp":…}`.
  ///
  /// The usual forms are read without a JSON parser, because a broadcast can bring hundreds of thousands of them.
  private static func members(_ body: [UInt8]) -> (reason: String, timestamp: Int64?) {
    let start = Array(#"{"reason":""#.utf8)
    if body.starts(with: start), let quote = body[start.count...].firstIndex(of: UInt8(ascii: "\"")),
      !body[start.count..<quote].contains(UInt8(ascii: "\\"))
    {
      let reason = String(decoding: body[start.count..<quote], as: UTF8.self)
      let rest = body[(quote + 1)...]
      if rest.elementsEqual("}".utf8) { return (reason, nil) }
      let key = Array(#","timestamp":"#.utf8)
      if rest.starts(with: key), rest.last == UInt8(ascii: "}"),
        let number = Int64(String(decoding: rest.dropFirst(key.count).dropLast(), as: UTF8.self))
      {
        return (reason, number)
      }
    }
    // A body that is not JSON carries no reason; fall back to the status.
    guard let value = try? JSONValue(parsing: Data(body)) else { return ("", nil) }
    return (value["reason"]?.string ?? "", value["timestamp"]?.integer)
  }
}

/// The handling of APNs' answers (Apple, "Handling notification responses from APNs"; docs/protocols.md §1.6).
struct APNsRules: ServiceRules {
  /// "4XX slows down your ability to send" (Apple). A 410 is no error; 401 and 403 concern the credential, which the
  /// ``CircuitBreaker`` handles.
  func isRefusal(_ status: Int) -> Bool {
    (400..<500).contains(status) && status != 401 && status != 403 && status != 410
  }

  func provesCredential(_ status: Int) -> Bool { status != 401 && status != 403 }

  /// APNs' success is the status alone; its body is empty.
  func lack(in detail: Answer.Detail?) -> String? {
    guard let body = detail?.body, !body.isEmpty else { return nil }
    return "with a body"
  }

  func repeatsRequest(_ fields: HeaderList) -> Bool {
    fields.allSatisfy { $0.name == "apns-id" || $0.name == "apns-request-id" }
  }

  func reading(_ status: Int, _ detail: Answer.Detail?, now: Date) -> AnswerReading {
    let response = APNsResponse(detail: detail, now: now)
    let words = response.reason.isEmpty ? "HTTP \(status)" : response.reason
    let outcome = Outcome.rejected(status: status, reason: words, tokenInvalidSince: response.tokenInvalidSince)
    switch (status, APNsCode(rawValue: response.reason)) {
    case (403, .expiredProviderToken):
      return AnswerReading(consequence: .renews, result: .outcome(outcome), reason: words)
    // BadCertificate, BadCertificateEnvironment, InvalidProviderToken, MissingProviderToken, Forbidden,
    // UnrelatedKeyIdInToken, BadEnvironmentKeyIdInToken, its real-world form BadEnvironmentKeyInToken, and future ones.
    case (403, _): return AnswerReading(consequence: .stops, result: .outcome(outcome), reason: words)
    case (400, .idleTimeout), (429, _), (500..., _):
      let cause = RetryCause(status: status, reason: words, retryAfter: response.retryAfter)
      return AnswerReading(consequence: .none, result: .retry(cause), reason: words)
    default: return AnswerReading(consequence: .none, result: .outcome(outcome), reason: words)
    }
  }
}
