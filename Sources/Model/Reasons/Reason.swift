/// Why a push was not accepted: a code of a provider, or of ours, with its meaning and remedy.
package struct Reason: Sendable, Hashable {
  package enum Source: String, Sendable, CaseIterable {
    case apns
    /// Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// 极光推送.
    case jpush
    case signalbox
    /// A code that is not in the table.
    case unknown
  }

  /// Whether the request may be repeated.
  package enum Retry: String, Sendable, CaseIterable {
    /// It would be refused again, or must not be repeated.
    case never
    /// The provider has a problem: after 15 minutes, then with growing pauses (Apple, Handling notification responses).
    case later
    /// At once on a new connection.
    case newConnection
    /// Once with a newly signed provider token.
    case resignOnce
    /// Only for this device, with growing pauses.
    case perDevice
    /// Only after the credential was changed: everything that needs it stops.
    case afterCredential
  }

  /// Who can solve the problem.
  package enum Actor: String, Sendable, CaseIterable {
    /// The developers of the app, or of the program that requests pushes.
    case appDeveloper
    /// The operators of this server and its credentials.
    case operations
    /// It recovers by itself, or is no problem.
    case nobody
  }

  /// As the provider writes it; compared exactly.
  package let code: String
  package let source: Source
  /// The HTTP status that comes with it.
  package let status: Int?
  package let retry: Retry
  package let actor: Actor
  /// Whether the token is invalid for good: app removed or token expired.
  package let isDeadToken: Bool
  /// Whether the token may belong to the other environment: then it is parked, not deleted.
  package let suspectsEnvironment: Bool
  /// In English.
  package let cause: String
  /// In English.
  package let remedy: String

  /// The translation's key of ``cause``.
  package var causeCode: String { "reason.\(isKnown ? Self.head(code) : "unknown").cause" }
  /// The translation's key of ``remedy``.
  package var remedyCode: String { "reason.\(isKnown ? Self.head(code) : "unknown").remedy" }
  package var isKnown: Bool { source != .unknown }

  init(
    _ code: String, _ source: Source, _ status: Int?, _ retry: Retry, _ actor: Actor, dead: Bool = false,
    environment: Bool = false, cause: String, remedy: String
  ) {
    (self.code, self.source, self.status, self.retry, self.actor) = (code, source, status, retry, actor)
    isDeadToken = dead
    suspectsEnvironment = environment
    (self.cause, self.remedy) = (cause, remedy)
  }
}

extension Reason {
  package static let table: [Reason] = apns + broadcast + own + fcm + jpush + [unlisted]

  private static let byCode = Dictionary(table.map { ($0.code, $0) }) { first, _ in first }

  /// The meaning of a code. An unlisted code keeps its name, is not retried, and its text says that it is unknown.
  ///
  /// A combined code (``combined(_:after:)``), and one of Firebase's or JPush's with a remark, has the meaning of its first word.
  package static func of(_ code: String) -> Reason {
    if let known = byCode[code] { return known }
    if code.hasSuffix(")"), let known = byCode[head(code)], [.signalbox, .fcm, .jpush].contains(known.source) {
      return known.named(code)
    }
    return unlisted.named(code)
  }

  /// Our reason for giving up, with the provider's last answer: `Expired (ServiceUnavailable)`.
  package static func combined(_ own: OwnReason, after last: String) -> String {
    last.isEmpty || last == own.rawValue ? own.rawValue : "\(own.rawValue) (\(last))"
  }

  /// The word of the service itself in a code: `ServiceUnavailable` of `Expired (ServiceUnavailable)`; nil if it said none.
  package static func said(in code: String) -> String? {
    guard OwnReason(rawValue: head(code)) != nil else { return code }
    return code == head(code) ? nil : String(code.dropFirst(head(code).count + 2).dropLast())
  }

  /// Whether a retry by a person would be refused again, because request, token or device are wrong; not if time, an
  /// answer or a credential was missing.
  package var isPermanent: Bool {
    guard source == .signalbox else { return retry == .never || !isKnown }
    switch OwnReason(rawValue: Self.head(code)) {
    case .quarantined, .deviceInactive, .dryRun, .noProvider: return true
    default: return false
    }
  }

  /// A code without its remark.
  package static func head(_ code: String) -> String {
    code.firstRange(of: " (").map { String(code[..<$0.lowerBound]) } ?? code
  }

  /// Whether the token is invalid for good: app removed or token expired.
  package static func isDeadToken(_ code: String) -> Bool { byCode[code]?.isDeadToken ?? false }

  /// The entry for unlisted codes.
  static let unlisted = Reason(
    "unknown", .unknown, nil, .never, .operations,
    cause: "The push service gave a reason that Signalbox does not know.",
    remedy: "Look up the code in the push service's documentation. The delivery's page shows the full answer.")

  private func named(_ code: String) -> Reason {
    Reason(
      code, source, status, retry, actor, dead: isDeadToken, environment: suspectsEnvironment, cause: cause,
      remedy: remedy)
  }
}
