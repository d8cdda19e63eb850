package import Foundation
import OpenSSL
package import Model
import Text

/// The content of a `.mobileprovision`.
package struct ProvisioningProfile: Sendable, Hashable {
  package enum Distribution: String, Sendable, Hashable, Codable {
    /// From Xcode, to registered devices, with a debugger.
    case development
    /// To registered devices.
    case adHoc = "ad_hoc"
    /// To all devices of an organization.
    case enterprise
    /// Through the App Store and TestFlight.
    case appStore = "app_store"
  }

  package let name: String
  package let uuid: String
  package let teamID: String?
  package let teamName: String?
  /// As `TEAM123456.com.example.app`, or with `*` at the end.
  package let appID: String
  /// ``appID`` without the team; nil if it ends in `*`.
  package let bundleID: String?
  /// The APNs environment of its builds' tokens; nil if push is not allowed.
  package let apsEnvironment: Model.Environment?
  /// As `iOS`.
  package let platforms: [String]
  package let distribution: Distribution
  /// The number of registered devices.
  package let deviceCount: Int
  /// As `aps-environment` → `development`; lists are joined by commas.
  package let entitlements: [String: String]
  package let creationDate: Date?
  /// The date on which its builds stop launching.
  package let expirationDate: Date
  /// The certificates that may sign its builds.
  package let certificates: [CertificateSummary]
  /// Whether the signature matches the content.
  package let isIntact: Bool

  /// Valid for every app of the team.
  package var isWildcard: Bool { bundleID == nil }

  init(propertyList: Data, isIntact: Bool) throws(PropertyListError) {
    let root = try BoundedPropertyList.dictionary(propertyList)
    guard let uuid = root["UUID"] as? String, let expirationDate = root["ExpirationDate"] as? Date,
      let entitlements = root["Entitlements"] as? [String: Any]
    else { throw .missing("UUID, ExpirationDate or Entitlements") }
    // macOS prefixes entitlement names.
    func entitlement(_ name: String) -> String? {
      (entitlements[name] ?? entitlements["com.apple.developer.\(name)"] ?? entitlements["com.apple.\(name)"])
        as? String
    }
    guard let appID = entitlement("application-identifier") else { throw .missing("application-identifier") }
    self.uuid = uuid.singleLine
    self.expirationDate = expirationDate
    self.appID = appID.singleLine
    self.isIntact = isIntact
    name = (root["Name"] as? String ?? uuid).singleLine.cut(to: 200)
    // Real profiles have a dozen.
    self.entitlements = entitlements.sorted { $0.key < $1.key }.prefix(100).reduce(into: [:]) {
      $0[$1.key.singleLine.cut(to: 100)] = Self.text($1.value).singleLine.cut(to: 300)
    }
    let prefix = (root["ApplicationIdentifierPrefix"] as? [String])?.first
    teamID = (root["TeamIdentifier"] as? [String])?.first ?? entitlement("team-identifier") ?? prefix
    teamName = (root["TeamName"] as? String)?.singleLine
    let bundle = appID.split(separator: ".", maxSplits: 1).dropFirst().first.map(String.init)
    bundleID = bundle.flatMap { $0.hasSuffix("*") ? nil : $0 }
    apsEnvironment = entitlement("aps-environment").flatMap(Model.Environment.init(rawValue:))
    platforms = (root["Platform"] as? [String] ?? []).map(\.singleLine)
    let devices = root["ProvisionedDevices"] as? [String]
    deviceCount = devices?.count ?? 0
    if root["ProvisionsAllDevices"] as? Bool == true {
      distribution = .enterprise
    } else if devices == nil {
      distribution = .appStore
    } else {
      distribution = entitlements["get-task-allow"] as? Bool == true ? .development : .adHoc
    }
    creationDate = root["CreationDate"] as? Date
    // Unreadable certificates are skipped: the profile's own dates count.
    certificates = (root["DeveloperCertificates"] as? [Data] ?? []).compactMap { try? Certificate(der: $0) }
      .map(CertificateSummary.init)
  }

  private static func text(_ value: Any) -> String {
    switch value {
    case let text as String: text
    case let flag as Bool: flag ? "true" : "false"
    case let list as [Any]: list.prefix(20).map(text).joined(separator: ", ")
    default: "…"
    }
  }
}
