import Foundation
import Mustache
import Model
import Store

struct OverviewView: PageView {
  static let template = "overview/show"
  static let section: Section? = .overview

  let attention: [AttentionItem]
  /// Incidents that are out of the way, not out of the world.
  let snoozed: Int
  let pushes: [PushRow]
  let chart: ChartView
  let apps: [AppHealth]

  static let fields: [Field<Self>] = [
    .number("count") { $0.attention.count },
    .flag("needs_attention") { !$0.attention.isEmpty },
    .list("attention") { $0.attention },
    .view("snoozed") { $0.snoozed > 0 ? CountView(count: $0.snoozed) : nil },
    .flag("has_pushes") { !$0.pushes.isEmpty },
    .list("pushes") { $0.pushes },
    .view("chart") { $0.chart },
    .flag("has_apps") { !$0.apps.isEmpty },
    .list("apps") { $0.apps },
  ]
}

/// The credentials of an app in one environment, and the number of devices that it reaches.
struct AppHealth: View {
  let app: App
  let environment: Environment
  let isFailed: Bool
  let isSoon: Bool
  /// The push services, one with its credential.
  let credentials: String
  let lastAccepted: MomentView?
  /// Within reach.
  let devices: Int
  let allDevices: Int

  init(_ overview: AppOverview, _ environment: Environment, _ texts: Texts, now: Date) {
    let all = overview.credentials.filter { $0.environment == environment }
    let states = all.map { CredentialState($0, now: now) }
    // One in words, as a row has room: a failing one, then one that ends soon, then APNs'.
    let first =
      states.firstIndex(where: \.isFailed) ?? states.firstIndex(where: \.isSoon)
      ?? all.firstIndex { $0.provider == .apns } ?? 0
    app = overview.app
    self.environment = environment
    (isFailed, isSoon) = (states.contains(where: \.isFailed), states.contains(where: \.isSoon))
    credentials =
      all.isEmpty
      ? CredentialState(nil, now: now).text(texts)
      : all.indices.map { index in
        let name = all[index].provider.name
        return index == first ? texts.labelled(name, states[index].text(texts)) : name
      }.joined(separator: " · ")
    lastAccepted = all.compactMap(\.lastAcceptedAt).max().map { MomentView(date: $0, now: now) }
    devices = overview.count(environment: environment, state: .active)
    allDevices = overview.count(environment: environment)
  }

  static let fields: [Field<Self>] = [
    .written("href") { health, output in
      output.write("/apps/" as StaticString)
      output.write(Int(health.app.id))
    },
    .text("app") { $0.app.name },
    .flag("production") { $0.environment == .production },
    .text("tone") { $0.isFailed ? "red" : $0.isSoon ? "amber" : "" },
    .text("credentials") { $0.credentials },
    .view("last_accepted") { $0.lastAccepted },
    .number("devices") { $0.devices },
    // Parked and retired ones would go unsaid.
    .view("reach") { $0.allDevices > $0.devices ? ReachView(app: $0.app, $0.environment, of: $0.allDevices) : nil },
  ]
}

/// The devices of an app in one environment that cannot be reached, for a number that leads to them.
struct ReachView: View {
  let app: App
  let environment: Environment
  let all: Int

  init(app: App, _ environment: Environment, of all: Int) {
    (self.app, self.environment, self.all) = (app, environment, all)
  }

  static func href(_ app: App, _ environment: Environment) -> String {
    "/devices?app=\(ConsoleRouter.escaped(app.bundleID))&environment=\(environment.rawValue)"
  }

  static let fields: [Field<Self>] = [
    .number("all") { $0.all },
    .text("devices_href") { href($0.app, $0.environment) },
  ]
}
