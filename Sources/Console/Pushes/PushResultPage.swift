import Calendar
import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store

/// `/pushes/:uid`: the results of a push.
enum PushResultPage {
  static let pageSize = 50
  /// A scan for the devices of one platform or service reads a million deliveries in a few pages.
  private static let patience = Duration.milliseconds(250)

  /// What the page reads from the store.
  struct Found: Sendable {
    let push: Push
    let app: App?
    let reasons: [Delivery.ReasonCount]
    let providers: [Delivery.ProviderCounts]
    /// Its devices by platform and service; none until they are counted.
    let targets: [Reach: Int]
    var reached: Set<Platform> { Set(targets.keys.map(\.platform)) }
    let jpush: [SentJPushMessage]
    let waiting: [(reason: String, count: Int)]
    let latencies: LatencyHistogram
    let deliveries: Page<Delivery.WithDevice>
    /// A device whose steps are shown: one that failed, if any did.
    let example: Delivery.WithDevice?
    /// Its title, and the names of the devices that the audience lists by their tokens.
    let listed: ListedPush
    /// Whether the outcomes' counters count the list.
    let isCounted: Bool
    /// On the first page, and where they are asked for.
    let waitingDevices: Page<WaitingDelivery.Listed>
    /// What apps reported.
    let reports: [ReceiptCounts.Line]
    var receipts: ReceiptCounts { reports.reduce(ReceiptCounts()) { $0 + $1.counts } }
    var progress: PushProgress
    let retry: PushRepeat
    let related: Related
    let approval: ApprovalView?
    let detailsGone: String
    let tokens: MovedTokens?
    /// Row IDs of the credentials that the push still needs, to show their health.
    let credentials: [Int64]
    let remarks: [Lint.Finding]
    let production: ProductionGuard
  }

  static func show(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let pager = Pager(page.request)
    let filter = try DeliverySearch.filter(page)
    let may = page.may(.operator)
    let user = page.user?.id ?? 0
    // One read for everything: if the push ended between two reads, the page would say "sending" and follow nothing.
    var found = try await page.store.read { database in
      let push = try PushPages.find(database, uid: uid)
      let app = try App.find(database, id: push.appID)
      let reasons = try Delivery.reasonCounts(database, push: push.id)
      let providers = try Delivery.providerCounts(database, push: push.id, reasons)
      let deliveries = try Delivery.list(
        database, push: push.id, filter, isLocalized: push.draft?.languages != nil, cursor: pager.cursor,
        limit: pageSize, patience: filter.isOfDevice ? Patience(patience) : Patience())
      return Found(
        push: push, app: app, reasons: reasons, providers: providers,
        targets: try Push.targets(database, id: push.id),
        jpush: try SentJPushMessage.all(database, push: push.id),
        waiting: push.waiting > 0 ? try WaitingDelivery.reasonCounts(database, push: push.id) : [],
        latencies: try LatencyHistogram.find(database, push: push.id),
        deliveries: deliveries, example: try example(database, push, deliveries.items),
        listed: try ListedPush(database, push),
        isCounted: !filter.isWaiting && filter.reason == nil && filter.search.isEmpty && !filter.isOfDevice
          && push.state.isOver,
        waitingDevices: push.waiting > 0 && (filter.isWaiting || pager.cursor == nil)
          ? try WaitingDelivery.list(
            database, push: push.id, filter, cursor: filter.isWaiting ? pager.cursor : nil, limit: pageSize)
          : Page(items: [], next: nil),
        reports: try ReceiptCounts.lines(database, push: push.id),
        progress: try PushProgress.find(database, push: push.id),
        retry: try PushRepeat.find(database, push: push.id), related: try Related(database, push, user: user),
        approval: try ApprovalView(database, .push(push.id), by: push.createdBy, "/pushes/\(push.uid)", page),
        detailsGone: try detailsGone(database, push, page.texts),
        tokens: may && reasons.contains { $0.reason == MovedTokens.reason }
          ? try MovedTokens.find(database, .push(push)) : nil,
        credentials: try credentials(database, push, providers), remarks: try remarks(database, push, app, providers),
        production: try ProductionGuard(database, push))
    }
    if !found.progress.isFinal {
      let healths = found.credentials.compactMap(page.console.engine.health(credential:))
      found.progress.health = healths.first { !$0.isWell } ?? healths.first ?? found.progress.health
    }
    found.progress.trouble = page.console.engine.trouble(push: found.push.id)
    return page.answer(view(found, pager, page))
  }

