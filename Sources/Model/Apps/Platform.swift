/// What a device runs.
package enum Platform: String, Sendable, Codable, CaseIterable, Hashable {
  /// iPhone and iPad, through APNs.
  case ios
  /// Android, through FCM or JPush.
  case android

  /// As its makers write it.
  package var name: String { self == .ios ? "iOS" : "Android" }
}

/// A service that takes a push and brings it to the device.
package enum ProviderKind: String, Sendable, Codable, CaseIterable, Hashable {
  /// Apple Push Notification service.
  case apns
  /// Firebase Cloud Messaging, HTTP v1.
  case fcm
  /// 极光推送, REST API v3.
  case jpush
}

/// The environment of a device token. Apple calls development *sandbox*.
package enum Environment: String, Sendable, Codable, CaseIterable, Hashable {
  /// Builds signed with a development profile (`aps-environment` = `development`).
  case development
  /// TestFlight and App Store builds.
  case production
}
