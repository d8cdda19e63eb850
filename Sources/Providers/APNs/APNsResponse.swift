import Calendar
package import Foundation
import HTTP2
import JSON
import Model

/// A parsed answer of APNs.
struct APNsResponse: Sendable, Hashable {
  let status: Int
  /// Empty if the answer gave none.
  let reason: String
  /// Of a 410: when the token became invalid.
  var tokenInvalidSince: Date?
  var retryAfter: Duration?

  /// - Parameter now: the base of a date in `Retry-After`.
  init(status: Int, detail: Answer.Detail?, now: Date) {
    self.status = status
    guard let detail else {
      reason = ""
      return
    }
    let (reason, timestamp) = Self.parse(detail.body)
    self.reason = reason
    tokenInvalidSince = timestamp.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    retryAfter = detail.fields["retry-after"].flatMap { RetryAfter.wait($0, now: now) }
  }

  /// The device's result, if nothing else has to be done first.
  var result: SendResult {
    if status == 200 { return .outcome(.accepted) }
    let words = reason.isEmpty ? "HTTP \(status)" : reason
    switch APNsReason(status: status, reason: reason) {
    case .retry: return .retry(RetryCause(status: status, reason: words, retryAfter: retryAfter))
    case .final, .renewToken, .stop:
      return .outcome(.rejected(status: status, reason: words, tokenInvalidSince: tokenInvalidSince))
    }
  }

  /// Reads `{"reason":"…"}` and `{"reason":"…","timestamp":…}`.
  ///
  /// The usual forms are read without a JSON parser, because a broadcast can bring hundreds of thousands of them.
  private static func parse(_ body: [UInt8]) -> (reason: String, timestamp: Int64?) {
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

/// APNs' reasons with special handling; all are in `Reason+APNs.swift`.
package enum APNsCode: String, Sendable, CaseIterable {
  case badTopic = "BadTopic"
  case expiredProviderToken = "ExpiredProviderToken"
  case idleTimeout = "IdleTimeout"
  case missingTopic = "MissingTopic"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case topicDisallowed = "TopicDisallowed"

  /// Whether the sender may not use the topic.
  var isAboutTopic: Bool {
    switch self {
    case .badTopic, .missingTopic, .topicDisallowed: true
    case .expiredProviderToken, .idleTimeout, .tooManyProviderTokenUpdates: false
    }
  }
}

/// The handling of an APNs answer (Apple, "Handling notification responses from APNs"; docs/protocols.md §1.6).
enum APNsReason: Sendable, Hashable {
  /// Final for this device or request.
  case final
  /// The same request may be sent again later.
  case retry
  /// Resend once with a new provider token.
  case renewToken
  /// Nothing can be sent with this credential until it is changed.
  case stop

  init(status: Int, reason: String) {
    switch (status, APNsCode(rawValue: reason)) {
    case (403, .expiredProviderToken): self = .renewToken
    // BadCertificate, BadCertificateEnvironment, InvalidProviderToken, MissingProviderToken, Forbidden,
    // UnrelatedKeyIdInToken, BadEnvironmentKeyIdInToken, its real-world form BadEnvironmentKeyInToken, and future ones.
    case (403, _): self = .stop
    case (400, .idleTimeout): self = .retry
    case (429, _), (500..., _): self = .retry
    default: self = .final
    }
  }
}

/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date in any of the three forms of §5.6.7.
package enum RetryAfter {
  /// A day: no push waits longer.
  private static let maximum: Int64 = 86_400

  /// The wait from `now`, at least 0; nil if malformed.
  package static func wait(_ text: String, now: Date) -> Duration? {
    if let seconds = Int64(text) { return .seconds(min(max(0, seconds), maximum)) }
    guard let date = HTTPDate.parse(text).map({ Date(timeIntervalSince1970: Double($0)) }) else { return nil }
    return .seconds(Int64(min(max(0, date.timeIntervalSince(now).rounded(.up)), Double(maximum))))
  }
}
