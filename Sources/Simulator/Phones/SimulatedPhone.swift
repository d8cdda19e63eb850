public import Foundation
public import Model

/// A handset of the simulator with one app on it, and what it received.
public struct SimulatedPhone: Sendable, Hashable, Identifiable {
  /// Given by the phone book, from 1; never used again.
  public let id: Int64
  /// What people call it: "Ada's iPhone".
  public var name: String
  /// What it is, in words: "iPhone 17".
  public var model: String
  /// What it runs.
  public let platform: Platform
  /// Which of Apple's worlds its app was built for.
  public let environment: Model.Environment
  /// The bundle id of the app, as `apns-topic` has it, without the suffix of a push type.
  public let topic: String
  /// What senders call it by. After a new installation it is another one.
  public internal(set) var token: DeviceToken
  /// The device's registration id at the console, if it is registered there.
  public var registrationID: String?
  /// The person's alias, if one is set.
  public var alias: String?
  /// Whether the app is on it.
  public internal(set) var state: State
  /// What the app is doing.
  public internal(set) var appState: AppState
  /// Whether it is on the net.
  public internal(set) var power: Power
  /// What it received, newest first, at most ``receivedLimit``.
  public internal(set) var received: [ReceivedNotification]
  /// What APNs keeps until it is switched on: the newest of each topic.
  public internal(set) var waiting: [ReceivedNotification]
  /// Tokens of earlier installations, newest first, at most ``formerTokenLimit``: a push to them is answered 410.
  public internal(set) var formerTokens: [FormerToken]

  /// How many notifications a phone keeps.
  public static let receivedLimit = 200
  /// How many earlier tokens a phone keeps.
  public static let formerTokenLimit = 20

  /// Lower-case hexadecimal digits of ``token``.
  public var tokenHex: String { token.hexadecimal }

  /// Whether the app is on the phone.
  public enum State: Sendable, Hashable {
    case installed
    /// Pushes are answered with 410 and this time.
    case uninstalled(since: Date)
  }

  /// What the app is doing.
  public enum AppState: String, Sendable, Hashable, CaseIterable {
    case foreground, background
    case notRunning = "not_running"
  }

  /// Whether the phone is on the net.
  public enum Power: String, Sendable, Hashable, CaseIterable {
    case on, off
  }

  /// A token that was this phone's.
  public struct FormerToken: Sendable, Hashable {
    /// The token.
    public let token: DeviceToken
    /// When the app was removed: the `timestamp` of the answer 410.
    public let since: Date

    /// Takes what was kept.
    public init(token: DeviceToken, since: Date) {
      self.token = token
      self.since = since
    }
  }

  /// Takes what was kept.
  ///
  /// - Parameter received: newest first.
  public init(
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
public struct NewPhone: Sendable, Hashable {
  /// What people will call it.
  public var name: String
  /// What it is, in words.
  public var model: String
  /// What it runs.
  public var platform: Platform
  /// Which of Apple's worlds its app was built for.
  public var environment: Model.Environment
  /// The app's bundle id.
  public var topic: String
  /// nil: the simulator makes one up, 32 random bytes.
  public var token: DeviceToken?
  /// The device's registration id at the console.
  public var registrationID: String?
  /// The person's alias.
  public var alias: String?

  /// Describes a phone.
  public init(
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
