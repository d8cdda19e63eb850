/// What is said about a name that breaks a rule: alias, tag, registration id, bundle id, topic, app.
public enum NameMessage: String, MessageSet {
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
  case tooLong = "name.too_long"
  case controlCharacter = "name.control_character"

  /// The English sentence.
  public var english: String {
    switch self {
    case .aliasTooLong: "An alias may have at most {limit} bytes of UTF-8; this has {count} (JPush's code 6004)."
    case .aliasCharacter:
      "“{character}” must not stand in an alias: letters, digits, _, Han, @!#$&*+=.| may (JPush's code 6003)."
    case .tagTooLong: "A tag may have at most {limit} bytes of UTF-8; this has {count} (JPush's code 6006)."
    case .tagCharacter:
      "“{character}” must not stand in a tag: letters, digits, _, Han, @!#$&*+=.| may (JPush's code 6005)."
    case .tagsTooMany: "A device may have at most {limit} tags; this one would have {count}."
    case .registrationID:
      "A registration id has 1 to {limit} letters and digits (JPush: 11 or 19 hexadecimal digits)."
    case .bundleID:
      "A bundle id has parts of letters, digits and -, joined by dots, as com.example.app; at most {limit} characters."
    case .bundleIDSuffix:
      "“{suffix}” belongs to the topic of one push type, not to the bundle id: leave it out, it is added when sending."
    case .packageName:
      "A package name has two or more parts of letters, digits and _, joined by dots, as com.example.app."
    case .topic: "A topic is a bundle id, for some push types with a suffix as “.voip”; at most {limit} characters."
    case .blankEdge: "Must not begin or end with a blank."
    case .empty: "Must not be empty."
    case .tooLong: "May have at most {limit} bytes of UTF-8; this has {count}."
    case .controlCharacter: "Must not contain the control character {character}."
    }
  }
}
