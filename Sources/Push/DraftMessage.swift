/// What is said about a push that cannot be understood.
public enum DraftMessage: String, MessageSet {
  case audienceMissing = "audience.missing"
  case audienceEmpty = "audience.empty"
  case audienceForm = "audience.form"
  case contentMissing = "notification.missing"
  case platformsEmpty = "platforms.empty"
  case badgeRelative = "badge.relative"
  case headerTwice = "header.twice"

  /// The English sentence.
  public var english: String {
    switch self {
    case .audienceMissing:
      "Say whom the push is for: \"all\", or an object with tag, tag_and, tag_not, alias, registration_id, device_token."
    case .audienceEmpty:
      """
      Nobody is chosen: name at least one tag, alias, registration id or device token; \
      for everybody write \"audience\": \"all\".
      """
    case .audienceForm: "Must be \"all\" or an object of conditions; it is a JSON {found}."
    case .contentMissing: "Say what to send: a notification, or apns.payload."
    case .platformsEmpty: "Name at least one platform: ios, android."
    case .badgeRelative:
      "“{value}” counts only at JPush: APNs sets the badge to the very number given. Give a whole number; 0 removes it."
    case .headerTwice: "This header is given twice; the case of letters makes no difference."
    }
  }
}
