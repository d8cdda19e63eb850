import Calendar
package import Foundation
import HTTP2

/// What differs between push services that are spoken to over HTTP/2.
protocol ServiceRules: Sendable {
  /// Whether an answer of this status counts as a refusal, of which too many slow the sender down.
  func isRefusal(_ status: Int) -> Bool
  /// Whether an answer of this status, which is not 200, shows that the credential is valid.
  func provesCredential(_ status: Int) -> Bool
  /// Called with every answer before it is reported, on the loop's thread.
  func note(_ answer: Answer, now: Date)
  /// Why an answer of status 200 does not prove that the service has accepted the message, such as `without a msg_id`;
  /// nil: it does. A proxy, or a page that asks for a sign-in, answers 200 to everything.
  func lack(in detail: Answer.Detail?) -> String?
  /// What the service calls the message that it accepted; nil: nothing.
  func name(ofMessage body: [UInt8]) -> String?
  /// Whether the fields of a success say nothing but what was asked.
  func repeatsRequest(_ fields: HeaderList) -> Bool
  /// The meaning of an answer whose status is not 200.
  func reading(_ status: Int, _ detail: Answer.Detail?, now: Date) -> AnswerReading
}

extension ServiceRules {
  /// Does nothing.
  func note(_ answer: Answer, now: Date) {}
  /// Never.
  func repeatsRequest(_ fields: HeaderList) -> Bool { false }
  /// Always nil.
  func name(ofMessage body: [UInt8]) -> String? { nil }
}

/// The meaning of a refusal, or of a problem of the service.
struct AnswerReading: Sendable, Hashable {
  enum Consequence: Sendable, Hashable {
    /// Only the device's result.
    case none
    /// Resend once with a new authorization.
    case renews
    /// Nothing can be sent with this credential until it is changed.
    case stops
  }

  let consequence: Consequence
  /// The device's result, if nothing else has to be done first.
  let result: SendResult
  /// The service's reason, or the status.
  let reason: String
}

/// The field `authorization` of a credential's requests. Used on the loop's thread only.
protocol RequestAuthorization: AnyObject {
  /// Called when ``current(at:)`` has changed without having been asked.
  var changed: () -> Void { get set }
  /// See ``ProviderHealth/clockLead``, of the service that gives authorizations.
  var clockLead: Int? { get }
  /// The authorization for the present requests; begins a new one if there is none or the old one is about to expire.
  func current(at now: Date) -> AuthorizationState
  /// Called when the service refuses the present one: begins a new one.
  ///
  /// - Returns: false if none may be made: the last one was made too short a time ago.
  func renew(at now: Date) -> Bool
  /// Drops what is under way.
  func stop()
}

extension RequestAuthorization {
  var clockLead: Int? { nil }
}

extension Answer.Detail {
  /// See ``ProviderHealth/clockLead``; nil: this answer does not tell the time.
  func clockLead(at now: Date) -> Int? {
    fields["date"].flatMap(HTTPDate.parse).map { $0 - Int(now.timeIntervalSince1970.rounded(.down)) }
  }
}

enum AuthorizationState: Sendable, Hashable {
  /// The field's value.
  case value(String)
  /// Requests wait for it. With a reason if it cannot be had at present.
  case awaited(trouble: String?)
  /// The credential is refused, for this reason. Told once: the next question tries again.
  case refused(reason: String)
}

/// A provider whose service is spoken to over a ``ServiceLink``.
package protocol LinkedProvider: Provider {
  var link: ServiceLink { get }
}

extension LinkedProvider {
  package var state: ProviderState { link.state }
  package func health(at now: Date) -> ProviderHealth { link.health(at: now) }
  package func cancel(push: Int64) { link.cancel(push: push) }
  package func reconnect() { link.reconnect() }
  package func stop() { link.stop() }
  package func ifIdle(_ then: @escaping @Sendable () -> Void) { link.ifIdle(then) }
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
