/// What is said about a push that cannot be understood, or that has no app or no audience.
package enum DraftMessage: String, MessageSet {
  case audienceMissing = "audience.missing"
  case audienceEmpty = "audience.empty"
  case audienceForm = "audience.form"
  case contentMissing = "notification.missing"
  case platformsEmpty = "platforms.empty"
  case badgeRelative = "badge.relative"
  case headerTwice = "header.twice"
  case noApp = "push.no_app"
  case nobody = "push.nobody"

  /// The English sentence.
  package var english: String {
    switch self {
    case .audienceMissing:
      "Choose an audience: \"all\" or an object with tag, tag_and, tag_not, alias, registration_id, or device_token."
    case .audienceEmpty:
      """
      Nobody is chosen: name at least one tag, alias, registration id or device token; \
      for everybody write \"audience\": \"all\".
      """
    case .audienceForm: "Must be \"all\" or an object of conditions, not a JSON {found}."
    case .contentMissing: "Add content: a notification or apns.payload."
    case .platformsEmpty: "Choose at least one platform: ios, android."
    case .badgeRelative:
      "“{value}” works only with JPush. APNs sets the badge to an exact number. Use a whole number; 0 removes the badge."
    case .headerTwice: "Duplicate header. Header names are not case-sensitive."
    case .noApp: "App “{app}” not found. Add it first."
    case .nobody:
      "No active device of {app} in {environment} matches this audience. Check the audience, or register a device first."
    }
  }
}
