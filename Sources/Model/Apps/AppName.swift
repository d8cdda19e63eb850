import Text

/// The names of an app: Apple's bundle ID, Android's package name, APNs' topic, and its display name.
package enum AppName {
  /// Characters (App Store Connect's limit).
  package static let bundleIDLimit = 155
  /// Characters: a bundle ID and a suffix, or the UID of an MDM certificate.
  package static let topicLimit = 200
  /// Bytes of the display name.
  package static let nameLimit = 100

  /// Apple, CFBundleIdentifier: letters, digits, hyphen and dot.
  package static func problem(withBundleID id: String) -> Problem? {
    guard isDotted(id), id.utf8.count <= bundleIDLimit else {
      return Problem("", NameMessage.bundleID, ["limit": String(bundleIDLimit)])
    }
    if let suffix = suffixes.first(where: { id.utf8.reversed().starts(with: $0.utf8.reversed()) }) {
      return Problem("", NameMessage.bundleIDSuffix, ["suffix": suffix])
    }
    return nil
  }

  /// Whether the name is that of a type of Wallet's passes, whose updates are pushed to it as their topic.
  package static func isPassType(_ id: String) -> Bool { id.hasPrefix("pass.") }

  /// Whether the name is the topic of a server for device management: the UID of its certificate.
  package static func isDeviceManagement(_ id: String) -> Bool { id.hasPrefix("com.apple.mgmt.") }

  private static let suffixes = PushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty }

  /// Whether the text consists of non-empty parts of letters, digits and hyphens, separated by dots.
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

  /// developer.android.com: parts begin with a letter.
  package static func problem(withPackageName name: String) -> Problem? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let fits = parts.allSatisfy { part in
      part.utf8.first.map(ASCII.isLetter) == true
        && part.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
    }
    return fits && parts.count >= 2 && name.utf8.count <= bundleIDLimit ? nil : Problem("", NameMessage.packageName)
  }

  package static func problem(withTopic topic: String) -> Problem? {
    isDotted(topic) && topic.utf8.count <= topicLimit
      ? nil : Problem("", NameMessage.topic, ["limit": String(topicLimit)])
  }

  /// Checks the display name, or any other label.
  package static func problem(withName name: String, limit: Int = nameLimit) -> Problem? {
    PlainName.problem(with: name, limit: .characters(limit))
  }

  /// As ``problem(withName:limit:)``, for a label that must be given.
  package static func problem(withRequiredName name: String, limit: Int = nameLimit) -> Problem? {
    name.isEmpty ? Problem("", FieldMessage.required) : problem(withName: name, limit: limit)
  }
}

extension PushType {
  /// The topic's part after the bundle ID (Apple, Sending notification requests to APNs; the page prints
  /// `h.complication`, which is a typing error). For ``mdm`` the topic is the UID of the certificate, without a suffix:
  /// see ``AppName/isDeviceManagement(_:)``.
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

  /// The type that a topic's suffix tells; nil: it has none.
  static func meant(byTopic topic: String) -> PushType? {
    allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
  }
}
