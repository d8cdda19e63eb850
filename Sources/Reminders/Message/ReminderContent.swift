package import Certificates
package import Foundation
import JSON
internal import Mail
internal import Mustache
internal import Model
package import Store

/// The content of a reminder in one language, before it is rendered for mail or chat.
package struct ReminderContent: Sendable {
  /// An expiring thing, and what depends on it.
  package struct Entry: Sendable {
    package let item: TrackedExpiry
    /// The apps and environments that use it.
    package let uses: [TrackedCertificate.Use]
    /// The pushes that will be sent with it.
    package let planned: Forecast.Plan
    package init(item: TrackedExpiry, uses: [TrackedCertificate.Use], planned: Forecast.Plan = .init()) {
      self.item = item
      self.uses = uses
      self.planned = planned
    }
  }

  /// An incident that opened or closed.
  package struct Notice: Sendable {
    let incident: Incident
    /// The app's name.
    let app: String
    /// When it closed; nil: it is open.
    var closedAt: Date? { incident.closedAt }
    /// The group of its texts.
    var words: String { closedAt == nil ? "incident" : "incident.end" }

    package init(_ incident: Incident, app: String) { (self.incident, self.app) = (incident, app) }
  }

  let entries: [Entry]
  /// Nil: it is about the entries.
  let notice: Notice?
  /// Nil: it is about something else.
  let request: Request?
  let texts: MailTexts.Language
  let zone: TimeZone
  let address: String?
  let identifier: String
  let now: Date
  let isTest: Bool

  /// - Parameters:
  ///   - entries: the most urgent first; empty without a notice or request: a test message.
  ///   - address: the beginning of links; nil: no links.
  package init(
    _ entries: [Entry], notice: Notice? = nil, request: Request? = nil, texts: MailTexts.Language, zone: TimeZone,
    address: String?, identifier: String, now: Date
  ) {
    self.entries = entries
    self.notice = notice
    self.request = request
    self.texts = texts
    self.zone = zone
    self.address = address.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.identifier = identifier
    self.now = now
    isTest = entries.isEmpty && notice == nil && request == nil
  }

  var subject: String {
    if let request { return texts("approval.\(request.approval.subject.noun)", ["app": request.app]) }
    if let notice {
      return texts("\(notice.words).subject", ["app": notice.app, "reason": notice.incident.cause.reason])
    }
    guard let first = entries.first else { return texts("test.subject") }
    let arguments = ["name": first.item.name, "left": left(first.item)]
    return entries.count == 1
      ? texts("subject.one", arguments)
      : texts("subject.other", arguments.merging(["count": "\(entries.count)"]) { $1 })
  }

  var lead: String {
    if let request { return texts("approval.lead", ["name": request.approval.asker.name]) }
    if let notice {
      return notice.closedAt == nil || notice.incident.hasHealed
        ? texts("\(notice.words).lead")
        : texts("incident.end.by_person", ["name": notice.incident.closedBy ?? ""])
    }
    return isTest ? texts("test.lead") : texts("lead", count: entries.count)
  }

  func left(_ item: TrackedExpiry) -> String {
    guard let days = item.daysLeft(now: now) else { return "" }
    switch days {
    case ..<0: return texts("left.expired")
    case 0: return texts("left.today")
    default: return texts("left.days", count: days)
    }
  }

  func day(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
    func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
    let zone = zone.identifier == "GMT" ? "UTC" : zone.identifier
    return texts(
      "date",
      [
        "year": "\(parts.year ?? 0)", "month": texts("months.\(parts.month ?? 1)"), "day": "\(parts.day ?? 0)",
        "time": "\(two(parts.hour)):\(two(parts.minute))", "zone": zone,
      ])
  }

  func link(_ item: TrackedExpiry) -> String? {
    guard let address, let key = item.key else { return nil }
    return "\(address)/\(key)"
  }

  /// Label and value of each known fact.
  func facts(_ entry: Entry) -> [(label: String, value: String)] {
    let item = entry.item
    var facts: [(String, String?)] = [
      ("kind", texts.known("kinds.\(item.kind.rawValue)") ?? item.kind.rawValue), ("app", item.app),
      ("topics", item.topics.isEmpty ? nil : item.topics.joined(separator: texts("between.words"))),
      (
        "environments",
        item.environments.isEmpty
          ? nil
          : item.environments.map { texts("environments.\($0.rawValue)") }
            .joined(separator: texts("between.words"))
      ), ("serial", item.serial), ("until", item.notAfter.map(day)), ("ending_issuer", item.endingIssuer),
    ]
    if !entry.uses.isEmpty {
      let uses = entry.uses.map { use in
        texts(
          "use", count: use.activeDevices,
          ["app": use.bundleID, "environment": texts("environments.\(use.environment.rawValue)")])
      }
      facts.append(("depends", uses.joined(separator: texts("between.phrases"))))
    }
    let missed = Forecast.missed(entry.planned.pushes, notAfter: item.notAfter)
    if let first = missed.first {
      facts.append(("scheduled", texts("scheduled", count: missed.count, ["date": day(first.sendAt)])))
    }
    let overruns = Forecast.overruns(entry.planned.schedules, notAfter: item.notAfter, now: now)
    if let first = overruns.first {
      facts.append(("repeating", texts("repeating", count: overruns.count, ["date": day(first.first)])))
    }
    return facts.compactMap { label, value in value.map { (texts("details.\(label)"), $0) } }
  }

  private func link(_ notice: Notice) -> String? { address.map { "\($0)/incidents/\(notice.incident.id)" } }

  private func facts(_ notice: Notice) -> [(label: String, value: String)] {
    let place = notice.incident.place
    return [
      (texts("details.app"), notice.app),
      (texts("details.environments"), texts("environments.\(place.environment.rawValue)")),
      (texts("incident.provider"), place.provider.name), (texts("incident.since"), day(notice.incident.openedAt)),
    ]
      + [
        notice.closedAt.map { (texts("incident.end.at"), day($0)) },
        notice.closedAt.flatMap { _ in notice.incident.remark.map { (texts("incident.end.remark"), $0) } },
      ].compactMap { $0 }
  }

  private func missed(_ notice: Notice) -> String {
    texts("\(notice.words).devices", count: notice.incident.devices)
  }

  private func means(_ notice: Notice) -> String { texts("\(notice.words).means") }

  /// How to renew it, in one or two sentences.
  func renewal(_ item: TrackedExpiry) -> String {
    texts.known("renew.\(item.kind.rawValue)") ?? texts("renew.other")
  }

  func line(_ label: String, _ value: String) -> String { texts("fact", ["label": label, "value": value]) }

  private func tone(_ item: TrackedExpiry) -> String {
    switch item.band(now: now) {
    case .expired, .urgent: "bad"
    case .soon, .notYetValid: "soon"
    case .fine, .neverExpires: "calm"
    }
  }

  /// The data for mail templates.
  var value: Value {
    [
      "t": texts.value, "lang": .string(texts.code), "subject": .string(subject), "lead": .string(lead),
      "footer": .string(texts(request != nil ? "approval.footer" : notice != nil ? "incident.footer" : "footer")),
      "home": .string(notice == nil && request == nil ? address.map { $0 + "/certificates" } ?? "" : ""),
      "test": .bool(isTest), "test_text": .string(isTest ? texts("test.text") : ""),
      "items": .list(items),
    ]
  }

  /// The items of the templates: what expires, an incident, or a request for approval.
  private var items: [Value] {
    if let request { return [rendered(request)] }
    guard let notice else { return entries.map(rendered) }
    return [
      [
        "name": .string(notice.incident.cause.reason), "left": .string(missed(notice)),
        "bad": .bool(notice.closedAt == nil),
        "soon": .bool(false), "calm": .bool(notice.closedAt != nil), "link": .string(link(notice) ?? ""),
        "renewal": .string(means(notice)), "renewal_title": .string(texts("\(notice.words).next")),
        "renewal_line": .string(line(texts("\(notice.words).next"), means(notice))),
        "facts": .list(facts(notice).map(rendered)),
      ]
    ]
  }

  func rendered(_ fact: (label: String, value: String)) -> Value {
    [
      "label": .string(fact.label), "value": .string(fact.value), "line": .string(line(fact.label, fact.value)),
    ]
  }

  private func rendered(_ entry: Entry) -> Value {
    let tone = tone(entry.item)
    return [
      "name": .string(entry.item.name), "left": .string(left(entry.item)), "bad": .bool(tone == "bad"),
      "soon": .bool(tone == "soon"), "calm": .bool(tone == "calm"), "link": .string(link(entry.item) ?? ""),
      "renewal": .string(renewal(entry.item)), "renewal_title": .string(texts("renew_title")),
      "renewal_line": .string(line(texts("renew_title"), renewal(entry.item))),
      "facts": .list(facts(entry).map(rendered)),
    ]
  }

  var chat: ChatMessage {
    if let notice {
      let item = ChatMessage.Item(
        heading: line(notice.incident.cause.reason, missed(notice)),
        lines: facts(notice).map { line($0.label, $0.value) } + [means(notice)], link: link(notice),
        linkText: texts("open"))
      return ChatMessage(
        title: subject, lead: lead, items: [item], more: texts("more"), json: json, identifier: identifier)
    }
    return ChatMessage(
      title: subject, lead: isTest ? texts("test.text") : lead,
      items: entries.map { entry in
        ChatMessage.Item(
          heading: line(entry.item.name, left(entry.item)),
          lines: facts(entry).map { line($0.label, $0.value) } + [renewal(entry.item)],
          link: link(entry.item), linkText: texts("open"))
      }, more: texts("more"), json: json, identifier: identifier)
  }

  private var planned: [String: Forecast.Plan] {
    Dictionary(entries.compactMap { entry in entry.item.key.map { ($0, entry.planned) } }) { first, _ in first }
  }

  /// The body for the generic webhook.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("type", notice != nil ? "incident" : isTest ? "test" : "reminder")
      json.member("id", identifier)
      json.member("at", now)
      json.member("subject", subject)
      json.member("language", texts.code)
      if let notice {
        let incident = notice.incident
        json.object("incident") { json in
          json.member("id", incident.id)
          json.member("environment", incident.place.environment.rawValue)
          json.member("provider", incident.place.provider.rawValue)
          json.member("reason", incident.cause.reason)
          json.member("devices", incident.devices)
          json.member("opened_at", incident.openedAt)
          json.member("closed_at", notice.closedAt)
          json.member("closed_by", notice.closedAt == nil ? nil : incident.closedBy)
          json.member("url", link(notice))
        }
        return
      }
      let report = ExpiryReport(entries.map(\.item), planned: planned, now: now)
      json.objects("items", report.findings) { json, finding in
        finding.writeMembers(to: &json)
        json.member("url", link(finding.item))
      }
    }
    return json.bytes
  }
}
