/// What a device runs.
package enum Platform: String, Sendable, Codable, CaseIterable, Hashable {
  /// iPhone and iPad, through APNs, FCM or JPush.
  case ios
  /// Android, through FCM or JPush.
  case android

  /// As its makers write it.
  package var name: String { self == .ios ? "iOS" : "Android" }

  /// The service that reaches its devices unless they name another.
  package var ownProvider: ProviderKind { self == .ios ? .apns : .fcm }
  /// The services that can reach its devices, its own first.
  package var providers: [ProviderKind] { self == .ios ? [.apns, .fcm, .jpush] : [.fcm, .jpush] }
}

/// A service that takes a push and brings it to the device.
package enum ProviderKind: String, Sendable, Codable, CaseIterable, Hashable {
  /// Apple Push Notification service.
  case apns
  /// Firebase Cloud Messaging, HTTP v1.
  case fcm
  /// 极光推送, REST API v3.
  case jpush

  /// As its makers write it.
  package var name: String {
    switch self {
    case .apns: "APNs"
    case .fcm: "FCM"
    case .jpush: "JPush"
    }
  }

  /// The devices that it reaches, in a word: those of one platform, or those that registered with it.
  package var reachName: String {
    switch self {
    case .apns: Platform.ios.name
    case .fcm: Platform.android.name
    case .jpush: name
    }
  }

  /// Whether one request names many devices. They leave together and are due together, and after a restart in the same
  /// requests, because the service recognizes a request by its devices.
  package var groupsDevices: Bool {
    switch self {
    case .apns, .fcm: false
    case .jpush: true
    }
  }

  /// Whether a credential, or the service, belongs to one environment. Others know none: one credential reaches the
  /// devices of both.
  package var tellsEnvironments: Bool {
    switch self {
    case .apns: true
    case .fcm, .jpush: false
    }
  }

  /// The platforms whose devices it reaches.
  package var platforms: [Platform] { Platform.allCases.filter { $0.providers.contains(self) } }

  /// Those that it reaches in every app. FCM reaches the iPhones of few: those that are registered with it.
  package var usualPlatforms: [Platform] { self == .fcm ? [.android] : platforms }
}

/// The environment of a device token. Apple calls development *sandbox*.
package enum Environment: String, Sendable, Codable, CaseIterable, Hashable {
  /// Builds signed with a development profile (`aps-environment` = `development`).
  case development
  /// TestFlight and App Store builds.
  case production

  package var other: Environment { self == .production ? .development : .production }
}