  /// Those of the services that still have to answer for a device; none before the push has begun.
  private static func credentials(
    _ database: Database, _ push: Push, _ providers: [Delivery.ProviderCounts]
  ) throws -> [Int64] {
    let open = Set(providers.filter { $0.counts.total < $0.target }.map(\.provider))
    guard push.startedAt != nil, !open.isEmpty else { return [] }
    return try Credential.all(database, app: push.appID)
      .filter { $0.environment == push.environment && open.contains($0.provider) }.map(\.id)
  }

  /// When the details were removed, and why; empty while they exist.
  private static func detailsGone(_ database: Database, _ push: Push, _ texts: Texts) throws -> String {
    guard let date = push.detailsRemovedAt else { return "" }
    let days = try RetentionPolicy.find(database).deliveries
    let gone = texts("retention.details_gone", ["date": texts.day(date)])
    return (days == 0 ? [gone] : [gone, texts("retention.kept_for", count: days)]).sentences
  }

  // MARK: The view

  private static func view(_ found: Found, _ pager: Pager, _ page: PageContext) -> PushResultView {
    let (push, progress, texts) = (found.push, found.progress, page.texts)
    let (draft, title) = (push.draft, found.listed.title(texts))
    let unsent = waiting(push, isPaused: found.approval?.approval.isPaused ?? false, page)
    let payload = draft.map { APNsPayload($0, uid: push.uid, signature: push.signature) }
    let subscribers = draft?.audience.subscribers
    let heading = unsent?.heading ?? outcome(push, progress, texts, subscribers)
    let chart = LatencyChart(found.latencies)
    // The engine does not know a scheduled push yet; the page reloads when its time comes.
    let isFollowed =
      !progress.isFinal && push.state != .needsApproval && (push.state != .queued || push.waits(now: page.now) == nil)
    // A page that is followed from before the first device fills the funnel later.
    let hasFunnel =
      push.signature != nil && (push.target != nil || isFollowed) && mayBeReported(push, progress, found.receipts)
    return PushResultView(
      push: push, error: push.error.map(texts.recorded), title: title,
      heading: heading ?? ProgressJSON(progress, texts).sentence,
      headingIsLive: heading == nil, lead: unsent?.lead ?? "", stateText: texts(push.stateKey(now: page.now)),
      tone: PushStateView(push, now: page.now).tone, app: found.app?.name ?? "",
      audience: draft?.audience.text(texts, names: found.listed.names) ?? "",
      created: MomentView(date: push.createdAt, now: page.now),
      // A page with a remark that is being written must not reload.
      isLive: !progress.isFinal && !isFarOff(push, now: page.now) && push.state != .needsApproval,
      isFollowed: isFollowed, subscribers: subscribers, held: held(push, page), approval: found.approval,
      actions: actions(found, page), related: found.related.views(texts),
      progress: numbers(push, progress, texts),
      credentials: found.app.map { "/apps/\($0.id)#credentials" } ?? "/apps", steps: steps(found, pager, page),
      receipts: hasFunnel ? ReceiptFunnelView(push, found.receipts, texts, now: page.now) : nil,
      reasons: ReasonGroups(
        push: push, app: found.app, counts: found.reasons, waiting: found.waiting, inactive: progress.outlook.inactive,
        tokens: found.tokens
      ).views(texts),
      providers: ProviderTableView(push: push.uid, found.targets, found.reasons, found.reports, texts),
      jpush: found.jpush.isEmpty ? nil : JPushResultView(messages: found.jpush, now: page.now),
      remarks: found.remarks.map { FindingView($0, texts) },
      latency: chart.view(texts),
      facts: facts(
        push, draft, found.app, found.approval, chart.summary(texts),
        unused: draft?.unusedKeys(push.target == nil ? nil : Array(found.targets.filter { $0.value > 0 }.keys)) ?? [],
        texts),
      payload: draft.map { body($0, push, found.providers.first?.provider, found.targets) } ?? "",
      badge: payload?.badge.flatMap { $0.isRelative ? texts("push.badge_counted", ["badge": $0.text]) : nil },
      command: draft.map { DialectText($0, in: .signalbox, sentAt: page.now, address: page.address).text },
      lockScreen: found.app.flatMap { app in
        payload.flatMap { payload in draft.map { LockScreenView(payload, $0, app: app, texts).shown(on: found.reached) }
        }
      },
      inbox: inbox(push, page), devices: devices(found, pager, page))
  }

