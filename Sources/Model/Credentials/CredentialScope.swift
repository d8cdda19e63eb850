package import Foundation

/// What a key or certificate may send to and until when, according to itself.
package struct CredentialScope: Sendable, Hashable {
  /// The display name.
  package let name: String
  /// Nil for a key, which may send to every topic of its team.
  package let topics: Set<String>?
  /// Nil: no end.
  package let notAfter: Date?

  /// - Parameter topics: nil for a key; a certificate's full list.
  package init(name: String, topics: [String]?, notAfter: Date? = nil) {
    self.name = name
    self.topics = topics.map(Set.init)
    self.notAfter = notAfter
  }

  /// Whether it may send this type to this topic; nil topic: not known yet.
  ///
  /// Certificates send only to the topics in their list; location pushes require a key, and device management a
  /// certificate (Apple, Sending notification requests to APNs, `apns-push-type`).
  package func sends(_ type: PushType, to topic: String?) -> Bool {
    guard let topics else { return type != .mdm }
    if type == .location { return false }
    guard let topic else { return true }
    return topics.contains(topic) && (type == .mdm || !AppName.isDeviceManagement(topic))
  }

  /// The push types allowed for an app, in the order of ``PushType``.
  package func types(for bundleID: String) -> [PushType] {
    PushType.allCases.filter { type in
      guard type == .mdm else { return sends(type, to: bundleID + type.topicSuffix) }
      // Another app's push needs the topic as a header.
      let known = AppName.isDeviceManagement(bundleID) ? topics?.filter { $0 == bundleID } : topics
      return known?.contains(where: AppName.isDeviceManagement) ?? false
    }
  }
}
