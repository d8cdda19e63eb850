package import JSON
import Model
internal import Foundation

extension AppOverview: JSONWritable {
  /// The schema `App`.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("bundle_id", app.bundleID)
      json.member("name", app.name)
      json.member("package_name", app.packageName)
      json.member("alias_rule", app.aliasRule ?? AliasRule.none.rawValue)
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

extension Credential: JSONWritable {
  /// The schema `Credential`.
  package func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

  /// Writes the members of the schema that the store knows.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("provider", provider.rawValue)
    json.member("environment", environment.rawValue)
    json.member("certificate", certificateID)
    json.member("endpoint", endpoint)
    json.member("trust", trustPEM)
    json.member("last_accepted_at", lastAcceptedAt)
    json.member("last_refused_at", lastRefusedAt)
    json.member("last_refusal", lastRefusal)
  }
}
