import JSON
import Mustache
import Model
import Store

struct PushResultView: PageView {
  static let template = "pushes/show"
  static let section: Section? = .pushes

  let push: Push
  /// Why the push failed as a whole.
  let error: String?
  /// The notification's own text.
  let title: String
  /// The short result, as the page's heading.
  let heading: String
  /// Whether the heading is the progress sentence, which the script updates.
  let headingIsLive: Bool
  /// The send time of a push that has not started.
  let lead: String
  let stateText: String
  let tone: String
  let app: String
  let audience: String
  let created: MomentView
  /// How the browser stays up to date: by reloading, or by following events.
  let isLive: Bool
  let isFollowed: Bool
  /// Nil: it went to devices.
  let subscribers: Audience.Subscribers?
  let held: HeldPushView?
  /// Nil: it needs and needed no approval.
  let approval: ApprovalView?
  let actions: PushActionsView
  let related: [RelatedView]
  let progress: PushProgressView
  /// URL of the app's credentials, which a push that is held back leads to.
  let credentials: String
  /// Of a device that failed, or else of the first one; nil: nothing was sent to it, or it is not over.
  let steps: DeliverySteps?
  /// Nil: no app can report the push, or it is from before receipts.
  let receipts: ReceiptFunnelView?
  let reasons: [ReasonGroupView]
  /// Nil: one service reaches all devices.
  let providers: ProviderTableView?
  let jpush: JPushResultView?
  /// What the checks found in the content.
  let remarks: [FindingView]
  let latency: LatencyChartView?
  let facts: [FactView]
  let payload: String
  /// That each device gets a number of its own instead of the payload's text; nil: it has no badge that is counted.
  let badge: String?
  /// A command that sends the same push again; nil if the draft cannot be read.
  let command: String?
  let lockScreen: LockScreenView?
  /// Where the simulated phones show it; nil: it did not arrive on one.
  let inbox: String?
  let devices: PushDevicesView

  static let fields: [Field<Self>] = [
    .text("id") { $0.push.uid },
    .text("title") { $0.title },
    .text("heading") { $0.heading },
    .flag("heading_is_live") { $0.headingIsLive },
    .text("lead") { $0.lead },
    .optional("error") { $0.error },
    .text("state_text") { $0.stateText },
    .text("tone") { $0.tone },
    .text("app") { $0.app },
    .flag("production") { $0.push.environment == .production },
    .text("audience") { $0.audience },
    .view("created") { $0.created },
    .flag("live") { $0.isLive },
    .flag("followed") { $0.isFollowed },
    // Whether a script counts something on the page.
    .flag("moves") { $0.isFollowed || $0.held != nil },
    .flag("to_devices") { $0.subscribers == nil },
    .flag("to_channel") { $0.subscribers == .channel },
    .flag("to_topic") { $0.subscribers == .topic },
    .flag("reached_nobody") { $0.push.state.isOver && $0.push.counts.total == 0 && ($0.push.target ?? 0) == 0 },
    .view("held") { $0.held },
    .view("approval") { $0.approval?.isOpen == true ? $0.approval : nil },
    .view("actions") { $0.actions },
    .list("related") { $0.related },
    .view("progress") { $0.progress },
    .text("credentials") { $0.credentials },
    .view("steps") { $0.steps },
    .view("receipts") { $0.receipts },
    .list("reasons") { $0.reasons },
    .flag("has_reasons") { !$0.reasons.isEmpty },
    .view("providers") { $0.providers },
    .view("jpush") { $0.jpush },
    .list("remarks") { $0.remarks },
    .flag("has_remarks") { !$0.remarks.isEmpty },
    .view("latency") { $0.latency },
    .list("facts") { $0.facts },
    .text("payload") { $0.payload },
    .optional("badge") { $0.badge },
    .optional("command") { $0.command },
    .view("lock_screen") { $0.lockScreen },
    .optional("inbox") { $0.inbox },
    .view("devices") { $0.devices },
  ]
}

/// The countdown of the undo window.
struct HeldPushView: View {
  let seconds: Int
  let text: String
  let pattern: String
  /// Whether the user may undo the push.
  let mayUndo: Bool

  static let fields: [Field<Self>] = [
    .written("seconds") { $1.write($0.seconds) },
    .text("text") { $0.text },
    .text("pattern") { $0.pattern },
    .flag("may_undo") { $0.mayUndo },
  ]
}

/// The available actions.
struct PushActionsView: View {
  let cancelText: String?
  let canPause: Bool
  let canResume: Bool
  let retryText: String?
  /// Which devices a retry would leave out.
  let retryNote: String
  let mayRemove: Bool

