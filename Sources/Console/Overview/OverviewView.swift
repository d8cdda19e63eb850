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

  /// What to begin with, as the worst comes first; nil where a single row says it. A full stop follows.
  private var urgent: String? {
    guard attention.count > 1, let first = attention.first else { return nil }
    return [".", "。"].contains(first.text.last) ? String(first.text.dropLast()) : first.text
  }

  static let fields: [Field<Self>] = [
    .number("count") { $0.attention.count },
    .optional("urgent") { $0.urgent },
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
  /// Whether a credential was refused or has expired.
  let isFailed: Bool
  let credentials: [CredentialPart]
  let lastAccepted: MomentView?
  /// Within reach.
  let devices: Int
  let allDevices: Int

  init(_ overview: AppOverview, _ environment: Environment, _ texts: Texts, now: Date) {
    let all = overview.credentials.filter { $0.environment == environment }
    let states = all.map { CredentialState($0, now: now) }
    app = overview.app
    self.environment = environment
    isFailed = states.contains(where: \.isFailed)
    // What fails or ends soon is in words; else one, as a row has room: APNs'.
    let isTold = states.contains { $0.isFailed || $0.isSoon }
    let usual = isTold ? nil : all.firstIndex { $0.provider == .apns } ?? 0
    credentials =
      all.isEmpty
      ? [CredentialPart(text: CredentialState(nil, now: now).text(texts), isFirst: true)]
      : all.indices.map { index in
        let (name, state) = (all[index].provider.name, states[index])
        let inWords = state.isFailed || state.isSoon || index == usual
        return CredentialPart(
          text: inWords ? texts.labelled(name, state.text(texts)) : name,
          isFirst: index == 0, isFailed: state.isFailed, isSoon: state.isSoon)
      }
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
    .list("credentials") { $0.credentials },
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

/// One push service of an app, for `overview/_credentials`.
struct CredentialPart: View {
  /// The service's name, and the state of its credential.
  let text: String
  let isFirst: Bool
  var isFailed = false
  var isSoon = false

  static let fields: [Field<Self>] = [
    .text("text") { $0.text },
    .flag("first") { $0.isFirst },
    .flag("failed") { $0.isFailed },
    .text("tone") { $0.isFailed ? "red" : $0.isSoon ? "amber" : "" },
  ]
}
