package import Foundation
import OpenSSL
package import Model
import Text

/// What a `.mobileprovision` says: which builds of which app run where, and what they may do.
package struct ProvisioningProfile: Sendable, Hashable {
  /// How its builds reach devices.
  package enum Distribution: String, Sendable, Hashable, Codable {
    /// From Xcode, on registered devices, with a debugger.
    case development
    /// On registered devices.
    case adHoc = "ad_hoc"
    /// On all devices of a company.
    case enterprise
    /// By the App Store and TestFlight.
    case appStore = "app_store"
  }

  /// As the developer called it.
  package let name: String
  /// Its own id.
  package let uuid: String
  /// Apple's id of the team.
  package let teamID: String?
  /// The team's name.
  package let teamName: String?
  /// As `TEAM123456.com.example.app`, or with `*` at its end.
  package let appID: String
  /// The part of ``appID`` behind the team, nil if it ends in `*`.
  package let bundleID: String?
  /// Which of Apple's servers know the tokens of its builds; nil if push is not allowed.
  package let apsEnvironment: Model.Environment?
  /// As `iOS`.
  package let platforms: [String]
  /// How its builds reach devices.
  package let distribution: Distribution
  /// On how many registered devices.
  package let deviceCount: Int
  /// What its builds may do, as `aps-environment` → `development`; values that are lists stand behind commas.
  package let entitlements: [String: String]
  /// When it was made.
  package let creationDate: Date?
  /// When its builds stop to start.
  package let expirationDate: Date
  /// With which of these its builds are signed.
  package let certificates: [CertificateSummary]
  /// Whether its content is what was signed.
  package let isIntact: Bool

  /// Whether it is for every app of the team.
  package var isWildcard: Bool { bundleID == nil }

  /// Reads the property list inside.
  ///
  /// - Throws: ``PropertyListError``.
  init(propertyList: Data, isIntact: Bool) throws(PropertyListError) {
    let root = try BoundedPropertyList.dictionary(propertyList)
    guard let uuid = root["UUID"] as? String, let expirationDate = root["ExpirationDate"] as? Date,
      let entitlements = root["Entitlements"] as? [String: Any]
    else { throw .missing("UUID, ExpirationDate or Entitlements") }
    // macOS prefixes the names of its entitlements.
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
    // One that cannot be read is left out: the profile's own dates are what counts.
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
