/// Whom a push is for, within one app, its environment and platforms.
///
/// The kinds of a rule are ANDed with each other, as at JPush: `tag` any of, `tagAnd` all of, `tagNot` none of,
/// `alias` any of, `registrationID` any of, `deviceToken` any of. An empty kind is no condition.
package enum Audience: Sendable, Hashable {
  /// Broadcast.
  case all
  /// Those whom a rule describes.
  case rule(Rule)

  /// The conditions of an audience; at least one is not empty.
  package struct Rule: Sendable, Hashable {
    /// Devices with any of these tags.
    package var tag: [String] = []
    /// Devices with all of these tags.
    package var tagAnd: [String] = []
    /// Devices with none of these tags.
    package var tagNot: [String] = []
    /// Devices of any of these users.
    package var alias: [String] = []
    /// Devices with any of these registration ids.
    package var registrationID: [String] = []
    /// Devices with any of these tokens.
    package var deviceToken: [DeviceToken] = []

    /// Creates a rule without conditions.
    package init() {}
  }
}
