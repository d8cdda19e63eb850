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
    package let planned: Forecast.Needs
    package init(item: TrackedExpiry, uses: [TrackedCertificate.Use], planned: Forecast.Needs = .init()) {
      self.item = item
      self.uses = uses
      self.planned = planned
    }
  }

  let entries: [Entry]
  let texts: MailTexts.Language
  let zone: TimeZone
  let address: String?
  let identifier: String
  let now: Date
  let isTest: Bool

  /// - Parameters:
  ///   - entries: the most urgent first; empty: a test message.
  ///   - address: the beginning of links; nil: no links.
  package init(
    _ entries: [Entry], texts: MailTexts.Language, zone: TimeZone, address: String?, identifier: String, now: Date
  ) {
    self.entries = entries
    self.texts = texts
    self.zone = zone
    self.address = address.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.identifier = identifier
    self.now = now
    isTest = entries.isEmpty
  }

  var subject: String {
    guard let first = entries.first else { return texts("test.subject") }
    let arguments = ["name": first.item.name, "left": left(first.item)]
    return entries.count == 1
      ? texts("subject.one", arguments)
      : texts("subject.other", arguments.merging(["count": "\(entries.count)"]) { $1 })
  }

  var lead: String { isTest ? texts("test.lead") : texts("lead", count: entries.count) }

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
        "year": "\(parts.year ?? 0)", "month": two(parts.month), "day": two(parts.day),
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
    return facts.compactMap { label, value in value.map { (texts("facts.\(label)"), $0) } }
  }

  /// How to renew it, in one or two sentences.
  func renewal(_ item: TrackedExpiry) -> String {
    texts.known("renew.\(item.kind.rawValue)") ?? texts("renew.other")
  }

  private func line(_ label: String, _ value: String) -> String { texts("fact", ["label": label, "value": value]) }

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
      "footer": .string(texts("footer")), "home": .string(address.map { $0 + "/certificates" } ?? ""),
      "test": .bool(isTest), "test_text": .string(isTest ? texts("test.text") : ""),
      "items": .list(
        entries.map { entry in
          let tone = tone(entry.item)
          return [
            "name": .string(entry.item.name), "left": .string(left(entry.item)), "bad": .bool(tone == "bad"),
            "soon": .bool(tone == "soon"), "calm": .bool(tone == "calm"), "link": .string(link(entry.item) ?? ""),
            "renewal": .string(renewal(entry.item)),
            "renewal_line": .string(line(texts("renew_title"), renewal(entry.item))),
            "facts": .list(
              facts(entry).map { label, value in
                ["label": .string(label), "value": .string(value), "line": .string(line(label, value))]
              }),
          ]
        }),
    ]
  }

  var chat: ChatMessage {
    ChatMessage(
      title: subject, lead: isTest ? texts("test.text") : lead,
      items: entries.map { entry in
        ChatMessage.Item(
          heading: line(entry.item.name, left(entry.item)),
          lines: facts(entry).map { line($0.label, $0.value) } + [renewal(entry.item)],
          link: link(entry.item), linkText: texts("open"))
      }, more: texts("more"), json: json, identifier: identifier)
  }

  private var planned: [String: Forecast.Needs] {
    Dictionary(entries.compactMap { entry in entry.item.key.map { ($0, entry.planned) } }) { first, _ in first }
  }

  /// The body for the generic webhook.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("type", isTest ? "test" : "reminder")
      json.member("id", identifier)
      json.member("at", now)
      json.member("subject", subject)
      json.member("language", texts.code)
      let report = ExpiryReport(entries.map(\.item), planned: planned, now: now)
      json.array("items", report.findings) { json, finding in
        json.object { json in
          finding.writeMembers(to: &json)
          json.member("url", link(finding.item))
        }
      }
    }
    return json.bytes
  }
}
