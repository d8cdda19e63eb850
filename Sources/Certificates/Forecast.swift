public import Foundation
import Push
public import SQLite
public import Store

/// Which scheduled pushes need which credential, and which of them fall after its last day.
public enum Forecast {
  /// What each certificate or key is needed for, by its row id, the next push first.
  public static func needs(_ database: Database, now: Date) throws -> [Int64: [PlannedPush]] {
    let planned = try PlannedPush.all(database, after: now)
    return planned.isEmpty ? [:] : needs(planned, try Credential.all(database))
  }

  /// The same of what is known already: pure. For pushes of any origin, as the next times of a schedule.
  public static func needs(_ planned: [PlannedPush], _ credentials: [Credential]) -> [Int64: [PlannedPush]] {
    struct Place: Hashable {
      let app: Int64
      let environment: Environment
      let platform: Platform
    }
    var pushes: [Place: [PlannedPush]] = [:]
    for push in planned.sorted(by: { ($0.sendAt, $0.uid) < ($1.sendAt, $1.uid) }) {
      for platform in Set(push.platforms) {
        pushes[Place(app: push.appID, environment: push.environment, platform: platform), default: []].append(push)
      }
    }
    var needs: [Int64: [PlannedPush]] = [:]
    for credential in credentials {
      guard let certificate = credential.certificateID else { continue }
      let place = Place(
        app: credential.appID, environment: credential.environment, platform: credential.provider.platform)
      needs[certificate, default: []] += pushes[place] ?? []
    }
    return needs.compactMapValues { found in
      // A certificate may serve an app's two environments, and a push both platforms.
      var seen: Set<PlannedPush> = []
      let each = found.filter { seen.insert($0).inserted }
      return each.isEmpty ? nil : each.sorted { ($0.sendAt, $0.uid) < ($1.sendAt, $1.uid) }
    }
  }

  /// Those that fall after the last second of validity; none without an end.
  public static func missed(_ pushes: [PlannedPush], notAfter: Date?) -> [PlannedPush] {
    pushes.filter { Expiry.band(notBefore: nil, notAfter: notAfter, now: $0.sendAt) == .expired }
  }
}

extension Provider {
  /// What the service brings pushes to.
  fileprivate var platform: Platform { self == .apns ? .ios : .android }
}
