package import Foundation
package import Model

/// A handset of the simulator with one app on it, and what it received.
package struct SimulatedPhone: Sendable, Hashable, Identifiable {
  /// Given by the phone book, from 1; never used again.
  package let id: Int64
  /// What people call it: "Ada's iPhone".
  package var name: String
  /// What it is, in words: "iPhone 17".
  package var model: String
  /// What it runs.
  package let platform: Platform
  /// Which of Apple's worlds its app was built for.
  package let environment: Model.Environment
  /// The bundle id of the app, as `apns-topic` has it, without the suffix of a push type.
  package let topic: String
  /// What senders call it by. After a new installation it is another one.
  package internal(set) var token: DeviceToken
  /// The device's registration id at the console, if it is registered there.
  package var registrationID: String?
  /// The person's alias, if one is set.
  package var alias: String?
  /// Whether the app is on it.
  package internal(set) var state: State
  /// What the app is doing.
  package internal(set) var appState: AppState
  /// Whether it is on the net.
  package internal(set) var power: Power
  /// What it received, newest first, at most ``receivedLimit``.
  package internal(set) var received: [ReceivedNotification]
  /// What APNs keeps until it is switched on: the newest of each topic.
  package internal(set) var waiting: [ReceivedNotification]
  /// Tokens of earlier installations, newest first, at most ``formerTokenLimit``: a push to them is answered 410.
  package internal(set) var formerTokens: [FormerToken]

  /// How many notifications a phone keeps.
  package static let receivedLimit = 200
  /// How many earlier tokens a phone keeps.
  package static let formerTokenLimit = 20

  /// Lower-case hexadecimal digits of ``token``.
  package var tokenHex: String { token.hexadecimal }

  /// Whether the app is on the phone.
  package enum State: Sendable, Hashable {
    case installed
    /// Pushes are answered with 410 and this time.
    case uninstalled(since: Date)
  }

  /// What the app is doing.
  package enum AppState: String, Sendable, Hashable, CaseIterable {
    case foreground, background
    case notRunning = "not_running"
  }

  /// Whether the phone is on the net.
  package enum Power: String, Sendable, Hashable, CaseIterable {
    case on, off
  }

  /// A token that was this phone's.
  package struct FormerToken: Sendable, Hashable {
    /// The token.
    package let token: DeviceToken
    /// When the app was removed: the `timestamp` of the answer 410.
    package let since: Date

    /// Takes what was kept.
    package init(token: DeviceToken, since: Date) {
      self.token = token
      self.since = since
    }
  }

  /// Takes what was kept.
  ///
  /// - Parameter received: newest first.
  package init(
    id: Int64, name: String, model: String, platform: Platform = .ios, environment: Model.Environment, topic: String,
    token: DeviceToken, registrationID: String? = nil, alias: String? = nil, state: State = .installed,
    appState: AppState = .background, power: Power = .on, received: [ReceivedNotification] = [],
    waiting: [ReceivedNotification] = [], formerTokens: [FormerToken] = []
  ) {
    self.id = id
    self.name = name
    self.model = model
    self.platform = platform
    self.environment = environment
    self.topic = topic
    self.token = token
    self.registrationID = registrationID
    self.alias = alias
    self.state = state
    self.appState = appState
    self.power = power
    self.received = received
    self.waiting = waiting
    self.formerTokens = formerTokens
  }
}

/// What a person says to get a phone.
package struct NewPhone: Sendable, Hashable {
  /// What people will call it.
  package var name: String
  /// What it is, in words.
  package var model: String
  /// What it runs.
  package var platform: Platform
  /// Which of Apple's worlds its app was built for.
  package var environment: Model.Environment
  /// The app's bundle id.
  package var topic: String
  /// nil: the simulator makes one up, 32 random bytes.
  package var token: DeviceToken?
  /// The device's registration id at the console.
  package var registrationID: String?
  /// The person's alias.
  package var alias: String?

  /// Describes a phone.
  package init(
    name: String, model: String = "iPhone", platform: Platform = .ios, environment: Model.Environment, topic: String,
    token: DeviceToken? = nil, registrationID: String? = nil, alias: String? = nil
  ) {
    self.name = name
    self.model = model
    self.platform = platform
    self.environment = environment
    self.topic = topic
    self.token = token
    self.registrationID = registrationID
    self.alias = alias
  }
}
