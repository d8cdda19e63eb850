import Certificates
import Foundation
import Mustache
import Push
import Reminders
import Store

/// "What needs you": the worst first.
struct Needs {
  let report: ExpiryReport
  let apps: [AppOverview]
  let pushes: [PushRecord]
  let now: Date
  /// Checks of certificates that are late.
  var late: [CheckRun] = []
  /// Who is on what.
  var taken: [Acknowledgement.Subject: Acknowledgement] = [:]
  /// Messages that nobody takes, though they were tried again.
  var stuck: [ReminderMessage] = []
  /// Whether whoever looks may see the receivers' addresses.
  var showsReceivers = false
  /// Schedules that did not do what they should have done.
  var schedules: [ScheduleTrouble] = []

  /// A share of dead tokens above this is worth a look.
  private static let deadShare = 0.2
  private static let deadAtLeast = 20
  /// More of a kind are counted, not listed.
  private static let shown = 20

  func values(_ texts: Texts) -> [Value] {
    refused(texts) + watching(texts) + expiring(texts) + failedPushes(texts)
      + ScheduleNeed.values(schedules, self, texts)
      + deadTokens(texts)
  }

  func need(
    _ texts: Texts, label: String, failed: Bool, text: String, detail: String, href: String, action: String
  ) -> Value {
    [
      "label": .string(label), "failed": .bool(failed), "soon": .bool(!failed), "text": .string(text),
      "detail": .string(detail), "href": .string(href), "action": .string(texts("needs.\(action)")),
    ]
  }

  private func expiring(_ texts: Texts) -> [Value] {
    let urgent: Set<Expiry.Band> = [.expired, .urgent, .soon, .notYetValid]
    let pressing = report.findings.filter { urgent.contains($0.band) }
    var values = pressing.prefix(Self.shown).map { finding in
      let item = finding.item
      let detail: [String?] = [
        item.topics.joined(separator: ", "), item.serial.map { texts("needs.serial", ["serial": $0]) },
        item.subject.flatMap { taken[$0] }.map { ItemReminders.words($0, texts) },
      ]
      return need(
        texts, label: texts.daysLeft(finding.daysLeft), failed: finding.band == .expired || finding.band == .urgent,
        text: texts(
          finding.band == .expired ? "needs.expired" : finding.band == .notYetValid ? "needs.not_yet" : "needs.expires",
          ["name": item.name, "date": item.notAfter?.dayText ?? "", "from": item.notBefore?.dayText ?? ""]),
        detail: detail.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " · "),
        href: item.key.map { "/\($0)" } ?? "/certificates", action: "renew")
    }
    values += report.closed.prefix(Self.shown).map { item in
      need(
        texts, label: texts("needs.closed_label"), failed: true, text: texts("needs.closed", ["name": item.name]),
        detail: item.reason, href: item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    values += report.unreadable.prefix(Self.shown).map { item in
      need(
        texts, label: texts("words.failed"), failed: true, text: texts("needs.unreadable", ["name": item.name]),
        detail: item.reason, href: item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    let rest = [pressing.count, report.closed.count, report.unreadable.count].reduce(0) { $0 + max(0, $1 - Self.shown) }
    if rest > 0 {
      values.append(
        need(
          texts, label: texts("needs.more_label"), failed: true, text: texts("needs.more", count: rest), detail: "",
          href: "/certificates", action: "show"))
    }
    values += report.findings.filter { !$0.missed.isEmpty }.prefix(Self.shown).map { finding in
      need(
        texts, label: texts("needs.forecast_label"), failed: false,
        text: texts("needs.forecast", count: finding.missed.count, ["name": finding.item.name]),
        detail: finding.missed.first.map { "\($0.bundleID) · \($0.sendAt.utcText)" } ?? "",
        href: finding.item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    values += report.findings.filter { !$0.pressing.isEmpty }.prefix(Self.shown).map { finding in
      need(
        texts, label: texts("schedules.repeats_label"), failed: finding.band == .expired,
        text: texts(
          finding.band == .expired ? "needs.repeating_over" : "needs.repeating", count: finding.pressing.count,
          ["name": finding.item.name]),
        detail: finding.pressing.first.map {
          texts("needs.repeating_first", ["app": $0.schedule.bundleID, "date": $0.first.utcText])
        } ?? "",
        href: finding.item.key.map { "/\($0)" } ?? "/certificates", action: "show")
    }
    return values
  }

  private func watching(_ texts: Texts) -> [Value] {
    late.map { run in
      need(
        texts, label: texts("needs.late_label"), failed: true,
        text: texts("needs.late_\(run.source.rawValue)", ["date": run.at.utcText]), detail: "",
        href: "/settings/reminders", action: "show")
    }
      + stuck.prefix(3).map { message in
        need(
          texts, label: texts("words.failed"), failed: true,
          text: showsReceivers
            ? texts("needs.reminder", ["target": message.target, "count": message.attempts.grouped])
            : texts(
              "needs.reminder_over",
              [
                "channel": texts("settings.channels.\(message.channel.rawValue)"), "count": message.attempts.grouped,
              ]),
          detail: showsReceivers ? message.answer ?? "" : "", href: "/settings/reminders", action: "show")
      }
  }

  private func refused(_ texts: Texts) -> [Value] {
    apps.flatMap { app in
      app.credentials.filter { $0.health == .refused }.map { credential in
        need(
          texts, label: texts("needs.refused_label"), failed: true,
          text: texts(
            "needs.refused", ["app": app.app.name, "environment": credential.environment.word(texts)]),
          detail: credential.lastRefusal ?? "", href: "/apps/\(app.id)", action: "show")
      }
    }
  }

  private func failedPushes(_ texts: Texts) -> [Value] {
    var seen: Set<Int64> = []
    return pushes.filter { seen.insert($0.id).inserted }.prefix(5).map { push in
      need(
        texts, label: texts("words.failed"), failed: true,
        text: texts(
          push.state == .failed || push.counts.failed == 0 ? "needs.push_failed" : "needs.push_failures",
          [
            "name": push.heading(texts), "failed": push.counts.failed.grouped,
            "target": (push.target ?? 0).grouped,
          ]), detail: push.error ?? "", href: "/pushes/\(push.uid)", action: "show")
    }
  }

  private func deadTokens(_ texts: Texts) -> [Value] {
    apps.flatMap { app in
      Environment.allCases.compactMap { environment in
        let dead = app.count(environment: environment, state: .dead)
        let all = app.count(environment: environment)
        guard dead >= Self.deadAtLeast, Double(dead) > Double(all) * Self.deadShare else { return nil }
        return need(
          texts, label: texts("words.dead_token"), failed: false,
          text: texts(
            "needs.dead",
            [
              "app": app.app.name, "environment": environment.word(texts), "dead": dead.grouped, "all": all.grouped,
            ]), detail: "",
          href:
            "/devices?app=\(ConsoleRouter.escaped(app.app.bundleID))&environment=\(environment.rawValue)&state=dead",
          action: "show")
      }
    }
  }
}
