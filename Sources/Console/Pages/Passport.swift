import Certificates
import Foundation
import Mustache
import OpenSSL
import Push
import Store

/// What a certificate, key or profile says of itself.
struct Passport {
  private let kind: CertificateKind?
  private let environments: [Environment]
  private let topics: [(name: String, kinds: [String])]
  private let notBefore: Date?
  private let notAfter: Date?
  private let canSend: Bool
  private let warnings: (Date) -> [FileWarning]
  private var facts: [(name: String, value: String?, isMono: Bool, date: Date?)] = []

  /// Of a file that was just opened.
  init(_ file: InspectedFile) {
    kind = file.kind
    environments = file.environments
    topics = file.topics.map { ($0.name, $0.kinds) }
    (notBefore, notAfter, canSend) = (file.notBefore, file.notAfter, file.canSend)
    warnings = { file.warnings(now: $0) }
    add("team", file.teamID, mono: true)
    add("key_id", file.keyID, mono: true)
    add("app_id", file.profile?.appID, mono: true)
    add("distribution", file.profile?.distribution.rawValue.replacing("_", with: " "))
    add("devices", file.profile.map { $0.deviceCount.grouped })
    add("subject", file.summary?.subject)
    add("issuer", file.summary?.issuer)
    add("serial", file.summary?.serial, mono: true)
    add("sha256", file.sha256, mono: true)
    addDates()
    if file.kind != .provisioningProfile { addKey(file.privateKey != nil) }
    add("format", file.format.rawValue)
  }

  /// Of a file that is kept.
  init(_ certificate: TrackedCertificate) {
    let details = certificate.details
    // The chain that is kept beside the sealed key says more than the columns: what each topic is for, and warnings.
    let chain = details.publicPEM.flatMap { pem in
      try? CertificateFile.inspect(data: Data(pem.utf8))  // without it the columns must do
    }
    kind = CertificateKind(rawValue: details.kind)
    environments = details.environments
    topics = chain.map { $0.topics.map { ($0.name, $0.kinds) } } ?? details.topics.map { ($0, []) }
    (notBefore, notAfter) = (details.notBefore, details.notAfter)
    canSend = details.hasPrivateKey && (kind == .apnsKey || kind?.isForAPNs == true)
    warnings = { now in
      // What is kept beside the key has no key in it.
      chain?.warnings(now: now).filter { $0 != .noPrivateKey || !details.hasPrivateKey } ?? []
    }
    add("team", details.teamID, mono: true)
    add("key_id", details.keyID, mono: true)
    add("subject", details.subject)
    add("issuer", details.issuer)
    add("serial", details.serial, mono: true)
    add("sha256", details.sha256, mono: true)
    addDates()
    if kind != .provisioningProfile { addKey(details.hasPrivateKey) }
  }

  private mutating func add(_ name: String, _ value: String?, mono: Bool = false, date: Date? = nil) {
    facts.append((name, value, mono, date))
  }

  private mutating func addDates() {
    add("not_before", notBefore?.utcText, date: notBefore)
    add("not_after", notAfter?.utcText, date: notAfter)
  }

  private mutating func addKey(_ isThere: Bool) { add("private_key", isThere ? "key_matches" : "key_missing") }

  func value(_ texts: Texts, now: Date) -> Value {
    let band = Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now)
    let warnings = warnings(now)
    let shown = facts.filter { $0.value?.isEmpty == false }
    return [
      "band": .string(band.rawValue), "band_text": .string(texts("band.\(band.rawValue)")),
      "sentence": .string(sentence(texts)), "life": life(texts, now: now),
      "facts": .list(
        [fact(texts, "kind", texts("certificates.kinds.\(kind?.rawValue ?? "tls_certificate")"))]
          + (environments.isEmpty
            ? [] : [fact(texts, "environments", environments.map { $0.word(texts) }.joined(separator: ", "))])
          + shown.map { name, value, isMono, date in
            fact(
              texts, name, name == "private_key" ? texts("certificates.\(value ?? "")") : value ?? "", mono: isMono,
              date: date)
          }),
      "any_topics": .bool(!topics.isEmpty),
      "topics": .list(
        topics.map { ["name": .string($0.name), "kinds": .string($0.kinds.joined(separator: ", "))] }),
      "any_warnings": .bool(!warnings.isEmpty),
      "warnings": .list(
        warnings.map { warning in
          let isGrave =
            switch warning {
            case .expired, .signatureBroken: true
            default: false
            }
          return [
            "failed": .bool(isGrave),
            "severity_text": .string(texts(isGrave ? "certificates.error" : "certificates.note")),
            "message": .string(texts.text(warning.problem)),
          ]
        }),
    ]
  }

  private func fact(
    _ texts: Texts, _ name: String, _ value: String, mono: Bool = false, date: Date? = nil
  ) -> Value {
    [
      "label": .string(texts("certificates.\(name)")), "value": .string(value), "mono": .bool(mono),
      "datetime": .string(date.map(Timestamp.text) ?? ""),
    ]
  }

  private func sentence(_ texts: Texts) -> String {
    let name = texts("certificates.kinds.\(kind?.rawValue ?? "tls_certificate")")
    guard canSend else { return texts("certificates.sentence_watch", ["kind": name]) }
    let shown =
      kind == .apnsKey
      ? texts("certificates.every_topic")
      : topics.count <= 2
        ? topics.map(\.name).joined(separator: ", ")
        : texts("certificates.topics_more", ["first": topics[0].name, "count": (topics.count - 1).grouped])
    let places = environments.isEmpty ? Environment.allCases : environments
    return texts(
      "certificates.sentence_sends",
      ["kind": name, "topics": shown, "environments": places.map { $0.word(texts) }.joined(separator: ", ")])
  }

  private func life(_ texts: Texts, now: Date) -> Value {
    guard let notBefore, let notAfter, let left = Expiry.daysLeft(notAfter: notAfter, now: now), left >= 0 else {
      return false
    }
    let total = max(1, Expiry.daysLeft(notAfter: notAfter, now: notBefore) ?? 1)
    return [
      "total": .integer(Int64(total)), "left": .integer(Int64(min(left, total))),
      "low": .integer(Int64(min(Expiry.urgentDays, total))), "high": .integer(Int64(min(Expiry.warningDays, total))),
      "text": .string(texts("certificates.life", ["left": left.grouped, "total": total.grouped])),
    ]
  }
}