  /// What the checks say of content and audience: whoever sent it by API or command line may not have read it. What
  /// changes with time, such as the number of devices, is left out.
  private static func remarks(
    _ database: Database, _ push: Push, _ app: App?, _ providers: [Delivery.ProviderCounts]
  ) throws -> [Lint.Finding] {
    guard let draft = push.draft else { return [] }
    let services = Set(providers.map(\.provider))
    var context = Lint.Context(
      aliasRule: app?.rule ?? .none, uid: push.uid, signature: push.signature,
      jpush: services.contains(.jpush) ? draft.platforms : [])
    if !services.isEmpty { context.services = services }
    context.fcm = Set(try Push.targets(database, id: push.id).keys.filter { $0.provider == .fcm }.map(\.platform))
    if push.startedAt == nil, !push.state.isOver {
      // What it will be sent with may have ended by then.
      context.credential = try CredentialScope.find(database, app: push.appID, environment: push.environment)
    }
    try context.findMissing(database, in: draft, app: push.appID)
    return Lint.findings(in: draft, context).filter { $0.severity != .error }
  }

  /// What the first of the services gets: APNs' payload, FCM's message or JPush's request.
  ///
  /// - Parameter provider: nil: not counted yet.
  private static func body(
    _ draft: PushDraft, _ push: Push, _ provider: ProviderKind?, _ targets: [Reach: Int]
  ) -> String {
    let isApple = targets[Reach(.android, .fcm)] == nil && targets[Reach(.ios, .fcm)] != nil
    let json: JSONValue =
      switch provider ?? (draft.platforms.contains(.ios) ? .apns : .fcm) {
      case .apns: APNsPayload(draft, uid: push.uid, signature: push.signature).json
      case .fcm where isApple:
        ["apns": APNsPayload(draft, uid: push.uid, signature: push.signature).fcmBlock(sentAt: push.sentAt)]
      case .fcm: FCMMessage(draft, uid: push.uid, signature: push.signature).json
      case .jpush:
        JPushMessage(draft, uid: push.uid, signature: push.signature).request(
          to: draft.platforms, audience: ["registration_id": ["$REGISTRATION_ID"]], cid: nil, sendno: push.id)
      }
    return json.text(pretty: true)
  }

  /// A short result. Nil while the push is active, and if it was canceled or failed as a whole: then the progress
  /// sentence says so.
  private static func outcome(
    _ push: Push, _ progress: PushProgress, _ texts: Texts, _ subscribers: Audience.Subscribers?
  ) -> String? {
    guard progress.isFinal, [.finished, .failed].contains(push.state), let target = push.target else { return nil }
    guard target > 0 else { return push.state == .finished ? texts("push.heading_nobody") : nil }
    if push.counts.skipped == target, push.draft?.options.dryRun != true {
      return texts("push.heading_skipped", count: target)
    }
    guard push.state == .finished else { return nil }
    let (failed, dead) = (push.counts.failed, push.counts.deadToken)
    if let subscribers {
      return texts("push.\(subscribers.rawValue)_\(push.counts.accepted > 0 ? "accepted" : "failed")")
    }
    if push.result == .nobody, dead < target { return texts("push.heading_unreached", count: target) }
    if failed > 0 { return texts("push.heading_failed", count: target, ["failed": failed.grouped]) }
    if dead > 0 { return texts("push.heading_dead", count: target, ["dead": dead.grouped]) }
    return texts("push.heading_accepted", count: target, ["accepted": push.counts.accepted.grouped])
  }

  /// Whether an app has reported the push, or still may: one that no device got has nothing to show.
  /// A Live Activity is never tapped as a notification, and its payload is raw.
  private static func mayBeReported(_ push: Push, _ progress: PushProgress, _ receipts: ReceiptCounts) -> Bool {
    if push.pushType == .liveactivity, receipts.devices == 0 { return false }
    let counts = progress.counts
    return !progress.isFinal || counts.accepted + counts.unknown > 0 || receipts.devices > 0
  }

  /// The available actions, and which devices a retry would leave out.
  private static func actions(_ found: Found, _ page: PageContext) -> PushActionsView {
    let (push, texts, retry) = (found.push, page.texts, found.retry)
    let may = page.may(.operator)
    let maySend = may && page.maySend(found.production.environment)
    // Others decide: they approve or reject it.
    let isOthers = push.state == .needsApproval && push.createdBy != page.actor && found.approval?.isOwn != true
    let canCancel = !push.state.isOver && may && !isHeld(push, now: page.now) && !isOthers
    let excluded = retry.excluded.map { found in
      // “1 JPush 1011” would read as one number.
      found.reason.map { texts.noted($0, found.count.grouped) }
        ?? texts.counted(found.count, texts("words.\(found.outcome.name)").lowercased())
    }
    let isRetried =
      found.progress.isFinal && retry.devices > 0 && push.detailsRemovedAt == nil && found.related.child == nil
    var notes: [String] = []
    if push.state == .cancelled { notes.append(texts("push.rest_audience")) }
    if !excluded.isEmpty { notes.append(texts("push.retry_without", ["reasons": texts.list(excluded)])) }
    if retry.unknown > 0 { notes.append(texts("push.retry_unknown", count: retry.unknown)) }
    return PushActionsView(
      cancelText: canCancel ? texts(push.state == .needsApproval ? "approval.withdraw" : "push.cancel") : nil,
      canPause: [.queued, .sending].contains(push.state) && may, canResume: push.state == .paused && maySend,
      retryText: isRetried && maySend
        ? texts(push.state == .cancelled ? "push.rest" : "push.retry", count: retry.devices) : nil,
      retryNote: isRetried ? notes.sentences : "", mayRemove: found.progress.isFinal && page.may(.admin))
  }

