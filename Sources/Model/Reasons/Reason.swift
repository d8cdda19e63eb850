/// Why a push was not accepted: one code of a provider, or of ours, with what it means and what to do.
package struct Reason: Sendable, Hashable {
  /// Who says it.
  package enum Source: String, Sendable, CaseIterable {
    /// Apple's service.
    case apns
    /// Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// 极光推送.
    case jpush
    /// Signalbox itself: no answer, or not sent.
    case signalbox
    /// A code that is not in the table.
    case unknown
  }

  /// What a sender may do after it.
  package enum Retry: String, Sendable, CaseIterable {
    /// The same request would be refused again, or must not be repeated.
    case never
    /// The provider has trouble: after 15 minutes, then with growing pauses (Apple, Handling notification responses).
    case later
    /// At once, on a new connection.
    case newConnection
    /// Once, with a newly signed provider token.
    case resignOnce
    /// Only this device, with growing pauses.
    case perDevice
    /// Not before a person has changed the credential: everything that needs it stops.
    case afterCredential
  }

  /// Who can do something about it.
  package enum Actor: String, Sendable, CaseIterable {
    /// The people who build the app, or the program that asks for pushes.
    case appDeveloper
    /// The people who run this server and hold the credentials.
    case operations
    /// It heals by itself, or is how things should be.
    case nobody
  }

  /// As the provider writes it; compared exactly.
  package let code: String
  /// Who says it.
  package let source: Source
  /// The HTTP status that it comes with, if it comes with one.
  package let status: Int?
  /// What a sender may do.
  package let retry: Retry
  /// Who must act.
  package let actor: Actor
  /// Whether the token is gone for good: app removed or token expired.
  package let isDeadToken: Bool
  /// Whether the token may belong to the other environment: then it is parked and looked at, not deleted.
  package let suspectsEnvironment: Bool
  /// The likely cause, in English.
  package let cause: String
  /// The next step, in English.
  package let remedy: String

  /// The code under which other languages keep ``cause``.
  package var causeCode: String { "reason.\(isKnown ? Self.head(code) : "unknown").cause" }
  /// The code under which other languages keep ``remedy``.
  package var remedyCode: String { "reason.\(isKnown ? Self.head(code) : "unknown").remedy" }
  /// Whether the table knows the code.
  package var isKnown: Bool { source != .unknown }

  init(
    _ code: String, _ source: Source, _ status: Int?, _ retry: Retry, _ actor: Actor, dead: Bool = false,
    environment: Bool = false, cause: String, remedy: String
  ) {
    self.code = code
    self.source = source
    self.status = status
    self.retry = retry
    self.actor = actor
    isDeadToken = dead
    suspectsEnvironment = environment
    self.cause = cause
    self.remedy = remedy
  }
}

extension Reason {
  /// Every code that we know.
  package static let table: [Reason] = apns + broadcast + own + fcm + jpush + [unlisted]

  private static let byCode = Dictionary(table.map { ($0.code, $0) }) { first, _ in first }

  /// What a code means. A code that the table lacks is not hidden behind a general one: it keeps its name, is not
  /// repeated, and its text says that we do not know it.
  ///
  /// A combined code (``combined(_:after:)``) means what its first word means.
  package static func of(_ code: String) -> Reason {
    if let known = byCode[code] { return known }
    if code.hasSuffix(")"), let own = byCode[head(code)], own.source == .signalbox { return own.named(code) }
    return unlisted.named(code)
  }

  /// Our own reason for giving up, with the provider's last word: `Expired (ServiceUnavailable)`.
  package static func combined(_ own: OwnReason, after last: String) -> String {
    last.isEmpty || last == own.rawValue ? own.rawValue : "\(own.rawValue) (\(last))"
  }

  /// Whether a person who asks to try again would only be refused again: a request, a token or a device that is wrong
  /// stays so. Not what ended for want of time, of an answer or of a credential.
  package var isPermanent: Bool {
    guard source == .signalbox else { return retry == .never || !isKnown }
    switch OwnReason(rawValue: Self.head(code)) {
    case .quarantined, .dryRun, .noProvider: return true
    default: return false
    }
  }

  private static func head(_ code: String) -> String {
    code.firstRange(of: " (").map { String(code[..<$0.lowerBound]) } ?? code
  }

  /// Whether the token is gone for good: app removed or token expired.
  package static func isDeadToken(_ code: String) -> Bool { byCode[code]?.isDeadToken ?? false }

  /// A code that is in no table.
  static let unlisted = Reason(
    "unknown", .unknown, nil, .never, .operations,
    cause: "The provider gave a reason that Signalbox does not know.",
    remedy: "Look up the code in the provider's documentation. The delivery's page shows the full answer.")

  private func named(_ code: String) -> Reason {
    Reason(
      code, source, status, retry, actor, dead: isDeadToken, environment: suspectsEnvironment, cause: cause,
      remedy: remedy)
  }
}
