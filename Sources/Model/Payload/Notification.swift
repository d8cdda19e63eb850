public import JSON

/// What a push says, in words common to all providers.
public struct Notification: Sendable, Hashable {
  /// First line.
  public var title: String?
  /// Second line; iOS only.
  public var subtitle: String?
  /// The message itself.
  public var body: String?
  /// The number on the app's icon; 0 removes it.
  public var badge: Int?
  /// `default`, or the name of a sound file in the app.
  public var sound: String?
  /// The id of a notification category: its buttons.
  public var category: String?
  /// Notifications of one thread are grouped.
  public var threadID: String?
  /// How urgently iOS 15 and later shows it.
  public var interruptionLevel: InterruptionLevel?
  /// The address of a picture (needs `mutable-content` and a service extension in the app).
  public var image: String?
  /// The type by which the app chooses the page that a tap opens.
  public var link: String?
  /// Wakes the app in the background (`content-available`).
  public var contentAvailable = false
  /// Lets a service extension change the notification before it is shown.
  public var mutableContent = false
  /// What the app gets besides; top-level keys of the payload.
  public var extras: [String: JSONValue] = [:]

  /// Apple's levels.
  public enum InterruptionLevel: String, Sendable, Codable, CaseIterable {
    case passive
    case active
    case timeSensitive = "time-sensitive"
    case critical
  }

  /// Creates an empty notification.
  public init() {}
}
