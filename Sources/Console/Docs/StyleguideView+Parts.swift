import Certificates
import Foundation
import Model
import Mustache
import Reminders
import Store

/// The larger parts of pages, with made-up values.
extension StyleguideView {
  static let parts: [Field<Self>] = [
    .view("told") { StyleFlash(texts: $0.texts) },
    .view("progress") { $0.progress },
    .list("reasons") { $0.reasons },
    .view("steps") { StyleSteps(texts: $0.texts) },
    .list("phones") { $0.phones },
    .list("attention") { $0.attention },
    .view("incidents") { StyleIncidents(rows: $0.incidents) },
    .view("certificates") { StyleCertificates(rows: $0.certificates) },
    .view("guide") { StyleGuide(texts: $0.texts, now: $0.now) },
    .view("ladder") { $0.ladder },
    .view("runs") { StyleRuns(texts: $0.texts) },
  ]

  private var progress: PushProgressView {
    let counts = OutcomeCounts(accepted: 50, failed: 20, deadToken: 10, skipped: 10, unknown: 5)
    let ended = OutcomeKind.allCases.map { kind in
      OutcomeCountView(
        kind: kind.name, colour: kind.colour, label: texts("words.\(kind.name)"), number: counts[kind],
        href: Self.address)
    }
    let pending = OutcomeCountView(
      kind: "pending", colour: "track", label: texts("words.pending"), number: 5, href: Self.address)
    return PushProgressView(
      bar: OutcomeBar(counts, target: 100), outcomes: counts.text(texts), done: counts.total, target: 100,
      counts: ended + [pending], rate: "", waiting: "", isBlocked: false, repeats: "")
  }

  private var reasons: [ReasonGroupView] {
    ["BadDeviceToken", "Unregistered"].map { code in
      let isFailed = code == "BadDeviceToken"
      return ReasonGroupView(
        code: code, isFailed: isFailed, text: texts(isFailed ? "words.failed" : "words.dead_token"), count: 20,
        href: Self.address, words: ReasonWords(Reason.of(code), texts), evidence: "",
        action: isFailed ? LinkView(href: "/devices", label: texts("push.action_devices")) : nil, mends: isFailed)
    }
  }

  private var phones: [StylePhone] {
    [
      StylePhone(isAndroid: false, isOff: false, texts: texts, now: now),
      StylePhone(isAndroid: false, isOff: true, texts: texts, now: now),
      StylePhone(isAndroid: true, isOff: false, texts: texts, now: now),
    ]
  }

  private var attention: [AttentionItem] {
    let place = ["app": "Shop", "environment": Environment.production.word(texts)]
    return [
      AttentionItem(
        label: texts("attention.refused_label"), isFailure: true, text: texts("attention.refused", place),
        detail: "InvalidProviderToken", href: "/apps", action: texts("attention.show")),
      AttentionItem(
        label: texts("words.needs_approval"), isFailure: false, text: texts("attention.approval", count: 2),
        detail: "", href: "/pushes", action: texts("attention.show")),
    ]
  }

  private var incidents: [StyleIncident] {
    [
      StyleIncident(tone: "red", state: texts("incidents.states.open"), texts: texts, now: now),
      StyleIncident(tone: "amber", state: texts("incidents.states.snoozed"), texts: texts, now: now),
      StyleIncident(tone: "", state: texts("incidents.states.closed"), texts: texts, now: now),
    ]
  }

  /// Ends in ten days: three steps are over, one of them not sent, and one is held back.
  private var ladder: LadderView {
    let end = now.addingTimeInterval(10 * 86_400)
    let states: [LadderRung.State] = [.passed, .sent, .sent, .held, .next, .later, .later, .later]
    let steps = zip(ReminderLadder.usual.steps, states).map { step, state in
      (step: step, state: state, at: ReminderLadder.due(step, notAfter: end))
    }
    return LadderView(steps, times: steps.map(\.at), notAfter: end, now: now, [], texts)
  }

  private var certificates: [ExpiryRow] {
    let bands: [(band: Expiry.Band, days: Int?)] = [
      (.expired, -3), (.urgent, 4), (.soon, 20), (.fine, 200), (.neverExpires, nil),
    ]
    return bands.map { band, days in
      ExpiryRow(
        href: "/certificates", name: "com.example.shop",
        about: [texts("certificates.kinds.apns_certificate"), "Shop", Environment.production.word(texts)], band: band,
        state: texts("band.\(band.rawValue)"),
        notAfter: days.map { now.addingTimeInterval(Double($0) * 86_400) }, days: days, usedBy: ["Shop"])
    }
  }
}

/// The message of the page before.
struct StyleFlash: View {
  let texts: Texts

  static let fields: [Field<Self>] = [.view("flash") { FrameFlash(cookie: "device_saved", $0.texts) }]
}

/// The list of all incidents.
struct StyleIncidents: View {
  let rows: [StyleIncident]

  static let fields: [Field<Self>] = [.list("rows") { $0.rows }]
}