  private static func numbers(_ push: Push, _ progress: PushProgress, _ texts: Texts) -> PushProgressView {
    let json = ProgressJSON(progress, texts)
    let counts = OutcomeKind.allCases.map { kind in
      OutcomeCountView(
        kind: kind.name, colour: kind.colour, label: texts("words.\(kind.name)"), number: push.counts[kind],
        href: "/pushes/\(push.uid)?outcome=\(kind.name)#devices")
    }
    let pending = OutcomeCountView(
      kind: "pending", colour: "track", label: texts("words.pending"), number: push.pending ?? 0,
      href: "/pushes/\(push.uid)?outcome=\(DeliverySearch.waiting)#devices")
    return PushProgressView(
      bar: OutcomeBar(push.counts, target: push.target ?? 0), outcomes: push.counts.text(texts),
      done: push.counts.total, target: push.target ?? 0, counts: counts + [pending], rate: json.rateText,
      waiting: json.waitingText, isBlocked: json.isBlocked, repeats: json.repeatsText)
  }

  /// What went wrong is what people come to see: a device that failed, or else the first one that was tried.
  private static func example(
    _ database: Database, _ push: Push, _ listed: [Delivery.WithDevice]
  ) throws -> Delivery.WithDevice? {
    for kind in [OutcomeKind.failed, .unknown, .deadToken] where push.counts[kind] > 0 {
      var filter = DeliveryFilter()
      filter.outcome = kind
      let found = try Delivery.list(database, push: push.id, filter, limit: 1).items.first
      if let found, found.delivery.attempts > 0 { return found }
    }
    return listed.first { $0.delivery.attempts > 0 && $0.delivery.outcome != .skipped }
  }

  private static func steps(_ found: Found, _ pager: Pager, _ page: PageContext) -> DeliverySteps? {
    let isWhole = pager.cursor == nil && DeliverySearch.names.allSatisfy { page.filled($0) == nil }
    guard found.progress.isFinal, isWhole, let item = found.example else { return nil }
    return DeliverySteps(found.push, item, name: found.push.recipient(item.device, page.texts), page.texts)
  }

  private static func facts(
    _ push: Push, _ draft: PushDraft?, _ app: App?, _ approval: ApprovalView?, _ latency: String?, unused: [String],
    _ texts: Texts
  ) -> [FactView] {
    [
      FactView(texts("details.id"), push.uid),
      FactView("msg_id", push.messageID),
      FactView(texts("details.app"), app.map { texts.noted($0.name, $0.bundleID) }, href: "/apps/\(push.appID)"),
      FactView(texts("details.audience"), draft?.audience.text(texts)),
      FactView(texts("pushes.kind"), texts("push_type.\(push.pushType.rawValue)")),
      FactView(
        texts("details.platforms"),
        draft.map { draft in
          texts.list(Platform.allCases.filter(draft.platforms.contains).map { texts("platform.\($0.rawValue)") })
        }),
      FactView(
        texts("send.languages"),
        draft.flatMap { draft in
          let tags = draft.notification.localizations.map(\.language.text)
          return tags.isEmpty ? nil : texts.list(tags)
        }),
      FactView(
        texts("details.source"),
        "\(texts("source.\(push.source.rawValue)")) · \(ActivityActor(push.createdBy).name(texts))"),
      FactView(texts("details.created"), at: push.createdAt), approval?.fact,
      FactView(texts("details.scheduled"), push.sendAt.map { texts.moment($0, draft?.timeZone ?? .utc) }),
      FactView(texts("details.started"), at: push.startedAt),
      FactView(texts("details.finished"), at: push.finishedAt), FactView(texts("push.latency"), latency),
      FactView(texts("schedules.speed"), draft.flatMap { texts.speed($0, devices: push.target) }),
      FactView(texts("details.ttl"), draft?.options.timeToLive.map { "\($0.grouped) s" }),
      FactView(texts("details.collapse_id"), draft?.options.collapseID),
      FactView(texts("push.unused"), unused.isEmpty ? nil : texts.list(unused)),
    ].compactMap { $0 }
  }
}
