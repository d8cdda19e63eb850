package import Foundation
package import Model
package import SQLite
package import Store

/// A push or schedule with a future send time.
package protocol Planned: Hashable, Sendable {
  var uid: String { get }
  var appID: Int64 { get }
  var environment: Model.Environment { get }
  var platforms: [Platform] { get }
  /// The next send time.
  var dueAt: Date { get }
}

extension PlannedPush: Planned {
  package var dueAt: Date { sendAt }
}

extension PlannedSchedule: Planned {
  package var dueAt: Date { nextAt }
}

/// Which scheduled pushes need which credential, and which of them are sent after it expires.
package enum Forecast {
  /// What needs one certificate or key.
  package struct Plan: Sendable, Hashable {
    /// The next first.
    package var pushes: [PlannedPush]
    /// The next first.
    package var schedules: [PlannedSchedule]

    package init(pushes: [PlannedPush] = [], schedules: [PlannedSchedule] = []) {
      (self.pushes, self.schedules) = (pushes, schedules)
    }

    /// Those of one use: an app, an environment and a provider.
    package func of(_ use: TrackedCertificate.Use) -> Plan { of(app: use.appID, use.environment, use.provider) }

    package func of(app: Int64, _ environment: Environment, _ provider: ProviderKind) -> Plan {
      func isItsOwn(_ item: some Planned) -> Bool {
        item.appID == app && item.environment == environment
          && !Set(item.platforms).isDisjoint(with: provider.usualPlatforms)
      }
      return Plan(pushes: pushes.filter(isItsOwn), schedules: schedules.filter(isItsOwn))
    }
  }

  /// Everything that is planned, whatever it needs.
  package static func all(_ database: Database, now: Date) throws -> Plan {
    Plan(pushes: try PlannedPush.all(database, after: now), schedules: try PlannedSchedule.all(database))
  }

  /// What needs each certificate or key, by its row ID.
  package static func needs(_ database: Database, now: Date) throws -> [Int64: Plan] {
    let plan = try all(database, now: now)
    guard !plan.pushes.isEmpty || !plan.schedules.isEmpty else { return [:] }
    let credentials = try Credential.all(database)
    let once = needs(plan.pushes, credentials)
    let repeating = needs(plan.schedules, credentials)
    return Dictionary(
      uniqueKeysWithValues: Set(once.keys).union(repeating.keys).map {
        ($0, Plan(pushes: once[$0] ?? [], schedules: repeating[$0] ?? []))
      })
  }

  private struct Place: Hashable {
    let app: Int64
    let environment: Environment
    let platform: Platform
  }

  /// The same for data that is already loaded; the next first.
  package static func needs<Item: Planned>(_ planned: [Item], _ credentials: [Credential]) -> [Int64: [Item]] {
    var items: [Place: [Item]] = [:]
    for item in planned.sorted(by: { ($0.dueAt, $0.uid) < ($1.dueAt, $1.uid) }) {
      for platform in Set(item.platforms) {
        items[Place(app: item.appID, environment: item.environment, platform: platform), default: []].append(item)
      }
    }
    var needs: [Int64: [Item]] = [:]
    for credential in credentials {
      guard let certificate = credential.certificateID else { continue }
      for platform in credential.provider.usualPlatforms {
        let place = Place(app: credential.appID, environment: credential.environment, platform: platform)
        needs[certificate, default: []] += items[place] ?? []
      }
    }
    return needs.compactMapValues { found in
      // A certificate can serve both environments of an app, and a push both platforms.
      var seen: Set<Item> = []
      let each = found.filter { seen.insert($0).inserted }
      return each.isEmpty ? nil : each.sorted { ($0.dueAt, $0.uid) < ($1.dueAt, $1.uid) }
    }
  }

  /// The pushes that are sent after the expiry; empty without an expiry.
  package static func missed(_ pushes: [PlannedPush], notAfter: Date?) -> [PlannedPush] {
    pushes.filter { Expiry.band(notBefore: nil, notAfter: notAfter, now: $0.sendAt) == .expired }
  }
}
