import Foundation

/// A rule by which an app's devices that FCM reaches are kept subscribed to a topic of FCM (docs/protocols.md §3.9).
package enum TopicRule: String, Sendable, CaseIterable {
  /// One topic for every device.
  case common
  /// One for each platform.
  case platform
  /// One for each version of the app.
  case version
  /// One for each time zone.
  case timeZone = "time_zone"

  /// The topic of a device; nil: the app has not told what it depends on.
  package func topic(platform: Platform, version: String?, timeZone: String?) -> String? {
    switch self {
    case .common: "common"
    case .platform: Self.name("platform", platform.rawValue)
    case .version: version.flatMap { Self.name("version", $0) }
    case .timeZone: timeZone.flatMap { Self.name("timezone", $0) }
    }
  }

  /// What a topic's name cannot have is percent-encoded: `timezone-Asia%2FShanghai`.
  private static func name(_ kind: String, _ value: String) -> String? {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"
    let escaped = value.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: letters))
    guard let escaped, !escaped.isEmpty else { return nil }
    let name = "\(kind)-\(escaped)"
    return TopicCondition.isTopic(name) ? name : nil
  }

  /// An example, or the form, of its topics.
  package var example: String {
    switch self {
    case .common: "common"
    case .platform: "platform-android"
    case .version: "version-2.4.1"
    case .timeZone: "timezone-Asia%2FShanghai"
    }
  }
}
