import Foundation
import JSON
import Model
import OpenSSL

/// What only Android phones have.
package struct AndroidState: Sendable, Hashable {
  /// Asleep: messages of normal priority wait, those of high priority arrive.
  package var isDozing = false
  /// Notification channels that the person switched off.
  package var mutedChannels: Set<String> = []
  /// Whether FCM dropped waiting messages because there were too many, and the app's `onDeletedMessages` was called.
  package var hasLostMessages = false

  package init() {}

  /// Messages that FCM stores for one phone; with one more it drops all (docs/protocols.md §5.1).
  static let waitingLimit = 100
  /// The most collapse keys among waiting messages; a further one drops the oldest (docs/protocols.md §3.1).
  static let collapseKeyLimit = 4
}

extension SimulatedPhone {
  /// The Firebase installation ID, with which an FCM token begins; nil for a phone of another service.
  package var installationID: String? { provider == .fcm ? Self.installationID(of: token) : nil }

  private static func installationID(of token: DeviceToken) -> String {
    String(decoding: token.bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
  }

  /// Whether a text is shaped like a registration token, or like an installation ID.
  static func isRegistration(_ text: String) -> Bool {
    text.wholeMatch(of: #/[A-Za-z0-9_\-]{8,}:APA91[A-Za-z0-9_\-]{40,}|[c-f][A-Za-z0-9_\-]{21}/#) != nil
  }

  /// Every address that reaches the phone by one of its tokens: an installation ID works as well.
  func addresses(_ token: DeviceToken) -> [PhoneBook.Address] {
    guard provider == .fcm else { return [address(token)] }
    return [address(token), address(DeviceToken(text: Self.installationID(of: token)))]
  }

  /// A new token of the phone's kind.
  ///
  /// - Parameter installation: the installation ID to keep; nil: a new one.
  static func newToken(_ provider: ProviderKind, installation: String? = nil) -> DeviceToken {
    switch provider {
    case .apns: return DeviceToken(bytes: Random.bytes(32))
    // 19 hexadecimal digits, the first of them 1 (docs/protocols.md §2).
    case .jpush: return DeviceToken(text: "1\(DeviceToken(bytes: Random.bytes(9)).hexadecimal)")
    case .fcm: break
    }
    // 17 random bytes, of which the first begins with 0111: 22 characters, the first of them c, d, e or f (Firebase
    // Installations).
    var bytes = Random.bytes(17)
    bytes[0] = bytes[0] & 0x0f | 0x70
    let id = installation ?? String(Base64URL.encode(bytes).prefix(22))
    return DeviceToken(text: "\(id):APA91b\(Base64URL.encode(Random.bytes(100)))")
  }

  /// Whether a message arrives now; otherwise it waits.
  func takes(_ notification: ReceivedNotification) -> Bool {
    power == .on && (android?.isDozing != true || notification.priority == 10)
  }

  /// Stores a message until the phone takes it: for an iPhone APNs keeps the newest of each app and channel
  /// (docs/protocols.md §1.1).
  mutating func wait(for notification: ReceivedNotification) {
    guard platform == .android else {
      waiting.removeAll { $0.topic == notification.topic && $0.channel == notification.channel }
      return waiting.append(notification)
    }
    if let key = notification.collapseID { waiting.removeAll { $0.collapseID == key } }
    if waiting.count >= AndroidState.waitingLimit {
      waiting = []
      android?.hasLostMessages = true
    }
    waiting.append(notification)
    let keys = Set(waiting.compactMap(\.collapseID))
    if keys.count > AndroidState.collapseKeyLimit, let oldest = waiting.firstIndex(where: { $0.collapseID != nil }) {
      waiting.remove(at: oldest)
    }
  }
}

// As ``SimulatedPhone/keptState``.
extension AndroidState {
  var kept: JSONValue {
    [
      "dozing": .bool(isDozing), "muted_channels": .array(mutedChannels.sorted().map { .string($0) }),
      "lost": .bool(hasLostMessages),
    ]
  }

  init(kept: JSONValue?) {
    isDozing = kept?["dozing"]?.bool ?? false
    mutedChannels = Set((kept?["muted_channels"]?.array ?? []).compactMap(\.string))
    hasLostMessages = kept?["lost"]?.bool ?? false
  }
}
