package import Model

/// What the simulator does wrong on purpose, to show how a sender copes. Nothing by default.
///
/// Where several apply to one request, the first of this order does: ``cutAfter``, ``refusedShare``, ``answers``,
/// ``silentShare``. ``delay`` and ``goAwayAfter`` come on top.
package struct Faults: Sendable, Hashable {
  /// Refusals, in the order in which they are tried. The push does not reach its phone.
  package var answers: [Answer] = []
  /// How long each answer waits.
  package var delay: Duration?
  /// After so many requests a connection is told to end (GOAWAY with the reason `Shutdown`); all are answered.
  package var goAwayAfter: Int?
  /// Share of requests that are reset as not processed (REFUSED_STREAM), 0 to 1: safe to send again.
  package var refusedShare = 0.0
  /// At this request of a connection it is cut: what is not answered by then stays unknown to the sender.
  package var cutAfter: Int?
  /// Share of requests, 0 to 1, that are never answered, although the push reaches its phone: a sender that repeats
  /// them makes duplicates.
  package var silentShare = 0.0
  /// SETTINGS_MAX_CONCURRENT_STREAMS, for connections that are there too; nil: as APNs does.
  package var maximumStreams: UInt32?
  /// Where the random numbers for shares begin: the same seed gives the same course.
  package var seed: UInt64 = 0

  /// Nothing wrong.
  package init() {}

  /// Whether nothing is wrong; the seed alone does nothing.
  package var isEmpty: Bool {
    var other = Faults()
    other.seed = seed
    return self == other
  }

  /// An answer instead of the right one.
  package struct Answer: Sendable, Hashable {
    /// HTTP status, 400 to 599.
    package var status: Int
    /// As in the JSON of the answer.
    package var reason: String
    /// Which requests get it.
    package var scope: Scope

    /// Which requests.
    package enum Scope: Sendable, Hashable {
      case all
      /// So many from now on.
      case next(Int)
      /// 0 to 1, at random.
      case share(Double)
      /// Those to one device token.
      case token(DeviceToken)
    }

    /// Describes an answer.
    package init(status: Int, reason: String, scope: Scope = .all) {
      self.status = status
      self.reason = reason
      self.scope = scope
    }
  }
}

/// Why a text describes no faults.
package enum FaultsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A part that is not `key=value`.
  case notAPair(String)
  /// A key that does not exist.
  case unknownKey(String)
  /// A value that the key does not take.
  case badValue(key: String, value: String, expected: String)
  /// `reason`, `next`, `share` or `token` without a `status` or `reason` before it.
  case withoutAnswer(key: String)
  /// A key that may stand once, twice.
  case repeated(key: String)
  /// More than one of `next`, `share` and `token` in one answer.
  case severalScopes
  /// A reason that APNs does not have, and no status beside it.
  case statusNeeded(reason: String)
  /// A status for which APNs has several reasons or none, and no reason beside it.
  case reasonNeeded(status: Int)

  /// The keys, for a help text.
  package static let keys = [
    "status", "reason", "next", "share", "token", "delay", "goaway", "refuse", "cut", "silent", "streams", "seed",
  ]

  /// What is wrong, and what to write instead.
  package var description: String {
    switch self {
    case .notAPair(let part): "“\(part)” is not of the form key=value."
    case .unknownKey(let key): "Unknown fault “\(key)”. Known faults: \(Self.keys.joined(separator: ", "))."
    case .badValue(let key, let value, let expected): "\(key)=\(value): expected \(expected)."
    case .withoutAnswer(let key): "“\(key)” belongs to a response. Put status=… or reason=… before it."
    case .repeated(let key): "“\(key)” appears twice."
    case .severalScopes: "A response can have only one of next, share, and token. Start another response with status=…."
    case .statusNeeded(let reason): "APNs has no reason “\(reason)”. Add a status, e.g. status=503."
    case .reasonNeeded(let status): "Add a reason for status \(status), e.g. reason=ServiceUnavailable."
    }
  }
}
