internal import Foundation
package import JSON
package import Model
package import SQLite

package struct AppOverview: Sendable, Hashable, Identifiable {
  package let app: App
  /// Kinds without devices are omitted.
  package let devices: [DeviceCount]
  package let credentials: [Credential]

  package var id: Int64 { app.id }

  package func count(
    environment: Environment? = nil, platform: Platform? = nil, provider: ProviderKind? = nil,
    state: DeviceState? = nil
  ) -> Int {
    devices.reduce(0) { sum, count in
      let fits =
        (environment == nil || environment == count.environment) && (platform == nil || platform == count.platform)
        && (provider == nil || provider == count.provider) && (state == nil || state == count.state)
      return fits ? sum + count.count : sum
    }
  }

  /// The devices that a service reaches in an environment, in a word. With iPhones, FCM's have no platform's name.
  package func reachName(_ provider: ProviderKind, _ environment: Environment) -> String {
    let hasOthers = count(environment: environment, platform: .ios, provider: .fcm) > 0
    return provider == .fcm && hasOthers ? provider.name : provider.reachName
  }

  package static func all(_ database: Database) throws -> [AppOverview] {
    let devices = Dictionary(grouping: try DeviceCount.all(database), by: \.appID)
    let credentials = Dictionary(grouping: try Credential.all(database), by: \.appID)
    return try App.all(database).map { app in
      AppOverview(app: app, devices: devices[app.id] ?? [], credentials: credentials[app.id] ?? [])
    }
  }

  package static func find(_ database: Database, id: Int64) throws -> AppOverview? {
    guard let app = try App.find(database, id: id) else { return nil }
    return AppOverview(
      app: app, devices: try DeviceCount.all(database, app: id), credentials: try Credential.all(database, app: id))
  }
}

extension AppOverview: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("bundle_id", app.bundleID)
    json.member("name", app.name)
    json.member("package_name", app.packageName)
    json.member("alias_rule", app.aliasRule ?? AliasRule.none.rawValue)
    json.member("production_needs_approval", app.needsApproval)
    json.member("created_at", app.createdAt)
    json.key("devices")
    json.array { json in
      for environment in Environment.allCases {
        for platform in Platform.allCases where count(environment: environment, platform: platform) > 0 {
          json.separate()
          write(environment, platform, to: &json)
        }
      }
    }
    json.member("credentials", credentials)
  }

  private func write(_ environment: Environment, _ platform: Platform, to json: inout JSONWriter) {
    json.object { json in
      json.member("environment", environment.rawValue)
      json.member("platform", platform.rawValue)
      for state in DeviceState.allCases {
        json.key(dynamic: state.name)
        json.integer(Int64(count(environment: environment, platform: platform, state: state)))
      }
    }
  }
}

extension Credential: JSONObject {
  /// Writes the schema's members that the store knows.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("provider", provider.rawValue)
    json.member("environment", environment.rawValue)
    json.member("certificate", certificateID)
    json.member("endpoint", endpoint)
    json.member("trust", trustPEM)
    json.member("proxy", proxy?.text)
    json.member("last_accepted_at", lastAcceptedAt)
    json.member("last_refused_at", lastRefusedAt)
    json.member("last_refusal", lastRefusal)
  }
}
