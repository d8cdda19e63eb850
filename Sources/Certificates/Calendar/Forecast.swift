package import Foundation
package import Model
package import SQLite
package import Store

/// Something that will be sent, once or again and again.
package protocol Planned: Hashable, Sendable {
  /// Public id.
  var uid: String { get }
  /// The app.
  var appID: Int64 { get }
  /// Where it is sent.
  var environment: Model.Environment { get }
  /// What it is sent to.
  var platforms: [Platform] { get }
  /// When it is next sent.
  var dueAt: Date { get }
}

extension PlannedPush: Planned {
  /// When it is sent.
  package var dueAt: Date { sendAt }
}

extension PlannedSchedule: Planned {
  /// When it is next sent.
  package var dueAt: Date { nextAt }
}

/// Which scheduled pushes need which credential, and which of them fall after its last day.
package enum Forecast {
  /// What one certificate or key is needed for.
  package struct Needs: Sendable, Hashable {
    /// Pushes for a later time, the next first.
    package var pushes: [PlannedPush]
    /// Those that repeat, the next first.
    package var schedules: [PlannedSchedule]

    /// Creates it.
    package init(pushes: [PlannedPush] = [], schedules: [PlannedSchedule] = []) {
      self.pushes = pushes
      self.schedules = schedules
    }

    /// Those for which one credential of several is needed.
    package func of(_ use: TrackedCertificate.Use) -> Needs {
      func isItsOwn(_ item: some Planned) -> Bool {
        item.appID == use.appID && item.environment == use.environment
          && item.platforms.contains(use.provider.platform)
      }
      return Needs(pushes: pushes.filter(isItsOwn), schedules: schedules.filter(isItsOwn))
    }
  }

  /// What each certificate or key is needed for, by its row id.
  package static func needs(_ database: Database, now: Date) throws -> [Int64: Needs] {
    let pushes = try PlannedPush.all(database, after: now)
    let schedules = try PlannedSchedule.all(database)
    guard !pushes.isEmpty || !schedules.isEmpty else { return [:] }
    let credentials = try Credential.all(database)
    let once = needs(pushes, credentials)
    let repeating = needs(schedules, credentials)
    return Dictionary(
      uniqueKeysWithValues: Set(once.keys).union(repeating.keys).map {
        ($0, Needs(pushes: once[$0] ?? [], schedules: repeating[$0] ?? []))
      })
  }

  private struct Place: Hashable {
    let app: Int64
    let environment: Environment
    let platform: Platform
  }

  /// The same of what is known already: pure; the next first.
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
      let place = Place(
        app: credential.appID, environment: credential.environment, platform: credential.provider.platform)
      needs[certificate, default: []] += items[place] ?? []
    }
    return needs.compactMapValues { found in
      // A certificate may serve an app's two environments, and a push both platforms.
      var seen: Set<Item> = []
      let each = found.filter { seen.insert($0).inserted }
      return each.isEmpty ? nil : each.sorted { ($0.dueAt, $0.uid) < ($1.dueAt, $1.uid) }
    }
  }

  /// Those that fall after the last second of validity; none without an end.
  package static func missed(_ pushes: [PlannedPush], notAfter: Date?) -> [PlannedPush] {
    pushes.filter { Expiry.band(notBefore: nil, notAfter: notAfter, now: $0.sendAt) == .expired }
  }
}

extension ProviderKind {
  /// What the service brings pushes to.
  fileprivate var platform: Platform { self == .apns ? .ios : .android }
}
