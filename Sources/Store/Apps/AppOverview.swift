package import Model
package import SQLite

/// An app with its numbers and the health of its credentials, from counters alone.
package struct AppOverview: Sendable, Hashable, Identifiable {
  /// The app.
  package let app: App
  /// How many devices of which kind; kinds without devices are left out.
  package let devices: [DeviceCount]
  /// Its credentials, with what they rest on.
  package let credentials: [Credential]

  /// The app's row id.
  package var id: Int64 { app.id }

  /// How many devices there are of the kinds asked for; nil: of any.
  package func count(
    environment: Environment? = nil, platform: Platform? = nil, state: DeviceState? = nil
  ) -> Int {
    devices.reduce(0) { sum, count in
      let fits =
        (environment == nil || environment == count.environment) && (platform == nil || platform == count.platform)
        && (state == nil || state == count.state)
      return fits ? sum + count.count : sum
    }
  }

  /// All apps, by name.
  package static func all(_ database: Database) throws -> [AppOverview] {
    let devices = Dictionary(grouping: try DeviceCount.all(database), by: \.appID)
    let credentials = Dictionary(grouping: try Credential.all(database), by: \.appID)
    return try App.all(database).map { app in
      AppOverview(app: app, devices: devices[app.id] ?? [], credentials: credentials[app.id] ?? [])
    }
  }

  /// One app, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> AppOverview? {
    guard let app = try App.find(database, id: id) else { return nil }
    return AppOverview(
      app: app, devices: try DeviceCount.all(database, app: id), credentials: try Credential.all(database, app: id))
  }
}
