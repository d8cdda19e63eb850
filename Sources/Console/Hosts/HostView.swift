import Calendar
import Certificates
import Foundation
import Mustache
import Model
import Store

/// `/hosts/:id`: a watched host, the certificate it presented, and its problems.
struct HostView: PageView {
  static let template = "hosts/show"
  static let section: Section? = .certificates

  let host: WatchedHost
  let heading: ExpiryHeading
  /// The CSS class of the state; ``state`` is its word.
  let tone: String
  let state: String
  let isFailing: Bool
  /// For example “First certificate to expire: 20 days left.”; empty if none was seen.
  let sentence: String
  /// Before the time of the expiry: whether it is past.
  let ends: String
  let findings: [FindingRow]
  let facts: [FactView]
  let reminders: RemindersView
  let history: [HostEventRow]
  let mayCheck: Bool
  let mayChange: Bool
  let form: Form
  let errors: FieldErrors
  let protocols: [ChoiceView]

  static let fields: [Field<HostView>] =
    ["host", "server_name", "note"].map { name in
      .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    } + [
      .written("id") { $1.write(Int($0.host.id)) },
      .text("title") { $0.host.name },
      .view("heading") { $0.heading },
      .text("tone") { $0.tone },
      .text("state") { $0.state },
      .flag("failing") { $0.isFailing && $0.host.seen != nil },
      .text("sentence") { $0.sentence },
      .view("expires") { $0.host.seen.flatMap { seen in seen.notAfter.map { MomentView(date: $0) } } },
      .text("ends") { $0.ends },
      .list("findings") { $0.findings },
      .flag("has_findings") { !$0.findings.isEmpty },
      .list("facts") { $0.facts },
      .list("chain") { $0.chain },
      .flag("has_chain") { !$0.chain.isEmpty },
      .view("reminders") { $0.reminders },
      .list("history") { $0.history },
      .flag("has_history") { !$0.history.isEmpty },
      .flag("may_check") { $0.mayCheck },
      .flag("may_change") { $0.mayChange },
      .view("protocol") { FieldView(error: $0.errors["protocol"], choices: $0.protocols) },
    ]

  private var chain: [ChainRow] {
    guard let seen = host.seen else { return [] }
    return seen.chain.map { ChainRow(link: $0, isFirstToEnd: seen.ends == $0 && seen.chain.first != $0) }
  }
}

extension HostView {
  init(
    _ host: WatchedHost, _ history: [HostEvent], _ reminders: ItemReminders, form: Form, errors: FieldErrors,
    _ page: PageContext
  ) {
    let (texts, now) = (page.texts, page.now)
    let band = Expiry.band(notBefore: host.seen?.notBefore, notAfter: host.seen?.notAfter, now: now)
    let days = Expiry.daysLeft(notAfter: host.seen?.notAfter, now: now)
    self.init(
      host: host, heading: ExpiryHeading(band: band, days: days, isUnknown: host.seen == nil),
      tone: host.seen == nil ? "red" : band.tone,
      state: texts(host.seen == nil ? "expiry.failing" : "band.\(band.rawValue)"),
      isFailing: HostFinding.blindness(host, now: now) != nil,
      sentence: host.seen == nil ? "" : texts("hosts.sentence", ["left": texts.daysLeft(days)]),
      ends: texts(band == .expired ? "certificates.expired_on" : "certificates.until"),
      findings: HostFinding.all(host, now: now).map {
        FindingRow(
          level: $0.isGrave ? .stop : .warn, label: texts($0.isGrave ? "certificates.error" : "certificates.note"),
          text: texts.text($0.problem))
      }, facts: Self.facts(host, texts, now: now), reminders: reminders.view(page, errors),
      history: history.map { HostEventRow($0, texts, now: now) }, mayCheck: page.may(.operator),
      mayChange: page.may(.admin), form: form, errors: errors,
      protocols: HostForm.protocols(texts, chosen: form["protocol"]))
  }

  private static func facts(_ host: WatchedHost, _ texts: Texts, now: Date) -> [FactView] {
    let seen = host.seen
    func row(_ name: String, _ value: String?, isMono: Bool = false) -> FactView? {
      FactView(texts("hosts.details.\(name)"), value, isMono: isMono)
    }
    func row(_ name: String, at date: Date?) -> FactView? { FactView(texts("hosts.details.\(name)"), at: date) }
    func row(_ name: String, since date: Date?) -> FactView? {
      FactView(texts("hosts.details.\(name)"), at: date, now: now)
    }
    let rows: [FactView?] = [
      row("address", "\(host.address)", isMono: true),
      row("protocol", texts("hosts.protocols.\(host.address.startProtocol.rawValue)")),
      row("server_name", host.address.serverName, isMono: true), row("probed", since: host.probedAt),
      row("answered", since: host.answeredAt), row("failing_since", since: host.failingSince),
      row("reached", seen.map { texts.list([$0.address, $0.tlsVersion]) }), row("not_before", at: seen?.notBefore),
      row("not_after", at: seen?.notAfter), row("names", seen.map { texts.list($0.names) }, isMono: true),
      row("subject", seen?.subject), row("issuer", seen?.issuer), row("serial", seen?.serial, isMono: true),
      row("sha256", seen?.sha256, isMono: true),
      row("added", since: host.createdAt), row("added_by", ActivityActor(host.createdBy).name(texts)),
      row("note", host.note),
    ]
    return rows.compactMap { $0 }
  }
}

/// A certificate of the chain that a host presents.
struct ChainRow: View {
  let link: HostSighting.Link
  /// Whether it expires before the host's own certificate.
  let isFirstToEnd: Bool

  static let fields: [Field<Self>] = [
    .text("name") { $0.link.subject },
    .text("sha256") { $0.link.sha256 },
    .view("expires") { MomentView(date: $0.link.notAfter) },
    .flag("first_to_end") { $0.isFirstToEnd },
    .flag("surplus") { $0.link.isSurplus },
  ]
}

/// An entry of a host's history.
struct HostEventRow: View {
  let event: HostEvent
  let text: String
  let detail: String
  let now: Date

  init(_ event: HostEvent, _ texts: Texts, now: Date) {
    let detail: [String?] = [
      event.sha256, event.serial.map { texts("attention.serial", ["serial": $0]) }, event.issuer,
      event.notAfter.map { texts("hosts.until", ["date": texts.minute($0)]) },
      event.failure.map { texts.text($0.problem) },
    ]
    self.event = event
    self.now = now
    text = texts("hosts.events.\(event.kind.rawValue)")
    self.detail = detail.compactMap { $0 }.joined(separator: " · ")
  }

  static let fields: [Field<Self>] = [
    .text("text") { $0.text },
    .text("detail") { $0.detail },
    .text("tone") { $0.event.kind == .failed ? "red" : "" },
    .view("at") { MomentView(date: $0.event.at, now: $0.now) },
  ]
}

/// `/hosts/:id/remove`: asks before the host is no longer watched.
struct HostRemovalView: PageView {
  static let template = "hosts/remove"
  static let section: Section? = .certificates

  let host: WatchedHost

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.host.id)) },
    .text("name") { $0.host.name },
  ]
}
