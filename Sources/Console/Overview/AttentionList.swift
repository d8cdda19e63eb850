import Certificates
import Foundation
import JSON
import Mustache
import Model
import Reactor
import Reminders
import SQLite
import Store

struct AttentionItem: View {
  let label: String
  /// Red if true, amber otherwise.
  let isFailure: Bool
  let text: String
  let detail: String
  /// Empty if the reader may not open the page.
  let href: String
  let action: String

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .flag("red") { $0.isFailure },
    .text("text") { $0.text },
    .text("detail") { $0.detail },
    .text("href") { $0.href },
    .text("action") { $0.action },
  ]
}

/// What needs attention, the worst first.
struct AttentionList {
  let report: ExpiryReport
  let apps: [AppOverview]
  /// Failed as a whole, and of no incident.
  let pushes: [Push]
  /// Open ones.
  var incidents: [Incident] = []
  /// More than are listed.
  var moreIncidents = 0
  let now: Date
  /// Certificate checks that are overdue.
  var late: [CheckRun] = []
  /// Acknowledgements, by subject.
  var taken: [Acknowledgement.Subject: Acknowledgement] = [:]
  /// Messages that failed after every retry.
  var stuck: [ReminderMessage] = []
  /// Whether the reader may see the receivers' addresses and the settings of reminders.
  var showsReceivers = false
  /// Schedules that missed a run, are late, or stopped.
  var schedules: [ScheduleTrouble] = []
  /// Smoke tests whose last run failed.
  var smokeTests: [SmokeTest] = []
  /// That fail, or whose receiver switched them off; shown to those who can change them.
  var webhooks: [Webhook] = []
  /// What waits for a second person, and its number.
  var approvals: [Approval] = []
  /// Credentials with which nothing can be sent although pushes wait.
  var blocked: [BlockedCredential] = []
  /// Why nothing can be saved; nil: it can.
  var disk: SQLiteError?
  /// The undeclared proxy that forwarded this request, shown to those who can declare it.
  var proxy: SocketAddress?

  /// Items of one kind beyond this number are counted, not listed.
  private static let shown = 20
  /// Fewer devices out of reach are everyday life of tests.
  private static let alarmingDevices = 10

  func items(_ texts: Texts) -> [AttentionItem] {
    let all = unsorted(texts)
    return all.filter(\.isFailure) + all.filter { !$0.isFailure }
  }

  private func unsorted(_ texts: Texts) -> [AttentionItem] {
    unsaved(texts) + waiting(texts) + going(texts) + refused(texts) + watching(texts) + expiring(texts)
      + failedPushes(texts)
      + ScheduleAttention.items(schedules, self, texts)
      + smokeTests.prefix(Self.shown).map { test in
        item(
          texts, label: texts("smoketests.states.failed"), failed: true,
          text: texts("smoketests.heading_failed", ["name": test.name]), detail: texts("smoketests.title"),
          href: "/smoke-tests/\(test.id)", action: "show")
      }
      + webhooks.prefix(Self.shown).map { webhook in
        item(
          texts, label: texts("words.failed"), failed: true,
          text: texts(
            webhook.goneAt == nil ? "attention.webhook" : "attention.webhook_gone", ["name": webhook.details.name]),
          detail: webhook.waiting(texts),
          href: "/settings/webhooks/\(webhook.id)", action: "show")
      }
      + unreachable(texts) + undeclaredProxy(texts)
  }

  /// Not kept as an incident: it could not be saved either.
  private func unsaved(_ texts: Texts) -> [AttentionItem] {
    guard let disk else { return [] }
    return [
      item(
        texts, label: texts("attention.disk_label"), failed: true, text: texts.text(DiskWords(disk).problem),
        detail: texts("attention.disk_next"), href: "", action: "show")
    ]
  }

