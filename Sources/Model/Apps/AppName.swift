import Text

/// The names of an app: Apple's bundle id, Android's package name, APNs' topic, and what people call it.
package enum AppName {
  /// Characters of a bundle id (App Store Connect's limit).
  package static let bundleIDLimit = 155
  /// Characters of a topic: a bundle id and a suffix, or the UID of an MDM certificate.
  package static let topicLimit = 200
  /// Bytes of the name that people give an app.
  package static let nameLimit = 100

  /// What is wrong with a bundle id (Apple, CFBundleIdentifier: letters, digits, hyphen and dot).
  package static func problem(withBundleID id: String) -> Problem? {
    guard isDotted(id), id.utf8.count <= bundleIDLimit else {
      return Problem("", NameMessage.bundleID, ["limit": String(bundleIDLimit)])
    }
    if let suffix = suffixes.first(where: { id.utf8.reversed().starts(with: $0.utf8.reversed()) }) {
      return Problem("", NameMessage.bundleIDSuffix, ["suffix": suffix])
    }
    return nil
  }

  private static let suffixes = PushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty }

  /// Whether it is made of parts with letters, digits and hyphens, none of them empty, separated by dots.
  private static func isDotted(_ text: String) -> Bool {
    var isEmpty = true
    for byte in text.utf8 {
      if byte == UInt8(ascii: ".") {
        if isEmpty { return false }
        isEmpty = true
      } else {
        guard ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") else { return false }
        isEmpty = false
      }
    }
    return !isEmpty
  }

  /// What is wrong with an Android package name (developer.android.com: parts begin with a letter).
  package static func problem(withPackageName name: String) -> Problem? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let fits = parts.allSatisfy { part in
      part.utf8.first.map(ASCII.isLetter) == true
        && part.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
    }
    return fits && parts.count >= 2 && name.utf8.count <= bundleIDLimit ? nil : Problem("", NameMessage.packageName)
  }

  /// What is wrong with a topic, as `apns-topic` has it.
  package static func problem(withTopic topic: String) -> Problem? {
    isDotted(topic) && topic.utf8.count <= topicLimit
      ? nil : Problem("", NameMessage.topic, ["limit": String(topicLimit)])
  }

  /// What is wrong with the name that people give an app, or any other label.
  package static func problem(withName name: String, limit: Int = nameLimit) -> Problem? {
    PlainName.problem(with: name, limit: limit)
  }
}

extension PushType {
  /// What the topic has behind the bundle id (Apple, Sending notification requests to APNs; the page prints
  /// `h.complication`, which is a slip). For ``mdm`` the topic is the UID of the certificate, and nothing is added.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .controls: ".push-type.controls"
    case .widgets: ".push-type.widgets"
    }
  }
}
