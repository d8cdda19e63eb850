public import Foundation
public import Push

/// A device that a push goes to: what a provider needs to know of it.
public struct AudienceMember: Sendable, Hashable {
  /// The device's row id.
  public let id: Int64
  /// What it runs.
  public let platform: Platform
  /// Its token.
  public let token: DeviceToken
  /// The user.
  public let alias: String?
  /// The installation.
  public let registrationID: String?
  /// Last registration.
  public let registeredAt: Date
}
