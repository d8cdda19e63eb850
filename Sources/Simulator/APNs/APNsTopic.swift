import Model

/// A topic taken apart: `com.example.app` and, for some push types, a suffix.
struct APNsTopic: Sendable, Hashable {
  /// The whole.
  let name: String
  /// Without the suffix.
  let bundleID: String
  /// The push type that the suffix belongs to, nil if there is none.
  let suffixType: PushType?

  /// Nil for what cannot be a topic.
  init?(_ name: String) {
    guard AppName.problem(withTopic: name) == nil else { return nil }
    self.name = name
    suffixType = PushType.allCases.first { type in
      !type.topicSuffix.isEmpty && name.hasSuffix(type.topicSuffix) && name.utf8.count > type.topicSuffix.utf8.count
    }
    bundleID = String(name.dropLast(suffixType?.topicSuffix.count ?? 0))
  }

  /// What APNs says of the topic for a push type, nil if they fit.
  ///
  /// Apple's page only gives the suffixes. What comes otherwise is what its users report: `alert` to a `.voip` topic is
  /// InvalidPushType (github.com/AndrewBarba/apns2/issues/23, Pr0Ger/PyAPNs2/issues/87), `voip` to a bundle id is
  /// DeviceTokenNotForTopic (edamov/pushok/issues/108, laravel-notification-channels/apn/issues/88).
  func problem(for type: PushType) -> String? {
    if let suffixType { return suffixType == type ? nil : "InvalidPushType" }
    return type.topicSuffix.isEmpty ? nil : "DeviceTokenNotForTopic"
  }
}
