import Certificates
import Foundation
import JSON
import Model
import Mustache
import Reminders
import Simulator
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
    .view("guide") { $0.guide },
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

  private var phones: [PhoneCard] {
    [phone("iPhone", .ios, .on), phone("iPhone", .ios, .off), phone("Android", .android, .on)]
  }

  /// A phone with a notification that has a title, and one that has none.
  private func phone(_ name: String, _ platform: Platform, _ power: SimulatedPhone.Power) -> PhoneCard {
    let body = JSONValue.string(texts("push.accepted_means"))
    let alerts: [JSONValue] = [["title": .string(texts("words.accepted")), "body": body], ["body": body]]
    let received = alerts.enumerated().map { index, alert in
      let payload: JSONValue = ["aps": ["alert": alert]]
      return ReceivedNotification(
        id: Int64(index + 1), apnsID: "", topic: self.name, pushType: .alert, priority: 10, payload: payload.text(),
        receivedAt: now.addingTimeInterval(-300))
    }
    let phone = SimulatedPhone(
      id: 1, name: name, model: name, platform: platform, environment: .development, topic: self.name,
      token: DeviceToken(bytes: []), power: power, received: received, waiting: power == .off ? received : [])
    return PhoneCard(phone, app: nil, device: nil, channels: [], texts: texts, now: now)
  }

  private var attention: [AttentionItem] {
    let place = ["app": "Shop", "environment": Environment.production.word(texts)]
    return [
      AttentionItem(
        label: texts("attention.refused_label"), isFailure: true, text: texts("attention.refused", place),
        detail: "InvalidProviderToken", href: "/apps", action: texts("attention.show")),
      AttentionItem(
        label: 2.grouped, isFailure: false, text: texts("attention.approval", count: 2),
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

  /// How to renew a certificate: a step that is done, one that is next, one that is to come.
  private var guide: RenewalGuide {
    RenewalGuide(
      title: texts("guide.renew"), lead: texts("guide.in_parallel", ["date": texts.minute(now)]),
      steps: [
        RenewalStep(text: texts("guide.request"), detail: texts("guide.request_detail"), address: nil, state: "done"),
        RenewalStep(
          text: texts("guide.create", ["of_team": ""]), detail: texts("guide.compared"),
          address: "https://developer.apple.com/account/resources/certificates/list", state: "now"),
        RenewalStep(
          text: texts("guide.switch"), detail: texts("guide.switch_detail", ["days": "30"]), address: nil, state: ""),
      ])
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

/// The last runs of a smoke test.
struct StyleRuns: View {
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("label") { view in
      view.texts("smoketests.picture", ["passed": "6", "failed": "2", "last": view.texts("smoketests.states.running")])
    },
    .list("bars") { _ in
      let states: [SmokeRunState] = [.passed, .passed, .failed, .passed, .passed, .passed, .failed, .passed, .running]
      let first = SmokeTestPages.drawn - states.count
      return states.enumerated().map { SmokeBar(place: first + $0.offset, state: $0.element) }
    },
  ]
}