  /// Environments of which most devices are parked or retired: pushes there reach almost nobody, and nothing fails.
  private func unreachable(_ texts: Texts) -> [AttentionItem] {
    apps.flatMap { overview in
      Environment.allCases.compactMap { environment -> AttentionItem? in
        let all = overview.count(environment: environment)
        let gone = all - overview.count(environment: environment, state: .active)
        // An open incident there has said so.
        let isKnown = incidents.contains { $0.place.app == overview.id && $0.place.environment == environment }
        guard gone >= Self.alarmingDevices, gone * 2 > all, !isKnown else { return nil }
        return item(
          texts, label: "\(gone * 100 / all)%", failed: false,
          text: texts(
            "attention.unreachable", count: gone,
            ["all": all.grouped, "app": overview.app.name, "environment": environment.word(texts)]),
          detail: texts("attention.unreachable_next"), href: ReachView.href(overview.app, environment), action: "show")
      }
    }
  }

  func item(
    _ texts: Texts, label: String, failed: Bool, text: String, detail: String, href: String, action: String
  ) -> AttentionItem {
    AttentionItem(
      label: label, isFailure: failed, text: text, detail: detail, href: href, action: texts("attention.\(action)"))
  }

  private func expiring(_ texts: Texts) -> [AttentionItem] {
    let urgent: Set<Expiry.Band> = [.expired, .urgent, .soon, .notYetValid]
    let pressing = report.findings.filter { urgent.contains($0.band) }
    var values = pressing.prefix(Self.shown).map { finding in
      let tracked = finding.item
      let detail: [String?] = [
        texts.list(tracked.topics), tracked.serial.map { texts("attention.serial", ["serial": $0]) },
        tracked.subject.flatMap { taken[$0] }.map { ItemReminders.words($0, texts) },
      ]
      let isNeverValid = Expiry.isNeverValid(tracked.notBefore, tracked.notAfter)
      let state =
        switch finding.band {
        case .expired where isNeverValid: "attention.never_valid"
        case .expired: "attention.expired"
        case .notYetValid: "attention.not_yet"
        default: "attention.expires"
        }
      let isEarly = finding.band == .notYetValid
      return item(
        // What was never valid may end on a later day.
        texts,
        label: isNeverValid
          ? texts("attention.never_valid_label")
          : isEarly ? texts("band.not_yet_valid") : texts.daysLeft(finding.daysLeft),
        failed: finding.band == .expired || finding.band == .urgent,
        text: texts(
          state,
          [
            "name": tracked.name, "date": tracked.notAfter.map(texts.minute) ?? "",
            "from": tracked.notBefore.map(texts.minute) ?? "",
          ]),
        detail: detail.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " · "),
        href: tracked.key.map { "/\($0)" } ?? "/certificates", action: isEarly ? "show" : "renew")
    }
    values += unreadable(report.closed, "attention.closed", label: texts("attention.closed_label"), texts)
    values += unreadable(report.unreadable, "attention.unreadable", label: texts("words.failed"), texts)
    let rest = [pressing.count, report.closed.count, report.unreadable.count].reduce(0) { $0 + max(0, $1 - Self.shown) }
    if rest > 0 {
      values.append(
        item(
          texts, label: texts("attention.more_label"), failed: true, text: texts("attention.more", count: rest),
          detail: "",
          href: "/certificates", action: "show"))
    }
    values += report.findings.filter { !$0.missed.isEmpty }.prefix(Self.shown).map { finding in
      item(
        texts, label: texts("attention.forecast_label"), failed: false,
        text: texts("attention.forecast", count: finding.missed.count, ["name": finding.item.name]),
        detail: finding.missed.first.map { "\($0.bundleID) · \(texts.minute($0.sendAt))" } ?? "",
        href: finding.item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    values += report.findings.filter { !$0.pressing.isEmpty }.prefix(Self.shown).map { finding in
      item(
        texts, label: texts("schedules.repeats_label"), failed: finding.band == .expired,
        text: texts(
          finding.band == .expired ? "attention.repeating_over" : "attention.repeating", count: finding.pressing.count,
          ["name": finding.item.name]),
        detail: finding.pressing.first.map {
          texts("attention.repeating_first", ["app": $0.schedule.bundleID, "date": texts.minute($0.first)])
        } ?? "",
        href: finding.item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    return values
  }

  /// What could not be read, or not be opened.
  private func unreadable(
    _ items: [ExpiryReport.Unreadable], _ text: String, label: String, _ texts: Texts
  ) -> [AttentionItem] {
    items.prefix(Self.shown).map { unread in
      item(
        texts, label: label, failed: true, text: texts(text, ["name": unread.name]),
        detail: unread.problem.map { texts.text($0) } ?? unread.reason,
        href: unread.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
  }

  private func watching(_ texts: Texts) -> [AttentionItem] {
    late.map { run in
      item(
        texts, label: texts("attention.late_label"), failed: true,
        text: texts("attention.late_\(run.source.rawValue)", ["date": texts.minute(run.at)]), detail: "",
        href: showsReceivers ? "/settings/reminders" : "", action: "show")
    }
      + stuck.prefix(3).map { message in
        item(
          texts, label: texts("words.failed"), failed: true,
          text: showsReceivers
            ? texts("attention.reminder", count: message.attempts, ["target": message.target])
            : texts(
              "attention.reminder_over", count: message.attempts,
              ["channel": texts("settings.channels.\(message.channel.rawValue)")]),
          detail: showsReceivers ? message.answer.map(texts.answer) ?? "" : "",
          href: showsReceivers ? "/settings/reminders" : "", action: "show")
      }
  }

  private func undeclaredProxy(_ texts: Texts) -> [AttentionItem] {
    proxy.map { proxy in
      [
        item(
          texts, label: texts("attention.proxy_label"), failed: false,
          text: texts("attention.proxy", ["address": proxy.host]),
          detail: texts("attention.proxy_next", ["address": proxy.host]), href: "/settings", action: "show")
      ]
    } ?? []
  }

  private func waiting(_ texts: Texts) -> [AttentionItem] {
    [("pushes", "attention.approval"), ("schedules", "attention.approval_schedule")].compactMap { path, key in
      let count = approvals.count { $0.subject.noun == (path == "pushes" ? "push" : "schedule") }
      guard count > 0 else { return nil }
      return item(
        texts, label: count.grouped, failed: false, text: texts(key, count: count), detail: "",
        href: "/\(path)?state=needs_approval", action: "show")
    }
  }

  private func going(_ texts: Texts) -> [AttentionItem] {
    var items = incidents.map { incident in
      let app = apps.first { $0.id == incident.place.app }
      return IncidentWords(incident: incident, app: app, texts: texts, now: now).attention
    }
    if moreIncidents > 0 {
      items.append(
        item(
          texts, label: texts("attention.more_label"), failed: true,
          text: texts("attention.more_incidents", count: moreIncidents), detail: "", href: "/incidents", action: "show")
      )
    }
    return items + held(texts)
  }

  /// Whether an incident says already that a credential does not work.
  private func isKnown(_ credential: Credential) -> Bool {
    let place = IncidentPlace(app: credential.appID, environment: credential.environment, provider: credential.provider)
    return incidents.contains { $0.cause.kind == .credential && $0.place == place }
  }

  private func held(_ texts: Texts) -> [AttentionItem] {
    blocked.filter { !isKnown($0.credential) }.map { one in
      one.attention(apps.first { $0.id == one.credential.appID }?.app, texts)
    }
  }

  private func refused(_ texts: Texts) -> [AttentionItem] {
    apps.flatMap { app in
      app.credentials.filter { credential in
        credential.health == .refused && !isKnown(credential)
          && !blocked.contains { $0.credential.id == credential.id }
      }.map { credential in
        item(
          texts, label: texts("attention.refused_label"), failed: true,
          text: texts("attention.refused", ["app": app.app.name, "environment": credential.environment.word(texts)]),
          detail: credential.lastRefusal ?? "", href: "/apps/\(app.id)", action: "show")
      }
    }
  }

  private func failedPushes(_ texts: Texts) -> [AttentionItem] {
    pushes.map { push in
      item(
        texts, label: texts("words.failed"), failed: true,
        text: texts("attention.push_failed", ["name": push.heading(texts)]),
        detail: push.error.map(texts.recorded) ?? "",
        href: "/pushes/\(push.uid)", action: "show")
    }
  }
}
