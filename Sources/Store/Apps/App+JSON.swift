public import Push
internal import Foundation

extension AppOverview {
  /// The schema `App`.
  public var json: JSONValue {
    [
      "bundle_id": .string(app.bundleID), "name": .string(app.name), "package_name": .optional(app.packageName),
      "alias_rule": .string(app.aliasRule ?? AliasRule.none.rawValue), "created_at": .time(app.createdAt),
      "devices": .array(kinds), "credentials": .array(credentials.map(\.json)),
    ]
  }

  /// Each environment and platform that the app has devices in.
  private var kinds: [JSONValue] {
    Environment.allCases.flatMap { environment in
      Platform.allCases.compactMap { platform in
        guard count(environment: environment, platform: platform) > 0 else { return nil }
        var members: [String: JSONValue] = [
          "environment": .string(environment.rawValue), "platform": .string(platform.rawValue),
        ]
        for state in DeviceState.allCases {
          members[state.name] = .integer(Int64(count(environment: environment, platform: platform, state: state)))
        }
        return .object(members)
      }
    }
  }
}

extension Credential {
  /// The schema `Credential`.
  public var json: JSONValue {
    [
      "provider": .string(provider.rawValue), "environment": .string(environment.rawValue),
      "certificate": certificateID.map { .integer($0) } ?? .null, "endpoint": .string(endpoint),
      "trust": .optional(trustPEM), "last_accepted_at": .optional(lastAcceptedAt),
      "last_refused_at": .optional(lastRefusedAt),
      "last_refusal": .optional(lastRefusal),
    ]
  }
}