  static let fields: [Field<Self>] = [
    .optional("cancel") { $0.cancelText },
    .flag("can_pause") { $0.canPause },
    .flag("can_resume") { $0.canResume },
    .optional("retry") { $0.retryText },
    .text("retry_note") { $0.retryNote },
    .flag("may_remove") { $0.mayRemove },
  ]
}

/// The numbers of a push and the texts beside them; a script updates them while the push is sending.
struct PushProgressView: View {
  let bar: OutcomeBar
  /// The bar in words.
  let outcomes: String
  let done: Int
  let target: Int
  let counts: [OutcomeCountView]
  let rate: String
  let waiting: String
  /// Whether nothing is sent because the credential was refused, or the service cannot be reached.
  let isBlocked: Bool
  let repeats: String

  static let fields: [Field<Self>] = [
    .view("bar") { $0.bar },
    .text("outcomes") { $0.outcomes },
    .written("done") { $1.write($0.done) },
    .written("target") { $1.write(max(1, $0.target)) },
    .list("counts") { $0.counts },
    .text("rate") { $0.rate },
    .text("waiting") { $0.waiting },
    .flag("blocked") { $0.isBlocked },
    .text("repeats") { $0.repeats },
  ]
}

/// One outcome in the bar's legend. An outcome without devices is hidden until the script updates its number.
struct OutcomeCountView: View {
  /// The name used in events and in the filter.
  let kind: String
  /// The CSS class of the color.
  let colour: String
  let label: String
  let number: Int
  let href: String

  static let fields: [Field<Self>] = [
    .text("kind") { $0.kind },
    .text("colour") { $0.colour },
    .text("label") { $0.label },
    .number("number") { $0.number },
    .text("href") { $0.href },
  ]
}

/// A notification on a lock screen and in Android's shade, for `pushes/_lock_screen` and `pushes/_shade`.
struct LockScreenView: View {
  var initial = ""
  var app = ""
  var title = ""
  var subtitle = ""
  var body = ""
  /// What Android shows, where its own options differ.
  var androidTitle = ""
  var androidBody = ""
  /// Which of both are shown. Until platforms are chosen it is the lock screen.
  var platforms: Set<Platform> = [.ios]

  static let fields: [Field<Self>] = [
    .text("android_title") { $0.androidTitle },
    .text("android_body") { $0.androidBody },
    .flag("ios") { $0.platforms.contains(.ios) },
    .flag("android") { $0.platforms.contains(.android) },
    .text("initial") { $0.initial },
    .text("app") { $0.app },
    .text("title") { $0.title },
    .text("subtitle") { $0.subtitle },
    .text("body") { $0.body },
  ]
}

extension LockScreenView {
  /// Without the platforms that no device of the audience has.
  ///
  /// - Parameter reached: empty: not known.
  func shown(on reached: Set<Platform>) -> Self {
    guard !reached.isEmpty else { return self }
    var view = self
    view.platforms.formIntersection(reached)
    return view
  }

  /// What a form holds so far, before it is a push.
  ///
  /// - Parameter app: nil: not chosen yet.
  init(_ form: Form, app: App?, platforms: Set<Platform>, _ texts: Texts) {
    let (title, body) = (form["title"], form["body"])
    self.init(
      initial: Self.initial(app), app: app?.name ?? texts("send.app_name"), title: title,
      subtitle: form["subtitle"], body: body, androidTitle: title, androidBody: body, platforms: platforms)
  }

  /// - Parameter app: nil: not chosen yet.
  init(_ payload: APNsPayload, _ draft: PushDraft, app: App?, _ texts: Texts) {
    let (type, aps) = (payload.pushType, payload.json["aps"])
    let activity = type == .liveactivity ? PhoneNotificationRow.activity(aps, texts) : nil
    let alert = type.receiver == nil ? aps?["alert"] : nil
    let message = FCMMessage(draft).json
    let shown = [message["android"]?["notification"], message["notification"]].compactMap { $0 }
    func text(_ key: String) -> String { shown.lazy.compactMap { $0[key]?.string }.first ?? "" }
    self.init(
      initial: Self.initial(app), app: app?.name ?? texts("send.app_name"),
      title: activity?.title ?? PhoneNotificationRow.text(alert, "title", "title-loc-key") ?? "",
      subtitle: PhoneNotificationRow.text(alert, "subtitle", "subtitle-loc-key") ?? "",
      body: activity?.content ?? PhoneNotificationRow.text(alert, "body", "loc-key") ?? alert?.string ?? "",
      androidTitle: text("title"), androidBody: text("body"), platforms: draft.platforms)
  }

  private static func initial(_ app: App?) -> String { app.map { String($0.name.prefix(1)).uppercased() } ?? "" }
}
