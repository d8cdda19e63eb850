/// Which of a provider's worlds a device token belongs to. Apple calls development *sandbox*.
package enum Environment: String, Sendable, Codable, CaseIterable, Hashable {
  /// Builds signed with a development profile (`aps-environment` = `development`).
  case development
  /// TestFlight and App Store builds.
  case production
}
