package import JSON

/// The content of a push, common to all providers.
package struct Notification: Sendable, Hashable {
  /// First line.
  package var title: String?
  /// Second line; iOS only.
  package var subtitle: String?
  /// The message.
  package var body: String?
  /// The number on the app's icon.
  package var badge: Badge?
  /// `default`, or the name of a sound file in the app.
  package var sound: String?
  /// The ID of a notification category: its buttons.
  package var category: String?
  /// Notifications of one thread are grouped.
  package var threadID: String?
  /// The urgency on iOS 15 and later.
  package var interruptionLevel: InterruptionLevel?
  /// A picture's address (needs `mutable-content` and a service extension in the app).
  package var image: String?
  /// The type by which the app chooses the page that a tap opens.
  package var link: String?
  /// Wakes the app in the background (`content-available`).
  package var contentAvailable = false
  /// Lets a service extension change the notification before it is shown.
  package var mutableContent = false
  /// Additional data for the app: top-level keys of the payload.
  package var extras: [String: JSONValue] = [:]
  /// Title, subtitle and message in further languages, in the order of their tags.
  package var localizations: [Localization] = []

  package enum InterruptionLevel: String, Sendable, Codable, CaseIterable {
    case passive
    case active
    case timeSensitive = "time-sensitive"
    case critical
  }

  package init() {}
}
