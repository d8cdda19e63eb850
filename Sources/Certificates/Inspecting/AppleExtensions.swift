import Foundation
package import OpenSSL

/// Apple's extensions in push certificates.
///
/// Under 1.2.840.113635.100.6.3: `.1` development, `.2` production, `.3`–`.5` VoIP, `.4` and `.6` lists of topics.
/// Apple does not document them; see Pushy's `apns-extensions.cnf` and Buford's `certificate.go`.
package struct AppleExtensions: Sendable, Hashable {
  /// A topic and the kinds of push that it accepts.
  package struct Topic: Sendable, Hashable {
    /// As `com.example.app.voip`.
    package let name: String
    /// As `app`, `voip`, `complication`.
    package let kinds: [String]
    package init(name: String, kinds: [String]) { (self.name, self.kinds) = (name, kinds) }
  }

  /// What a signing certificate of Apple signs (Apple, WWDR Certification Practice Statement, certificate extensions).
  package enum Signing: Sendable, Hashable {
    /// Builds for the developer's own devices.
    case development
    /// Builds for other devices.
    case distribution
    /// Wallet passes.
    case pass
  }

  /// Of all its extensions.
  private static let apple = "1.2.840.113635.100.6."

  /// Valid for Apple's development servers (`.1`).
  package let isDevelopment: Bool
  /// Valid for Apple's production servers (`.2`).
  package let isProduction: Bool
  /// Valid for VoIP (`.3`, `.4` or `.5`).
  package let isVoIP: Bool
  /// Has a list of topics (`.6` or `.4`), even an unreadable one.
  package let hasTopicList: Bool
  /// For signing certificates (`1.2.840.113635.100.6.1`).
  package let signing: Signing?
  /// Allowed topics; nil without a list, and then the subject names the only topic.
  package let topics: [Topic]?

  init(of certificate: Certificate) {
    let own = certificate.extensionOIDs.filter { $0.hasPrefix(Self.apple) }
    let marks = Set(own.map { String($0.dropFirst(Self.apple.utf8.count)) })
    isDevelopment = marks.contains("3.1")
    isProduction = marks.contains("3.2")
    isVoIP = ["3.3", "3.4", "3.5"].contains { marks.contains($0) }
    hasTopicList = ["3.6", "3.4"].contains { marks.contains($0) }
    signing = Self.signingMarks.first { marks.contains($0.0) }?.1
    topics =
      ["3.6", "3.4"].lazy.filter { marks.contains($0) }
      .compactMap { certificate.extensionValue(oid: Self.apple + $0) }.compactMap(Self.topics).first
  }

  /// 2 iPhone development, 4 iPhone distribution, 7 Mac App Store, 12 Mac development, 13 and 14 Developer ID, 16 passes.
  private static let signingMarks: [(String, Signing)] = [
    ("1.2", .development), ("1.12", .development), ("1.4", .distribution), ("1.7", .distribution),
    ("1.13", .distribution), ("1.14", .distribution), ("1.16", .pass),
  ]

  /// `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind, … }, … }`; nil for anything else.
  static func topics(in value: Data) -> [Topic]? {
    guard let list = DER.element(value), list.tag == DER.sequence, let parts = list.children,
      parts.count.isMultiple(of: 2), !parts.isEmpty
    else { return nil }
    var topics: [Topic] = []
    for index in stride(from: 0, to: parts.count, by: 2) {
      guard let name = parts[index].text, parts[index + 1].tag == DER.sequence,
        let kinds = parts[index + 1].children?.map(\.text), !kinds.contains(nil)
      else { return nil }
      topics.append(Topic(name: name, kinds: kinds.compactMap(\.self)))
    }
    return topics
  }
}

extension Certificate {
  /// All false in a certificate that Apple did not issue.
  package var appleExtensions: AppleExtensions { AppleExtensions(of: self) }
}

extension AppleExtensions.Topic {
  /// As `com.example.app.voip (voip)`.
  var text: String { kinds.isEmpty ? name : "\(name) (\(kinds.joined(separator: ", ")))" }
}
