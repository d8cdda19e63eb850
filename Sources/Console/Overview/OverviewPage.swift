import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import Reminders
import SQLite
import Simulator
import Store

/// `/`: what needs attention, what was sent, and the state of each app.
enum OverviewPage {
  private static let days = 30
  private static let mostIncidents = 20

  static let views: [any PageView.Type] = [OverviewView.self, FirstRunView.self, SetUpView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/") { page in
      let sealer = page.store.sealer
      let facts = try await page.kept { try Found($0, sealer: sealer, now: $1) }
      let blocked = try await BlockedCredential.all(facts.apps.flatMap(\.credentials), page)
      if let first = firstRun(facts, blocked, page) { return page.answer(first) }
      if let steps = setUp(facts, blocked, page) { return page.answer(steps) }
      return page.answer(view(facts, blocked, page))
    }
    routes.page(.post, "/first-run", role: .operator, FirstRun.take)
  }

  private struct Found: Sendable {
    let apps: [AppOverview]
    let pushes: [ListedPush]
    let troubled: [Push]
    let incidents: Page<Incident>
    let incidentCounts: Incident.Counts
    let report: ExpiryReport
    let sums: [Push.Sum]
    let receipts: [Int: ReceiptCounts]
    let firstDay: Date
    let late: [CheckRun]
    let stuck: [ReminderMessage]
    let taken: [Acknowledgement.Subject: Acknowledgement]
    let schedules: [ScheduleTrouble]
    let firstRun: FirstRun?
    let smokeTests: [SmokeTest]
    let webhooks: [Webhook]
    let approvals: [Approval]

    init(_ database: Database, sealer: any Sealer, now: Date) throws {
      apps = try AppOverview.all(database)
      pushes = try Push.list(database, PushFilter(), limit: 10).items.map { try ListedPush(database, $0) }
      var failed = PushFilter()
      failed.states = [.failed]
      failed.from = now.addingTimeInterval(-7 * 86_400)
      let troubled = try Push.list(database, failed, limit: 5).items
      let covered = try Incident.covered(database, pushes: troubled.map(\.id))
      self.troubled = troubled.filter { !covered.contains($0.id) }
      incidents = try Incident.list(database, IncidentFilter(state: .open, now: now), limit: OverviewPage.mostIncidents)
      incidentCounts = try Incident.counts(database, now: now)
      report = try CertificateTracker.report(database, sealer: sealer, now: now)
      late = Watchman.late(try CheckRun.all(database), now: now)
      // One for each receiver: its messages fail for the same cause.
      var receivers: Set<Int64?> = []
      stuck = try ReminderMessage.pending(database).filter { message in
        message.attempts >= RetryPause.alarming && receivers.insert(message.receiverID).inserted
      }
      taken = try Acknowledgement.all(database, now: now)
      schedules = try ScheduleTrouble.all(database, now: now)
      firstRun = try FirstRun.find(database)
      smokeTests = try SmokeTest.red(database)
      webhooks = try Webhook.all(database).filter { $0.goneAt != nil || $0.failures >= RetryPause.alarming }
      approvals = try Approval.open(database, limit: 1000)
      // UTC days: the server does not know the viewer's zone.
      let today = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
      firstDay = Date(timeIntervalSince1970: today - Double(OverviewPage.days - 1) * 86_400)
      let end = firstDay.addingTimeInterval(Double(OverviewPage.days) * 86_400)
      sums = try Push.sums(database, from: firstDay, before: end)
      receipts = try ReceiptCounts.days(database, from: firstDay, before: end)
    }

    func app(_ id: Int64) -> App? { apps.first { $0.id == id }?.app }
  }

  private static func attention(
    _ facts: Found, _ blocked: [BlockedCredential], incidents: [Incident], _ page: PageContext
  ) -> [AttentionItem] {
    AttentionList(
      report: facts.report, apps: facts.apps, pushes: facts.troubled, incidents: incidents,
      moreIncidents: incidents.isEmpty ? 0 : facts.incidentCounts.open - incidents.count, now: page.now,
      late: facts.late, taken: facts.taken, stuck: facts.stuck, showsReceivers: page.may(.admin),
      schedules: facts.schedules, smokeTests: facts.smokeTests, webhooks: page.may(.admin) ? facts.webhooks : [],
      approvals: facts.approvals, blocked: blocked,
      disk: page.store.pool.lostFiles ?? page.store.pool.diskTrouble,
      proxy: page.may(.admin) ? page.request.context[UndeclaredProxies.Peer.self] : nil
    ).items(page.texts)
  }

  /// Nil where nobody can take the first steps, or did, or where something needs attention: incidents aside, because a
  /// step opens one.
  private static func firstRun(
    _ facts: Found, _ blocked: [BlockedCredential], _ page: PageContext
  ) -> FirstRunView? {
    guard let run = facts.firstRun, page.may(.operator), let simulator = page.console.simulator else { return nil }
    // Before the phone is read: what changes meanwhile is another event.
    let changes = simulator.phones.changeCount
    guard let phone = FirstRun.phone(simulator),
      let app = facts.apps.first(where: { $0.app.bundleID == phone.topic })?.app,
      attention(facts, blocked, incidents: [], page).isEmpty
    else { return nil }
    let texts = page.texts
    return FirstRunView(
      phone: PhoneCard(phone, app: app, device: nil, channels: [], texts: texts, now: page.now),
      hello: FirstRunStep(run.hello, isNext: true, texts),
      uninstall: FirstRunStep(run.uninstall, isNext: run.hello != nil, texts), changes: changes)
  }

  /// Nil for those who cannot send, after the first push, and where something needs attention.
  private static func setUp(_ facts: Found, _ blocked: [BlockedCredential], _ page: PageContext) -> SetUpView? {
    guard facts.firstRun != nil, facts.pushes.isEmpty, page.may(.operator),
      attention(facts, blocked, incidents: facts.incidents.items, page).isEmpty
    else { return nil }
    return SetUpView(apps: facts.apps, hasFiles: !facts.report.findings.isEmpty)
  }

  private static func view(_ facts: Found, _ blocked: [BlockedCredential], _ page: PageContext) -> OverviewView {
    let texts = page.texts
    let held = blocked.pushes
    return OverviewView(
      attention: attention(facts, blocked, incidents: facts.incidents.items, page),
      snoozed: facts.incidentCounts.snoozed,
      pushes: facts.pushes.map { listed in
        PushRow(
          listed, app: facts.app(listed.push.appID), texts: texts, now: page.now,
          isBlocked: held.contains(listed.push.id))
      },
      chart: SendChart(sums: facts.sums, receipts: facts.receipts, firstDay: facts.firstDay, days: days).view(texts),
      apps: facts.apps.flatMap { app in Environment.allCases.map { AppHealth(app, $0, texts, now: page.now) } })
  }
}

