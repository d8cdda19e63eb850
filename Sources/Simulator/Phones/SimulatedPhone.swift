package import Foundation
package import Model

/// A simulated phone with one app and its notifications.
package struct SimulatedPhone: Sendable, Hashable, Identifiable {
  /// Assigned by the phone book, from 1; never reused.
  package let id: Int64
  /// Such as "Ada’s iPhone".
  package var name: String
  /// Such as "iPhone 17".
  package var model: String
  package let platform: Platform
  /// The app build's environment.
  package let environment: Model.Environment
  /// The app's bundle ID: `apns-topic` without a suffix; for Android, the app's package name.
  package let topic: String
  /// The present token; a new installation gets another one.
  package internal(set) var token: DeviceToken
  /// The device's registration ID at the console, if it is registered there.
  package var registrationID: String?
  package var alias: String?
  /// At JPush.
  package internal(set) var tags: Set<String> = []
  /// At JPush: a phone number; nil: none.
  package internal(set) var mobile: String?
  /// At JPush: the number on the app's icon.
  package internal(set) var badge = 0
  package internal(set) var state: State
  package internal(set) var appState: AppState
  package internal(set) var power: Power
  package internal(set) var notifications = Notifications.allowed
  /// Newest first, at most ``receivedLimit``.
  package internal(set) var received: [ReceivedNotification]
  /// Notifications stored until it is switched on, or wakes up: of an iPhone the newest of each topic and channel.
  package internal(set) var waiting: [ReceivedNotification]
  /// Earlier tokens, newest first, at most ``formerTokenLimit``: pushes to them are answered with 410, or
  /// `UNREGISTERED`.
  package internal(set) var formerTokens: [FormerToken]
  /// Nil for an iPhone.
  package internal(set) var android: AndroidState?
  /// The app's topics at FCM, with the times of its subscriptions.
  package internal(set) var topics: [String: Date] = [:]

  /// How many notifications a phone keeps.
  package static let receivedLimit = 200
  /// How many former tokens a phone keeps.
  package static let formerTokenLimit = 20

  /// The service that it is registered with. A registration ID of JPush is shorter than every other token.
  package var provider: ProviderKind {
    if token.isRegistrationID { return .jpush }
    return platform == .ios && token.isFirebase ? .fcm : platform.ownProvider
  }

  /// As senders write it: FCM's or JPush's text, or hexadecimal digits.
  package var tokenText: String { token.text }

  /// Push types for which an app gets a token of their own, from PushKit, ActivityKit and the like: APNs refuses the one
  /// for notifications.
  package static let ownTokenTypes = Set(PushType.allCases.filter { $0.receiver != nil && $0 != .mdm })

  /// The token that an app with this token for notifications has for a push type; and the reverse.
  ///
  /// - Parameter type: one of ``ownTokenTypes``; other types have the app's usual token.
  package static func token(_ token: DeviceToken, for type: PushType) -> DeviceToken {
    guard ownTokenTypes.contains(type) else { return token }
    // Any change will do that differs for each type and can be undone.
    let mask = Array(type.rawValue.utf8)
    return DeviceToken(bytes: token.bytes.enumerated().map { $1 ^ mask[$0 % mask.count] })
  }

  /// The tokens of an iPhone's app for ``ownTokenTypes``; empty for other phones.
  package var ownTokens: [PushType: DeviceToken] {
    guard provider == .apns else { return [:] }
    return Dictionary(uniqueKeysWithValues: Self.ownTokenTypes.map { ($0, Self.token(token, for: $0)) })
  }

  package enum State: Sendable, Hashable {
    case installed
    /// Pushes are answered with 410 and this time.
    case uninstalled(since: Date)
  }

  package enum AppState: String, Sendable, Hashable, CaseIterable {
    case foreground, background
    case notRunning = "not_running"
  }

  package enum Power: String, Sendable, Hashable, CaseIterable {
    case on, off
  }

  /// Whether the person lets the app show notifications.
  package enum Notifications: String, Sendable, Hashable, CaseIterable {
    case allowed, off
  }

  /// A former token of the phone.
  package struct FormerToken: Sendable, Hashable {
    package let token: DeviceToken
    /// When the app was removed: the `timestamp` of the answer 410.
    package let since: Date
  }

  /// - Parameter received: newest first.
  package init(
    id: Int64, name: String, model: String, platform: Platform = .ios, environment: Model.Environment, topic: String,
    token: DeviceToken, registrationID: String? = nil, alias: String? = nil, state: State = .installed,
    appState: AppState = .background, power: Power = .on, received: [ReceivedNotification] = [],
    waiting: [ReceivedNotification] = [], formerTokens: [FormerToken] = [], android: AndroidState? = nil
  ) {
    (self.id, self.name, self.model, self.platform) = (id, name, model, platform)
    (self.environment, self.topic, self.registrationID) = (environment, topic, registrationID)
    // Kept phones have its bytes alone.
    self.token = DeviceToken(bytes: token.bytes, isText: token.isFirebase || platform.ownProvider != .apns)
    (self.alias, self.state, self.appState, self.power) = (alias, state, appState, power)
    (self.received, self.waiting, self.formerTokens) = (received, waiting, formerTokens)
    self.android = platform == .android ? android ?? AndroidState() : nil
  }
}

/// The properties of a phone to be added.
package struct NewPhone: Sendable, Hashable {
  /// What people will call it.
  package var name: String
  package var model: String
  package var platform: Platform
  /// The service that it registers with; nil: the platform's own.
  package var provider: ProviderKind?
  /// The app build's environment.
  package var environment: Model.Environment
  /// The app's bundle ID, or its package name.
  package var topic: String
  /// Nil: the simulator makes one.
  package var token: DeviceToken?
  /// The device's registration ID at the console.
  package var registrationID: String?
  package var alias: String?

  package init(
    name: String, model: String? = nil, platform: Platform = .ios, provider: ProviderKind? = nil,
    environment: Model.Environment, topic: String, token: DeviceToken? = nil, registrationID: String? = nil,
    alias: String? = nil
  ) {
    (self.name, self.provider) = (name, provider)
    self.model = model ?? (platform == .android ? "Android phone" : "iPhone")
    (self.platform, self.environment, self.topic) = (platform, environment, topic)
    (self.token, self.registrationID, self.alias) = (token, registrationID, alias)
  }
}
