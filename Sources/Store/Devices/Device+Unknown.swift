package import Foundation
package import Model
package import SQLite

extension Device {
  /// The tokens of an audience that no device of the app has, in whatever environment: somebody has pasted them to try
  /// a push.
  package static func unknownTokens(
    _ database: Database, app: Int64, audience: Audience
  ) throws -> [DeviceToken] {
    guard case .rule(let rule) = audience else { return [] }
    return try rule.deviceToken.filter { try find(database, app: app, token: $0) == nil }
  }

  /// Registers the tokens of a draft that the app does not know yet, so that the push reaches them, and so that what
  /// becomes of it has a place. In the transaction that keeps the push.
  ///
  /// - Returns: how many.
  @discardableResult
  package static func registerUnknown(
    _ database: Database, of draft: PushDraft, app: Int64, by actor: String, now: Date
  ) throws -> Int {
    let registrations = try unknownTokens(database, app: app, audience: draft.audience).map { token in
      // An APNs token is bytes, Firebase's is text with a colon in it; see DeviceToken's notations.
      let isFirebase = !draft.platforms.contains(.ios) || token.bytes.contains(UInt8(ascii: ":"))
      return Registration(
        token: token, environment: draft.environment,
        platform: isFirebase && draft.platforms.contains(.android) ? .android : .ios)
    }
    guard !registrations.isEmpty else { return 0 }
    return try register(database, app: app, registrations, by: actor, now: now).count { $0.deviceID != nil }
  }
}
