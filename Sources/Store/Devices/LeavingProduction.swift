internal import Model
internal import SQLite

/// What becomes of a change that takes a device out of production, where fewer people may send.
///
/// Whoever may not send to production could otherwise move a phone to development first, and then send to it there:
/// FCM and JPush reach it either way.
package enum LeavingProduction: Sendable, Hashable {
  /// Whoever asks for it may send to production.
  case allowed
  case refused
  /// The app itself asks, with a key that everybody can read: the device stays, and the answer does not tell.
  case ignored

  package init(maySend: Bool) { self = maySend ? .allowed : .refused }
}

extension DeviceWriter {
  /// The kind that a device gets.
  ///
  /// - Parameter isSameToken: whether it keeps its token. APNs itself tells the environments of tokens apart, so that a
  ///   new one goes where its app says.
  /// - Throws: `Problem` at `environment` if it would leave production without the right to.
  func permitted(
    _ kind: DeviceCounters.Kind, after before: Before, isSameToken: Bool = true
  ) throws -> DeviceCounters.Kind {
    let production = Environment.production.code
    guard before.kind.environment == production, kind.environment != production else { return kind }
    switch leaving {
    case .allowed: return kind
    case .refused: throw Problem("environment", ApprovalMessage.leaves)
    case .ignored:
      if !isSameToken, kind.provider == ProviderKind.apns.code { return kind }
      var kind = kind
      kind.environment = production
      return kind
    }
  }

  /// Says once, and not with every start of the app, that a device stayed in production.
  func noteStay(_ device: Int64) throws {
    let last = try database.fetchOne(
      """
      SELECT kind FROM device_events WHERE device_id = ? AND kind IN (?, ?) ORDER BY number DESC LIMIT 1
      """, device, DeviceEvent.Kind.environmentKept.rawValue, DeviceEvent.Kind.environmentChanged.rawValue
    ) { $0.text(0) }
    guard last != DeviceEvent.Kind.environmentKept.rawValue else { return }
    try note(device, .environmentKept, [:])
  }
}
