package enum PayloadMessage: String, MessageSet {
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

  package var english: String {
    switch self {
    case .tooLarge:
      "The payload has {size} bytes, but APNs allows at most {limit} for the push type {type}. Shorten it by {excess}."
    case .reservedKey: "“aps” is reserved for Apple. Use another name for the app's own data."
    case .apsForm: "“aps” must be a JSON object, not a JSON {found}."
    case .headerUnknown: "Unknown APNs header. Known headers: {known}."
    case .headerUnknownSimilar: "Unknown APNs header. Did you mean “{suggestion}”?"
    case .headerOurs: "Signalbox sets this header for each device. Leave it out."
    case .headerValue: "A header value must be printable ASCII without spaces around it."
    case .pushType: "Must be one of {choices}, not “{value}” (APNs: InvalidPushType)."
    case .priority: "Must be 10 (immediately), 5 (saves battery), or 1, not “{value}” (APNs: BadPriority)."
    case .expiration:
      """
      Must be a whole number of seconds since 1970, or 0 for a single attempt; it is “{value}” \
      (APNs: BadExpirationDate).
      """
    case .collapseID: "A collapse ID must have at most {limit} bytes, but this one has {count} (APNs: BadCollapseId)."
    case .topicNeeded:
      "The topic of the push type mdm is the UID of the MDM certificate. Set it in the header apns-topic."
    case .topicSuffix:
      """
      The push type {type} needs the topic “{expected}”, not “{value}” (APNs answers DeviceTokenNotForTopic or \
      TopicDisallowed, or drops it).
      """
    }
  }
}