/// The state of a credential as a word and a color.
struct CredentialState {
  let credential: Credential?
  let days: Int?
  let band: Expiry.Band

  init(_ credential: Credential?, now: Date) {
    self.credential = credential
    days = Expiry.daysLeft(notAfter: credential?.certificateNotAfter, now: now)
    band = Expiry.band(notBefore: nil, notAfter: credential?.certificateNotAfter, now: now)
  }

  var isFailed: Bool { credential?.health == .refused || band == .expired }
  var isSoon: Bool { band == .soon || band == .urgent }

  func text(_ texts: Texts) -> String {
    guard let credential else { return texts("credential.none") }
    // The simulator needs no key.
    var parts = credential.certificateName.map { [$0, texts.daysLeft(days)] } ?? []
    if credential.health == .refused {
      // The service is named beside it: “JPush: refused with 1004”, not “with JPush 1004”.
      let reason = credential.lastRefusal ?? ""
      let service = credential.provider.name + " "
      parts.append(
        texts(
          "credential.refused",
          ["reason": reason.hasPrefix(service) ? String(reason.dropFirst(service.count)) : reason]))
    }
    if credential.place == .simulator { parts.append(texts("credential.simulator")) }
    return parts.isEmpty ? texts("credential.none") : texts.clauses(parts)
  }
}
