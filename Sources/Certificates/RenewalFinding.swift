public import Push

/// One thing to know before a successor takes its place.
public struct RenewalFinding: Sendable, Hashable {
  /// How grave it is. The raw values stand in JSON.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    /// It cannot be put in place.
    case stop
    /// It can; somebody should know.
    case warn
    /// As it should be.
    case fine
  }

  /// How grave it is.
  public let level: Level
  /// Code and sentence.
  public let problem: Problem

  init(_ level: Level, _ message: RenewalMessage, _ arguments: [String: String] = [:]) {
    self.level = level
    problem = Problem("file", message, arguments)
  }
}

/// What a renewal check says.
public enum RenewalMessage: String, MessageSet {
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

  /// The English sentence.
  public var english: String {
    switch self {
    case .sameFile: "This is the same file as the one it should replace. Upload the new one."
    case .kind:
      "It is another kind of thing ({new}) than the one it should replace ({old}). Keep it as a file of its own."
    case .toKey:
      "A key (.p8) takes the place of a certificate: it does not expire, sends to every topic of its team, and signs a "
        + "token for each connection. Device tokens stay as they are."
    case .fromKey:
      "A certificate takes the place of a key (.p8): it ends on {date}, and sends to {topics} alone."
    case .noKey:
      "The file has no private key, and none is kept here that fits. Upload the .p12 that holds both, or the .cer that "
        + "was issued for a signing request of Signalbox."
    case .topic:
      "Devices of topic {topic} will get nothing: the new file is for {topics}. Devices concerned: {count}."
    case .watched: "It is for {new}, not for {old}: it is no successor. Keep it as a file of its own."
    case .topicLost: "Topic {topic} is not in the new file: pushes to it will be refused."
    case .typesLost: "Pushes of the kind {types} to {topic} will be refused: the new file does not list them."
    case .team:
      "The team is {new} and was {old}. That is right only if the app was handed over to that team; the trial "
        + "connection tells."
    case .environmentUsed:
      "{app} sends in {environment} with the old one, and the new one is for {environments} alone: {count} devices will "
        + "get nothing."
    case .environmentLost: "The old one was also for {environment}; the new one is for {environments} alone."
    case .sameKey:
      "It has the same private key as the one it replaces. That works; but who ever had a copy of the old key can send "
        + "with the new certificate too. A new signing request makes a new key."
    case .expired: "It expired on {date}: pushes would be refused."
    case .notYet: "It is not valid before {date}: until then pushes would be refused."
    case .earlier: "It ends on {new}, earlier than the one it replaces ({old})."
    case .topicKept: "Same topic, same team: nobody is left out."
    case .longer: "It ends on {date}: {days} days later than the old one."
    case .forever: "It does not expire."
    case .complete: "This is the certificate that is kept here, now with its private key: the key is kept with it."
    case .replaced:
      "Its place was taken on {date} already, by “{name}” (certificate {id}). Renew that one, or undo its renewal first."
    case .refill: "This is the file that is kept here, whose key no longer opens: the key is put back, nothing else."
    }
  }
}
