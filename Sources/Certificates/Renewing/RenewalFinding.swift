package import Model

/// A finding about a replacement, before it takes place.
package struct RenewalFinding: Sendable, Hashable {
  /// The severity. The raw values appear in JSON.
  package enum Level: String, Sendable, Hashable, CaseIterable {
    /// The file cannot be put in place.
    case stop
    /// The file can be put in place, but somebody should know.
    case warn
    /// Everything is as expected.
    case fine
  }

  package let level: Level
  /// The code and the message.
  package let problem: Problem

  init(_ level: Level, _ message: RenewalMessage, _ arguments: [String: String] = [:]) {
    self.level = level
    problem = Problem("file", message, arguments)
  }

  /// A warning about the new file itself.
  init(_ warning: FileWarning) {
    level = .warn
    problem = warning.problem
  }
}

/// The messages of a renewal check.
package enum RenewalMessage: String, MessageSet {
  case sameFile = "renewal.same_file"
  case kind = "renewal.kind"
  case toKey = "renewal.to_key"
  case fromKey = "renewal.from_key"
  case noKey = "renewal.no_private_key"
  case topic = "renewal.other_topic"
  case watched = "renewal.other_subject"
  case topicLost = "renewal.topic_lost"
  case typesLost = "renewal.types_lost"
  case team = "renewal.other_team"
  case project = "renewal.other_project"
  case appKey = "renewal.other_app_key"
  case environmentUsed = "renewal.environment_used"
  case environmentLost = "renewal.environment_lost"
  case sameKey = "renewal.same_key"
  case expired = "renewal.expired"
  case notYet = "renewal.not_yet_valid"
  case earlier = "renewal.ends_earlier"
  case topicKept = "renewal.topic_kept"
  case longer = "renewal.longer"
  case forever = "renewal.forever"
  case refill = "renewal.refill"
  case complete = "renewal.complete"
  case replaced = "renewal.replaced"

  package var english: String {
    switch self {
    case .sameFile: "This is the file you are replacing. Upload the new one."
    case .kind: "Its kind ({new}) differs from the current one ({old}). Upload it as a separate file."
    case .toKey:
      "A key (.p8) replaces a certificate. It never expires, sends to every topic of its team, and signs a "
        + "token for each connection. Device tokens stay the same."
    case .fromKey: "A certificate replaces a key (.p8). It expires on {date} and sends only to {topics}."
    case .noKey:
      "The file has no private key, and no stored key matches. Upload the .p12 that contains both, or the .cer that "
        + "was issued for a signing request created here."
    case .topic:
      "Devices of topic {topic} will get nothing, because the new file is for {topics}. Affected devices: {count}."
    case .watched: "It is for {new}, not {old}, so it is not a replacement. Upload it as a separate file."
    case .topicLost: "The new file does not cover topic {topic}. Pushes to it will be refused."
    case .typesLost: "The new file does not cover {types} pushes to {topic}. They will be refused."
    case .team:
      "The team changes from {old} to {new}. This is right only if the app was transferred to that team. The test "
        + "request checks this."
    case .project:
      "The new file is for the Google project {new}, but the current one is for {old}. Device tokens belong to the "
        + "project that the app registered them with, so {old}'s get nothing. Affected devices: {count}. If the app moves "
        + "to {new}, upload it as a separate file."
    case .appKey:
      "The new keys are for the JPush AppKey {new}, but the current ones are for {old}. Registration IDs belong to the "
        + "AppKey that the app registered them with, so {old}'s get nothing. Affected devices: {count}. If the app moves "
        + "to {new}, upload them as separate keys."
    case .environmentUsed:
      "{app} sends in {environment} with the old one, but the new one covers only {environments}. Devices that will get "
        + "nothing: {count}."
    case .environmentLost: "The old one also covers {environment}. The new one covers only {environments}."
    case .sameKey:
      "It uses the same private key as the old one. That works, but anyone who has a copy of the old key can send "
        + "with the new certificate too. A new signing request creates a new key."
    case .expired: "It expired on {date}. Pushes would be refused."
    case .notYet: "It is not valid before {date}. Until then, pushes would be refused."
    case .earlier: "It expires on {new}, earlier than the current one ({old})."
    case .topicKept: "Same topic and team. All devices stay reachable."
    case .longer: "It expires on {date}, {days} days later than the current one."
    case .forever: "It never expires."
    case .complete: "This is the stored certificate with its private key. The key is added to it."
    case .replaced:
      "It was already replaced by “{name}” (certificate {id}) on {date}. Replace that one, or undo its renewal first."
    case .refill: "This is the stored file, whose private key can no longer be decrypted. Only the key is restored."
    }
  }

  package var singular: (argument: String, english: String)? {
    switch self {
    case .longer: (argument: "days", english: "It expires on {date}, 1 day later than the current one.")
    default: nil
    }
  }
}
