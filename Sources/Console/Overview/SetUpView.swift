import Mustache
import Store

/// The Overview of a new installation without the demo: the steps to the first push.
struct SetUpView: PageView {
  static let template = "overview/set_up"
  static let section: Section? = .overview

  /// The app that the steps go on with: one that can send already, if there is one.
  private let app: AppOverview?
  private let hasFiles: Bool
  private let steps: [SetUpStep]

  /// - Parameter hasFiles: whether a key or certificate was uploaded, which may wait to be assigned.
  init(apps: [AppOverview], hasFiles: Bool) {
    app = apps.first { !$0.credentials.isEmpty } ?? apps.first
    self.hasFiles = hasFiles
    let done = [app != nil, app?.credentials.isEmpty == false, (app?.count() ?? 0) > 0]
    let next = done.firstIndex(of: false) ?? done.count
    steps = (0...done.count).map { SetUpStep(isDone: $0 < done.count && done[$0], isNext: $0 == next) }
  }

  static let fields: [Field<Self>] = [
    .view("of_app") { view in view.app.map { SetUpApp(overview: $0) } },
    .flag("has_files") { $0.hasFiles },
    .flag("ready") { $0.steps[3].isNext },
    .view("app") { $0.steps[0] },
    .view("credential") { $0.steps[1] },
    .view("device") { $0.steps[2] },
    .view("push") { $0.steps[3] },
  ]
}

/// One of the steps.
struct SetUpStep: View {
  let isDone: Bool
  let isNext: Bool

  static let fields: [Field<Self>] = [.flag("done") { $0.isDone }, .flag("next") { $0.isNext }]
}

/// The app of the steps.
struct SetUpApp: View {
  let overview: AppOverview

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.overview.id)) },
    .text("name") { $0.overview.app.name },
    .text("bundle_id") { $0.overview.app.bundleID },
    .number("count") { $0.overview.count() },
  ]
}
