package import Foundation
package import JSON
import Model
package import SQLite

/// One event of a device's timeline.
package struct DeviceEvent: Sendable, Hashable {
  /// Stored as text: append only.
  package enum Kind: String, Sendable, CaseIterable {
    case registered
    /// Reactivated by a new registration: `from`, `reason`.
    case revived
    /// Moved to the other environment: `from`, `to`, and `push` or `incident` if it was moved from the page of one.
    case environmentChanged = "environment_changed"
    /// The app reported development, and the device stayed in production.
    case environmentKept = "environment_kept"
    /// Now another platform: `from`, `to`.
    case platformChanged = "platform_changed"
    /// Another user, or none: `from`, `to`.
    case aliasChanged = "alias_changed"
    /// Tags: `added`, `removed`.
    case tagsChanged = "tags_changed"
    /// Another installation: `from`, `to`.
    case registrationIDChanged = "registration_id_changed"
    /// The app reported a new token for it: `from`, `to`, and `device`, another one that went up in it.
    case tokenChanged = "token_changed"
    /// Another device went up in it: `from`, its token; `device`; and `alias`, if that one was dropped.
    case merged
    /// Another name: `from`, `to`.
    case nameChanged = "name_changed"
    /// Parked: `reason`, and `push` or `incident`.
    case quarantined
    /// The provider says that the token is gone: `reason`, `push`, `since`.
    case declaredDead = "declared_dead"
    /// Reactivated by a person.
    case released
    /// Reactivated, because the provider accepted a push for it: `push`.
    case proven
  }

  /// The last events of a device that are kept: an app that changes tags with every start would fill the file.
  package static let limit = 200

  package let at: Date
  package let kind: Kind
  /// Members as listed at the kind, and `by` for a person.
  package let detail: JSONValue?

  /// A device's timeline, newest first; it ends with the first registration.
  package static func all(_ database: Database, device: Int64, limit: Int = limit) throws -> [DeviceEvent] {
    var events = try database.fetchAll(
      "SELECT at, kind, detail FROM device_events WHERE device_id = ? ORDER BY number DESC LIMIT ?", device, limit
    ) { row in
      DeviceEvent(
        at: row.date(0), kind: try row.value(1, as: Kind.self),
        detail: try json(row.optionalText(2), "device_events.detail"))
    }
    // Not stored as an event: an import of 10 million devices would write 10 million redundant rows.
    let created = try database.fetchOne("SELECT created_at FROM devices WHERE id = ?", device) { $0.date(0) }
    if let created, events.count < limit { events.append(DeviceEvent(at: created, kind: .registered, detail: nil)) }
    return events
  }
}
