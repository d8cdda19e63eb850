/// Who may send to production, and who may decide on a push that needs a second person's approval. Pure rules.
package enum ApprovalRule {
  /// Who asked for a push, or decides on it.
  package struct Actor: Sendable, Hashable {
    /// As in the activity log.
    package let name: String
    /// The person of the session, or the owner of the token; nil: the command line, an app's key, a token of nobody.
    package let person: Int64?
    /// Whether it is the command line: whoever runs it owns the database.
    package let isCommandLine: Bool

    package init(_ name: String, person: Int64?, isCommandLine: Bool = false) {
      (self.name, self.person, self.isCommandLine) = (name, person, isCommandLine)
    }
  }

  /// Why an actor may not approve or reject what another one asked for; nil: the actor may.
  ///
  /// - Parameter maySend: whether the decider's person may send to production.
  package static func refusal(of decider: Actor, askedBy asker: Actor, maySend: Bool) -> ApprovalMessage? {
    guard decider.person != nil || decider.isCommandLine else { return .nobody }
    if let person = decider.person, person == asker.person { return .own }
    if decider.name == asker.name { return .own }
    return maySend ? nil : .notPermitted
  }
}

/// Why a push to production is refused, or an approval.
package enum ApprovalMessage: String, MessageSet {
  case notPermitted = "production.not_permitted"
  case countsAsProduction = "production.counts"
  case leaves = "production.leaves"
  case own = "approval.own"
  case nobody = "approval.nobody"
  case decided = "approval.decided"
  case expired = "approval.expired"
  case none = "approval.none"

  package var english: String {
    switch self {
    case .notPermitted: "This account may not send to production. An admin can allow it in Settings › People."
    case .countsAsProduction:
      "This counts as production: the app’s {service} credential for development serves production, too, so the push "
        + "can reach phones there."
    case .leaves:
      "Taking a device out of production needs the permission to send to production: whoever may not send there could "
        + "otherwise send to it in development."
    case .own: "You asked for this yourself. Someone else must approve or reject it; you can withdraw it."
    case .nobody: "This token belongs to no person, so it cannot approve as a second person. Use a personal token."
    case .decided: "{name} has already decided: {decision}. Nothing was changed."
    case .expired: "Nobody decided within {hours} hours, so it has expired. Send it again."
    case .none: "This does not need approval. Nothing was changed."
    }
  }

  /// Whether the state forbids it, not the person.
  package var isConflict: Bool {
    switch self {
    case .decided, .expired, .none: true
    case .notPermitted, .countsAsProduction, .leaves, .own, .nobody: false
    }
  }
}
