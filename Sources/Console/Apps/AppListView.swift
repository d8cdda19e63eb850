import Foundation
import Mustache
import Model
import Store

struct AppListView: PageView {
  static let template = "apps/index"
  static let section: Section? = .apps

  let apps: [AppRow]
  let exports: ExportLinks

  static let fields: [Field<Self>] = [
    .view("exports") { $0.apps.isEmpty ? nil : $0.exports },
    .list("apps") { $0.apps },
    .flag("has_apps") { !$0.apps.isEmpty },
    .view("failing") { list in
      let count = list.apps.filter(\.health.isFailed).count
      return count > 0 ? CountView(count: count) : nil
    },
  ]
}

struct AppRow: View {
  let bundleID: String
  let health: AppHealth
  /// Parked and retired devices.
  let unreachable: Int

  init(_ overview: AppOverview, _ environment: Environment, _ texts: Texts, now: Date) {
    bundleID = overview.app.bundleID
    health = AppHealth(overview, environment, texts, now: now)
    unreachable = overview.count(environment: environment) - health.devices
  }

  static let fields: [Field<Self>] = [
    .text("bundle_id") { $0.bundleID },
    .view("health") { $0.health },
    .number("unreachable") { $0.unreachable },
  ]
}
