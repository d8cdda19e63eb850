/// What is said about a request that APNs would refuse.
public enum PayloadMessage: String, MessageSet {
  case tooLarge = "payload.too_large"
  case reservedKey = "payload.reserved_key"
  case apsForm = "payload.aps_form"
  case headerUnknown = "header.unknown"
  case headerUnknownSimilar = "header.unknown_similar"
  case headerOurs = "header.ours"
  case headerValue = "header.value"
  case pushType = "header.push_type"
  case priority = "header.priority"
  case expiration = "header.expiration"
  case collapseID = "header.collapse_id"
  case topicNeeded = "header.topic_needed"
  case topicSuffix = "header.topic_suffix"

  /// The English sentence.
  public var english: String {
    switch self {
    case .tooLarge:
      "The payload has {size} bytes; APNs takes at most {limit} for the push type {type}. Shorten it by {excess}."
    case .reservedKey: "“aps” belongs to Apple; the app's own data must have another name."
    case .apsForm: "“aps” must be a JSON object; it is a JSON {found}."
    case .headerUnknown: "APNs knows no such request header; it knows {known}."
    case .headerUnknownSimilar: "APNs knows no such request header. Did you mean “{suggestion}”?"
    case .headerOurs: "Signalbox writes this header itself for each device; leave it out."
    case .headerValue: "A header's value must be printable ASCII without blanks around it."
    case .pushType: "Must be one of {choices}; it is “{value}” (APNs: InvalidPushType)."
    case .priority: "Must be 10 (at once), 5 (when it suits the battery) or 1; it is “{value}” (APNs: BadPriority)."
    case .expiration:
      """
      Must be a whole number of seconds since 1970, or 0 for a single attempt; it is “{value}” \
      (APNs: BadExpirationDate).
      """
    case .collapseID: "A collapse id may have at most {limit} bytes; this has {count} (APNs: BadCollapseId)."
    case .topicNeeded:
      "The push type mdm has a topic of its own, the UID of the MDM certificate: give it as the header apns-topic."
    case .topicSuffix:
      "The push type {type} goes to the topic “{expected}”; this is “{value}” (APNs: TopicDisallowed or silence)."
    }
  }
}
