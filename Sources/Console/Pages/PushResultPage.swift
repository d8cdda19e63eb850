import Delivery
import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/pushes/:uid`: what happened to this push.
enum PushResultPage {
  private static let pageSize = 50

  private struct Facts: Sendable {
    let push: PushRecord
    let app: App?
    let reasons: [Delivery.ReasonCount]
    let waiting: [(reason: String, count: Int)]
    let latencies: LatencyHistogram
    let deliveries: Page<Delivery.WithDevice>
    var progress: PushProgress
    let retry: PushRepeat
    let kin: Kin
    let schedule: Schedule?
    let detailsGone: String
    let tokens: MovedTokens?
    /// Row id of what sends it, for how it goes.
    let credential: Int64?
  }

  static func show(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let pager = Pager(page.request)
    let filter = DeliverySearch.filter(page)
    let may = page.may(.operator)
    // All of it in one read: a push that ends between two would have a page that says "sending" and follows nothing.
    var facts = try await page.store.read { database in
      let push = try PushPages.find(database, uid: uid)
      let reasons = try Delivery.reasonCounts(database, push: push.id)
      return Facts(
        push: push, app: try App.find(database, id: push.appID), reasons: reasons,
        waiting: push.waiting > 0 ? try WaitingDelivery.reasonCounts(database, push: push.id) : [],
        latencies: try LatencyHistogram.find(database, push: push.id),
        deliveries: try Delivery.list(database, push: push.id, filter, cursor: pager.cursor, limit: pageSize),
        progress: try PushProgress.find(database, push: push.id),
        retry: try PushRepeat.find(database, push: push.id), kin: try Kin(database, push),
        schedule: try push.scheduleID.flatMap { try Schedule.find(database, id: $0) },
        detailsGone: try detailsGone(database, push, page.texts),
        tokens: may && reasons.contains { $0.reason == MovedTokens.reason }
          ? try MovedTokens.find(database, push: push) : nil,
        credential: try Credential.find(
          database, app: push.appID, provider: .apns, environment: push.environment)?.id)
    }
    let push = facts.push
    if !facts.progress.isFinal, let health = facts.credential.flatMap(page.console.engine.health(credential:)) {
      facts.progress.health = health
    }
    facts.progress.trouble = page.console.engine.trouble(push: push.id)
    var members = head(push, facts.progress, facts.schedule, page)
    members.merge(actions(push, facts, page)) { $1 }
    members.merge(list(push, facts, pager, page)) { $1 }
    members["latency"] = LatencyChart(facts.latencies).value(page.texts)
    members["reasons"] = .list(
      ReasonGroups(push: push, app: facts.app, counts: facts.reasons, waiting: facts.waiting, tokens: facts.tokens)
        .values(page.texts))
    members["kin"] = facts.kin.value(page.texts)
    members["facts"] = .list(about(push, facts.app, page))
    return try page.page("pushes/show", .pushes, members)
  }

  /// Since when its details are gone, and what that means; empty if they are there.
  private static func detailsGone(_ database: Database, _ push: PushRecord, _ texts: Texts) throws -> String {
    guard let date = push.detailsRemovedAt else { return "" }
    let days = try RetentionPolicy.find(database).deliveries
    let why = days == 0 ? "" : " " + texts("retention.kept_for", count: days)
    return texts("retention.details_gone", ["date": date.dayText]) + why
  }

  /// What can be done with it, and what a retry would leave out.
  private static func actions(_ push: PushRecord, _ facts: Facts, _ page: PageContext) -> [String: Value] {
    let (texts, progress, retry) = (page.texts, facts.progress, facts.retry)
    let may = page.may(.operator)
    let isUndo = push.state == .queued && push.startedAt == nil && push.plannedAt != nil
    let excluded = retry.excluded.map { "\($0.count.grouped) \($0.reason ?? texts("words.\($0.outcome.name)"))" }
    let isRetried =
      progress.isFinal && retry.devices > 0 && push.detailsRemovedAt == nil && facts.kin.child == nil
    var notes: [String] = []
    if push.state == .cancelled { notes.append(texts("push.rest_audience")) }
    if !excluded.isEmpty { notes.append(texts("push.retry_without", ["reasons": excluded.joined(separator: ", ")])) }
    if retry.unknown > 0 { notes.append(texts("push.retry_unknown", count: retry.unknown)) }
    return [
      "can_cancel": .bool(!push.state.isOver && may && !isHeld(push, now: page.now)),
      "cancel_text": .string(texts(isUndo ? "push.undo" : "push.cancel")),
      "can_pause": .bool([.queued, .sending].contains(push.state) && may),
      "can_resume": .bool(push.state == .paused && may),
      "can_retry": .bool(isRetried && may),
      "retry_text": .string(texts(push.state == .cancelled ? "push.rest" : "push.retry", count: retry.devices)),
      "retry_note": .string(isRetried ? notes.joined(separator: " ") : ""),
    ]
  }

  private static func head(
    _ push: PushRecord, _ progress: PushProgress, _ schedule: Schedule?, _ page: PageContext
  ) -> [String: Value] {
    let texts = page.texts
    let json = ProgressJSON(progress, texts)
    let counts =
      OutcomeKind.allCases.map { ($0.name, push.counts[$0], "/pushes/\(push.uid)?outcome=\($0.name)#devices") }
      + [("pending", push.pending ?? 0, "/pushes/\(push.uid)")]
    return [
      "id": .string(push.uid), "title": .string(push.heading(texts)),
      "live": .bool(!progress.isFinal && !isFarOff(push, now: page.now)),
      // The engine knows nothing yet of one that waits: the page is read anew when its time has come.
      "followed": .bool(!progress.isFinal && (push.state != .queued || push.waits(now: page.now) == nil)),
      "held": held(push, page), "schedule": scheduleLink(schedule, texts),
      "production": .bool(push.environment == .production), "environment": .string(push.environment.word(texts)),
      "state": .string(push.state.rawValue), "state_text": .string(texts(push.stateKey(now: page.now))),
      "waiting_text": .string(json.waitingText), "rate_text": .string(json.rateText),
      "repeats_text": .string(json.repeatsText),
      "done_text": .string(push.error ?? waitingSentence(push, page) ?? json.sentence),
      "target": .integer(Int64(max(1, push.target ?? 0))),
      "done": .integer(Int64(push.counts.total)),
      "counts": .list(
        counts.map { kind, number, href in
          [
            "kind": .string(kind), "label": .string(texts("words.\(kind)")), "number": .string(number.grouped),
            "href": .string(href),
          ]
        }),
      "outcome_bar": push.counts.bar(target: push.target ?? 0), "outcome_text": .string(push.counts.text(texts)),
      "payload": .string(push.draft.map { APNsPayload($0, uid: push.uid).json.text(pretty: true) } ?? ""),
    ]
  }

  private static func list(
    _ push: PushRecord, _ facts: Facts, _ pager: Pager, _ page: PageContext
  ) -> [String: Value] {
    let texts = page.texts
    let outcomes = [("", texts("pushes.any"))] + OutcomeKind.allCases.map { ($0.name, texts("words.\($0.name)")) }
    let export = page.request.query.map { "?\($0)" } ?? ""
    return [
      "filter": [
        "q": .string(page.filled("q") ?? ""), "outcome": .options(outcomes, selected: page.query["outcome"] ?? ""),
      ],
      "export": [
        "csv": .string("/pushes/\(push.uid)/deliveries.csv\(export)"),
        "json": .string("/pushes/\(push.uid)/deliveries.json\(export)"),
      ],
      "details_gone": .string(facts.detailsGone),
      "any_deliveries": .bool(!facts.deliveries.items.isEmpty),
      "deliveries": .list(facts.deliveries.items.map { row($0, push, texts) }),
      "page_text": .string(texts("push.shown", count: facts.deliveries.items.count)),
      "previous": Value(pager.previous), "next": Value(pager.next(facts.deliveries.next)),
    ]
  }

  private static func row(_ item: Delivery.WithDevice, _ push: PushRecord, _ texts: Texts) -> Value {
    let delivery = item.delivery
    let device = [item.device?.name, item.device?.alias].compactMap { $0 }.joined(separator: " · ")
    let answer = [delivery.status == 0 ? nil : String(delivery.status), delivery.reason].compactMap { $0 }
    return [
      "href": .string("/pushes/\(push.uid)/deliveries/\(delivery.deviceID)"),
      "token": .string(item.device?.token.abbreviated ?? texts("push.removed_device")), "device": .string(device),
      "outcome": .string(delivery.outcome.name), "outcome_text": .string(texts("words.\(delivery.outcome.name)")),
      "answer": .string(answer.joined(separator: " ")), "attempts": .string(String(delivery.attempts)),
      "duration": .string(texts.duration(milliseconds: delivery.durationMilliseconds)),
    ]
  }

  private static func about(_ push: PushRecord, _ app: App?, _ page: PageContext) -> [Value] {
    let texts = page.texts
    func fact(_ name: String, _ value: String?, at date: Date? = nil) -> Value? {
      guard let value = date?.utcText ?? value, !value.isEmpty else { return nil }
      return [
        "label": .string(texts("facts.\(name)")), "value": .string(value),
        "datetime": date.map { .string(Timestamp.text($0)) } ?? "",
      ]
    }
    let draft = push.draft
    return [
      fact("id", push.uid), fact("app", app.map { "\($0.name) (\($0.bundleID))" }),
      fact("audience", draft?.audience.text(texts)),
      fact("platforms", draft.map { $0.platforms.map(\.rawValue).sorted().joined(separator: ", ") }),
      fact("source", "\(texts("source.\(push.source)")) · \(push.createdBy)"), fact("created", nil, at: push.createdAt),
      fact("started", nil, at: push.startedAt), fact("finished", nil, at: push.finishedAt),
      fact("ttl", draft?.options.timeToLive.map { "\($0.grouped) s" }),
      fact("collapse_id", draft?.options.collapseID),
    ].compactMap { $0 }
  }
}

/// What a person types into the search of a push's devices.
enum DeliverySearch {
  static func filter(_ page: PageContext) -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.outcome = OutcomeKind.allCases.first { $0.name == page.query["outcome"] }
    filter.reason = page.filled("reason")
    if let text = page.filled("q") {
      filter.search = [.alias(text), .registrationID(text)]
      if let bytes = TokenPrefix.bytes(text) { filter.search.append(.token(bytes)) }
    }
    return filter
  }
}

/// The beginning of a token in any notation: hexadecimal, with or without angle brackets, blanks, or the dots that
/// stand for the middle of an abbreviated one.
enum TokenPrefix {
  static func bytes(_ text: String) -> [UInt8]? {
    let head = text.prefix { $0 != "…" }
    let digits = head.utf8.filter { !"<> ".utf8.contains($0) }
    guard digits.count >= 2, digits.allSatisfy({ UInt8(ascii: "0") <= $0 && Character(UnicodeScalar($0)).isHexDigit })
    else { return nil }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16)
    }
  }
}
