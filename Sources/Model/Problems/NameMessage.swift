package enum NameMessage: String, MessageSet {
  case aliasTooLong = "alias.too_long"
  case aliasCharacter = "alias.character"
  case tagTooLong = "tag.too_long"
  case tagCharacter = "tag.character"
  case tagsTooMany = "tag.too_many"
  case registrationID = "registration_id.form"
  case bundleID = "bundle_id.form"
  case bundleIDSuffix = "bundle_id.suffix"
  case packageName = "package_name.form"
  case topic = "topic.form"
  case blankEdge = "name.blank_edge"
  case empty = "name.empty"
  case controlCharacter = "name.control_character"

  package var english: String {
    switch self {
    case .aliasTooLong: "An alias must have at most {limit} bytes of UTF-8, but this one has {count} (JPush code 6004)."
    case .aliasCharacter:
      "An alias must not contain “{character}”. Allowed: letters, digits, Han characters, _@!#$&*+=.| (JPush code "
        + "6003)."
    case .tagTooLong: "A tag must have at most {limit} bytes of UTF-8, but this one has {count} (JPush code 6006)."
    case .tagCharacter:
      "A tag must not contain “{character}”. Allowed: letters, digits, Han characters, _@!#$&*+=.| (JPush code 6005)."
    case .tagsTooMany: "A device can have at most {limit} tags, but this one would have {count}."
    case .registrationID:
      "A registration ID must have 1 to {limit} letters and digits (JPush: 11 or 19 hexadecimal digits)."
    case .bundleID:
      "A bundle ID must consist of letters, digits, and -, in parts joined by dots, e.g. com.example.app; at most "
        + "{limit} characters."
    case .bundleIDSuffix:
      "“{suffix}” is a topic suffix, not part of the bundle ID. Leave it out: it is added when sending."
    case .packageName:
      "A package name must have two or more parts of letters, digits, and _, joined by dots, e.g. com.example.app."
    case .topic:
      "A topic must be a bundle ID, with a suffix such as “.voip” for some push types; at most {limit} characters."
    case .blankEdge: "Must not begin or end with a space."
    case .empty: "Must not be empty."
    case .controlCharacter: "Must not contain the control character {character}."
    }
  }
}
