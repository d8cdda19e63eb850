package import Model

/// The faults that the simulator produces, to show how a sender copes. None by default.
///
/// If several apply to one request, the first in this order wins: ``cutAfter``, ``refusedShare``, ``answers``,
/// ``silentShare``. ``delay`` and ``goAwayAfter`` come on top.
package struct Faults: Sendable, Hashable {
  /// Refusals in the order in which they are tried. The push does not reach its phone.
  package var answers: [Answer] = []
  /// The delay of each answer.
  package var delay: Duration?
  /// A connection gets GOAWAY with the reason `Shutdown` after this many requests; all are answered.
  package var goAwayAfter: Int?
  /// Share of requests reset as not processed (REFUSED_STREAM), 0 to 1: safe to send again.
  package var refusedShare = 0.0
  /// A connection is cut at this request; unanswered requests stay unknown to the sender.
  package var cutAfter: Int?
  /// Share of requests, 0 to 1, that are never answered although the push reaches its phone: a sender that repeats them
  /// creates duplicates.
  package var silentShare = 0.0
  /// SETTINGS_MAX_CONCURRENT_STREAMS, also for existing connections; nil: as the service does.
  package var maximumStreams: UInt32?
  /// Seed of the random numbers for shares: the same seed gives the same course.
  package var seed: UInt64 = 0

  package init() {}

  /// An error answer.
  package struct Answer: Sendable, Hashable {
    /// 400 to 599.
    package var status: Int
    /// As in the JSON of the answer.
    package var reason: String
    /// The requests that get it.
    package var scope: Scope
    /// Seconds: `Retry-After` of a 429 or 503 of FCM, `X-Rate-Limit-Reset` of a 429 of JPush; nil: none, or the usual.
    package var retryAfter: Int?

    package enum Scope: Sendable, Hashable {
      case all
      /// The next so many.
      case next(Int)
      /// 0 to 1, at random.
      case share(Double)
      /// Requests to one device token.
      case token(DeviceToken)
    }

    package init(status: Int, reason: String, scope: Scope = .all, retryAfter: Int? = nil) {
      (self.status, self.reason, self.scope, self.retryAfter) = (status, reason, scope, retryAfter)
    }
  }
}

/// Why a text describes no faults.
package enum FaultsError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAPair(String)
  case unknownKey(String)
  /// A value that the key does not accept.
  case badValue(key: String, value: String, expected: String)
  /// `next`, `share`, `token` or `retry` without a preceding `status` or `reason`.
  case withoutAnswer(key: String)
  /// A repeated key that may appear only once.
  case repeated(key: String)
  /// More than one of `next`, `share` and `token` in one answer.
  case severalScopes
  /// An unknown reason without a status.
  case statusNeeded(reason: String)
  /// A status with several reasons or none in the service's table, without a reason.
  case reasonNeeded(status: Int)
  /// A reason that some clients answer by sending again without end (docs/protocols.md §7.4).
  case countNeeded(reason: String)
  /// `retry` for an answer that has no `Retry-After`.
  case retryNotPossible

  /// For help texts.
  package static let keys = [
    "status", "reason", "next", "share", "token", "retry", "delay", "goaway", "refuse", "cut", "silent", "streams",
    "seed",
  ]

  package var description: String {
    switch self {
    case .notAPair(let part): "“\(part)” is not of the form key=value."
    case .unknownKey(let key): "Unknown fault “\(key)”. Known faults: \(Self.keys.joined(separator: ", "))."
    case .badValue(let key, let value, let expected): "\(key)=\(value): expected \(expected)."
    case .withoutAnswer(let key): "“\(key)” belongs to a response. Put status=… or reason=… before it."
    case .countNeeded(let reason):
      "Some clients repeat a request without end after \(reason). Add a count, e.g. next=1."
    case .retryNotPossible: "“retry” belongs to a response of FCM with status 429 or 503, or of JPush with 429."
    case .repeated(let key): "“\(key)” appears twice."
    case .severalScopes: "A response can have only one of next, share, and token. Start another response with status=…."
    case .statusNeeded(let reason): "The service has no reason “\(reason)”. Add a status, e.g. status=503."
    case .reasonNeeded(let status): "Add a reason for status \(status), e.g. reason=ServiceUnavailable."
    }
  }
}
