package import Foundation
package import Model
package import Reactor

package enum ProviderState: Sendable, Hashable {
  /// Nothing to send, and no connection.
  case idle
  case connecting
  case ready
  /// Cannot send.
  case failing(ProviderFailure)
}

/// Why a provider cannot send.
package struct ProviderFailure: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// The service refuses the credential: key or certificate must be replaced.
    case credential
    /// The service is unreachable, or fails verification.
    case connection
  }

  package let kind: Kind
  /// The service's reason, or the connection's error.
  package let reason: String
  /// The beginning of the failure.
  package let since: Date
  /// The same as one of our reasons, for those who group failures.
  package let code: OwnReason
  package init(kind: Kind, reason: String, since: Date, code: OwnReason = .unreachable) {
    (self.kind, self.reason, self.since, self.code) = (kind, reason, since, code)
  }

  package var description: String { reason }
}

/// The limits of a credential, and their reasons.
package struct ProviderHealth: Sendable, Hashable {
  package var circuit: CircuitBreaker.State
  /// The most devices in flight; nil: no limit.
  package var limit: Int?
  /// The share of refusals, 0 to 1, that slowed it down; nil: not slowed down.
  package var stormShare: Double?
  /// When that was.
  package var stormAt: Date?
  /// Requests lost with their connections; nil: not slowed down for that reason.
  package var lost: Int?
  /// How far the service's clock was ahead of ours when it last refused something and told the time, in whole seconds;
  /// nil: it never did, as APNs. A wrong clock makes credentials look expired or not yet valid.
  package var clockLead: Int?

  /// Without arguments, all is well.
  package init(
    circuit: CircuitBreaker.State = .closed, limit: Int? = nil, stormShare: Double? = nil, stormAt: Date? = nil,
    lost: Int? = nil, clockLead: Int? = nil
  ) {
    (self.circuit, self.limit, self.stormShare) = (circuit, limit, stormShare)
    (self.stormAt, self.lost, self.clockLead) = (stormAt, lost, clockLead)
  }

  /// Whether the rate is reduced.
  package var isSlowed: Bool { stormShare != nil || lost != nil }
  /// Whether there is nothing to report.
  package var isWell: Bool { circuit == .closed && !isSlowed }
}

/// The result of one push to one device.
package enum SendResult: Sendable, Hashable {
  /// Final: accepted, rejected, or unknown.
  case outcome(Outcome)
  /// A temporary failure: may be sent again with the same ID.
  case retry(RetryCause)
  /// Never sent: cancelled, or stopped because the credential is refused.
  case notSent(reason: String)
}

package struct RetryCause: Sendable, Hashable {
  /// HTTP status; 0 if the server never accepted the request.
  package let status: Int
  package let reason: String
  /// The pause requested by the provider.
  package let retryAfter: Duration?
  package init(status: Int, reason: String, retryAfter: Duration? = nil) {
    (self.status, self.reason, self.retryAfter) = (status, reason, retryAfter)
  }
}

/// Results of one push, in order of arrival.
package struct SendReport: Sendable {
  package let push: Int64
  /// Each device of a batch appears in exactly one report, once.
  package let results: [(device: Int64, result: SendResult)]
  /// The service's message that all these devices got, if one request named several.
  package let message: SentMessage?
  /// What the service called its message to some of these devices, by their IDs.
  package let names: [Int64: String]
  /// What came for some of these devices, by their IDs: where it says more than the result.
  package let answers: [Int64: ReceivedAnswer]
  package init(
    push: Int64, results: [(device: Int64, result: SendResult)], message: SentMessage? = nil,
    names: [Int64: String] = [:], answers: [Int64: ReceivedAnswer] = [:]
  ) {
    (self.push, self.results, self.message) = (push, results, message)
    (self.names, self.answers) = (names, answers)
  }
}

extension OwnReason {
  /// The reason for what went wrong at a proxy; both have the same codes.
  package init(_ code: ProxyProblem.Code) { self = OwnReason(rawValue: code.rawValue) ?? .unreachable }
}

/// An answer as it came.
package struct ReceivedAnswer: Sendable {
  package let status: Int
  package let fields: [(name: String, value: String)]
  package let body: [UInt8]

  package init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }
}

/// A request that named several devices and was accepted, as the service numbered it.
package struct SentMessage: Sendable, Hashable {
  package let id: String
  package let sentAt: Date
  package init(id: String, sentAt: Date) { (self.id, self.sentAt) = (id, sentAt) }
}