/// The list of all that expires.
struct StyleCertificates: View {
  let rows: [ExpiryRow]

  static let fields: [Field<Self>] = [.list("rows") { $0.rows }]
}

/// A delivery that waited, failed, and was accepted.
struct StyleSteps: View {
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("heading") { $0.texts("delivery.steps.this") },
    .text("total") { $0.texts.duration(milliseconds: 4000) },
    .list("steps") { $0.steps },
    .view("details") { LinkView(href: "/devices", label: $0.texts("nav.devices")) },
  ]

  private var steps: [DeliverySteps.Step] {
    [
      step(texts("delivery.steps.queued"), 0, 1000, "skip"),
      step(texts("delivery.steps.turn"), 1000, 1000, "track"),
      step(texts("delivery.steps.attempt", ["number": "1", "answer": "503"]), 2000, 800, "fail"),
      step(texts("delivery.steps.attempt", ["number": "2", "answer": "200"]), 2800, 1200, "acc"),
    ]
  }

  /// - Parameters:
  ///   - begin: milliseconds, of 4000.
  ///   - length: as `begin`.
  private func step(_ label: String, _ begin: Int, _ length: Int, _ tone: String) -> DeliverySteps.Step {
    DeliverySteps.Step(
      label: label, time: texts.duration(milliseconds: length), tone: tone, isFailed: tone == "fail",
      bar: OutcomeBar.Part(x: begin * 10_000 / 4000, width: length * 10_000 / 4000))
  }
}

/// A phone of the simulator.
struct StylePhone: View {
  let isAndroid: Bool
  let isOff: Bool
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .flag("android") { $0.isAndroid },
    .flag("is_off") { $0.isOff },
    .flag("alternate") { _ in false },
    .text("name") { $0.isAndroid ? "Android" : "iPhone" },
    .text("app") { _ in "Shop" },
    .text("state") { $0.texts($0.isOff ? "phones.state_off" : "phones.state_background") },
    .view("time") { MomentView(date: $0.now) },
    .written("clock") { $1.write(clock: $0.now) },
    .list("screen") { $0.notes },
    .view("waiting") { $0.isOff ? CountView(count: 2) : nil },
  ]

  /// One with a title, and one without.
  private var notes: [StyleNote] {
    let titles: [String?] = [texts("words.accepted"), nil]
    return titles.map { StyleNote(title: $0, texts: texts, now: now) }
  }
}

/// A notification on a phone.
struct StyleNote: View {
  let title: String?
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("notification") { _ in "1" },
    .text("initial") { _ in "S" },
    .optional("title") { $0.title },
    .optional("subtitle") { _ in nil },
    .optional("body") { $0.texts("push.accepted_means") },
    .view("received") { MomentView(date: $0.now.addingTimeInterval(-300), now: $0.now) },
  ]
}

/// An incident in the list of all.
struct StyleIncident: View {
  let tone: String
  let state: String
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("href") { _ in "/incidents" },
    .text("heading") { row in
      row.texts("incidents.missed", count: 2, ["deliveries": row.texts("incidents.deliveries", count: 14)])
    },
    .text("cause") { $0.texts.cause(Reason.of("BadDeviceToken")).firstSentence.first },
    .text("code") { _ in "BadDeviceToken" },
    .text("state") { $0.state },
    .text("tone") { $0.tone },
    .text("app") { _ in "Shop" },
    .flag("production") { $0.tone == "red" },
    .text("assignee") { $0.tone == "amber" ? "Olga" : "" },
    .view("last") { MomentView(date: $0.now.addingTimeInterval(-7200), now: $0.now) },
  ]
}

/// How to renew a certificate: a step that is done, one that is next, one that is to come.
struct StyleGuide: View {
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("title") { $0.texts("guide.renew") },
    .text("lead") { $0.texts("guide.in_parallel", ["date": $0.texts.day($0.now)]) },
    .list("steps") { $0.steps },
  ]

  private var steps: [RenewalStep] {
    [
      RenewalStep(
        text: texts("guide.request"), detail: texts("guide.request_detail"), address: nil, state: "done"),
      RenewalStep(
        text: texts("guide.create", ["of_team": ""]), detail: texts("guide.compared"),
        address: "https://developer.apple.com/account/resources/certificates/list", state: "now"),
      RenewalStep(
        text: texts("guide.switch"), detail: texts("guide.switch_detail", ["days": "30"]), address: nil, state: ""),
    ]
  }
}

/// The last runs of a smoke test.
struct StyleRuns: View {
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("label") { view in
      view.texts(
        "smoketests.picture", ["passed": "6", "failed": "2", "last": view.texts("smoketests.states.running")])
    },
    .list("bars") { _ in
      let states: [SmokeRunState] = [.passed, .passed, .failed, .passed, .passed, .passed, .failed, .passed, .running]
      let first = SmokeTestPages.drawn - states.count
      return states.enumerated().map { SmokeBar(place: first + $0.offset, state: $0.element) }
    },
  ]
}
