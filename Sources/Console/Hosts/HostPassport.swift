import Calendar
import Certificates
import Foundation
import JSON
import Mustache
import Model
import Store

/// What is known of a watched host, for its page.
struct HostPassport {
  private let host: WatchedHost
  private let now: Date

  init(_ host: WatchedHost, now: Date) { (self.host, self.now) = (host, now) }

  func members(_ texts: Texts) -> [String: Value] {
    let findings = HostFinding.all(host, now: now)
    let isBlind = HostFinding.blindness(host, now: now) != nil
    let band = Expiry.band(notBefore: host.seen?.notBefore, notAfter: host.seen?.notAfter, now: now)
    let days = Expiry.daysLeft(notAfter: host.seen?.notAfter, now: now)
    return [
      "band": .string(host.seen == nil ? "unknown" : band.rawValue),
      "band_text": .string(texts(host.seen == nil ? "expiry.failing" : "band.\(band.rawValue)")),
      "failing": .bool(isBlind), "failing_text": .string(texts("expiry.failing")),
      "sentence": .string(
        host.seen == nil ? texts("hosts.nothing_seen") : texts("hosts.sentence", ["left": texts.daysLeft(days)])),
      "facts": .list(facts(texts)), "any_findings": .bool(!findings.isEmpty),
      "findings": .list(
        findings.map {
          [
            "failed": .bool($0.isGrave),
            "severity_text": .string(texts($0.isGrave ? "certificates.error" : "certificates.note")),
            "message": .string(texts.text($0.problem)),
          ]
        }),
      "any_chain": .bool(host.seen != nil),
      "chain": .list(
        (host.seen?.chain ?? []).map { link in
          [
            "name": .string(link.subject), "sha256": .string(link.sha256),
            "not_after": .string(Timestamp.text(link.notAfter)), "not_after_text": .string(link.notAfter.utcText),
            "first_to_end": .bool(host.seen.map { $0.ends == link && $0.chain.first != link } ?? false),
          ]
        }),
    ]
  }

  private func facts(_ texts: Texts) -> [Value] {
    let seen = host.seen
    var facts: [Value] = []
    func add(_ name: String, _ value: String?, mono: Bool = false, date: Date? = nil) {
      guard let value, !value.isEmpty else { return }
      facts.append([
        "label": .string(texts("hosts.facts.\(name)")), "value": .string(value), "mono": .bool(mono),
        "datetime": .string(date.map(Timestamp.text) ?? ""),
      ])
    }
    func date(_ name: String, _ date: Date?) { add(name, date?.utcText, date: date) }
    add("address", "\(host.address)", mono: true)
    add("protocol", texts("hosts.protocols.\(host.address.startProtocol.rawValue)"))
    add("server_name", host.address.serverName, mono: true)
    date("probed", host.probedAt)
    date("answered", host.answeredAt)
    date("failing_since", host.failingSince)
    add("reached", seen.map { "\($0.address), \($0.tlsVersion)" })
    date("not_before", seen?.notBefore)
    date("not_after", seen?.notAfter)
    add("names", seen?.names.joined(separator: ", "), mono: true)
    add("subject", seen?.subject)
    add("issuer", seen?.issuer)
    add("serial", seen?.serial, mono: true)
    add("sha256", seen?.sha256, mono: true)
    add("added", texts("hosts.added_by", ["name": host.createdBy, "date": host.createdAt.utcText]))
    add("note", host.note)
    return facts
  }

  static func event(_ event: HostEvent, _ texts: Texts) -> Value {
    let detail: [String?] = [
      event.sha256, event.serial.map { texts("needs.serial", ["serial": $0]) }, event.issuer,
      event.notAfter.map { texts("hosts.until", ["date": $0.utcText]) },
      event.failure.map { texts.text($0.problem) },
    ]
    return [
      "at": .string(Timestamp.text(event.at)), "at_text": .string(event.at.utcText),
      "text": .string(texts("hosts.events.\(event.kind.rawValue)")), "failed": .bool(event.kind == .failed),
      "detail": .string(detail.compactMap { $0 }.joined(separator: " · ")),
    ]
  }
}
