import Certificates
import Foundation
import JSON
import Mustache
import OpenSSL
import Model
import Store

/// The contents of a certificate, key or profile, the same for an opened file and for a stored one.
struct FileDetails {
  private let kind: CertificateKind?
  private let environments: [Environment]
  private let topics: [(name: String, kinds: [String])]
  private let notBefore: Date?
  private let notAfter: Date?
  private let canSend: Bool
  private let warnings: (Date) -> [FileWarning]
  private let says: JSONValue

  /// Describes a file that was just opened.
  ///
  /// - Parameters:
  ///   - keyID: the key ID typed with the file.
  ///   - teamID: the team ID typed with it.
  init(_ file: CertificateFile, keyID: String? = nil, teamID: String? = nil) {
    kind = file.kind
    environments = file.environments
    topics = file.topics.map { ($0.name, $0.kinds) }
    (notBefore, notAfter, canSend) = (file.notBefore, file.notAfter, file.canSend)
    warnings = { file.warnings(now: $0, keyID: keyID) }
    // What the file itself says wins.
    let typed = ["key_id": keyID, "team_id": teamID].compactMapValues { $0.map(JSONValue.string) }
    says = .object(typed.merging((file.facts.object ?? [:]).filter { $0.value != .null }) { $1 })
  }

  /// Describes a stored file.
  init(_ certificate: TrackedCertificate, _ contents: CertificateContents?) {
    let details = certificate.details
    // The stored chain says more than the columns: what each topic is for, and warnings.
    let chain = details.publicPEM.flatMap { pem in
      // Without a readable chain, the columns are used.
      try? CertificateFile.inspect(data: Data(pem.utf8), take: details.sha256)
    }
    kind = CertificateKind(rawValue: details.kind)
    environments = details.environments
    topics = chain.map { $0.topics.map { ($0.name, $0.kinds) } } ?? details.topics.map { ($0, []) }
    (notBefore, notAfter) = (details.notBefore, details.notAfter)
    canSend = details.hasPrivateKey && (kind?.neverExpires == true || kind?.isForAPNs(details.topics) == true)
    warnings = { now in
      // The stored chain has no key, and the choice among several certificates was made at the upload.
      (chain?.warnings(now: now) ?? []).filter { warning in
        if case .severalCertificates = warning { return false }
        return warning != .noPrivateKey || !details.hasPrivateKey
      }
    }
    let said = contents.flatMap { $0.says == .null ? nil : $0.says } ?? chain?.facts ?? [:]
    // The columns win: they include what was typed at the upload.
    let columns: [String: JSONValue] = [
      "kind": .string(details.kind), "team_id": .optional(details.teamID), "key_id": .optional(details.keyID),
      "sha256": .optional(details.sha256), "has_private_key": .bool(details.hasPrivateKey),
    ]
    says = .object((said.object ?? [:]).merging(columns) { $1 })
  }

  func view(_ texts: Texts, now: Date) -> FileDetailsView {
    let band = Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now)
    return FileDetailsView(
      band: band, canSend: canSend, state: texts("band.\(band.rawValue)"), sentence: sentence(texts),
      lifetime: Lifetime(notBefore: notBefore, notAfter: notAfter, now: now),
      facts: FileDetailRows(says, kind: kind, environments: environments).rows(texts),
      topics: topics.map { TopicRow(name: $0.name, kinds: Self.sends($0.name, $0.kinds, kind, texts)) },
      warnings: warnings(now).map { warning in
        let isGrave =
          switch warning {
          case .expired, .signatureBroken, .neverValid: true
          default: false
          }
        return FindingRow(
          level: isGrave ? .stop : .warn, label: texts(isGrave ? "certificates.error" : "certificates.note"),
          text: texts.text(warning.problem))
      })
  }

  /// The push types for a topic, and how the certificate lists it, for example `alert, background (app)`.
  private static func sends(_ topic: String, _ kinds: [String], _ kind: CertificateKind?, _ texts: Texts) -> String {
    let listed = texts.list(kinds)
    guard kind?.isForAPNs == true else { return listed }
    let special = PushType.allCases.filter { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    let types = special.isEmpty ? [PushType.alert, .background] : special.filter { $0 != .location }
    let names = texts.list(types.map(\.rawValue))
    return listed.isEmpty || listed == names ? names : texts.noted(names, listed)
  }

  private func sentence(_ texts: Texts) -> String {
    let name = texts("certificates.kinds.\(kind?.rawValue ?? "tls_certificate")")
    switch kind {
    case .fcmServiceAccount:
      return texts("certificates.sentence_fcm", ["project": says["service_account"]?["project_id"]?.string ?? "–"])
    case .jpushKeyPair: return texts("certificates.sentence_jpush", ["key": says["key_id"]?.string ?? "–"])
    default: break
    }
    guard canSend, kind == .apnsKey || !topics.isEmpty else {
      return texts("certificates.sentence_watch", ["kind": name])
    }
    let shown =
      kind == .apnsKey
      ? texts("certificates.every_topic")
      : topics.count <= 2
        ? texts.list(topics.map(\.name))
        : texts("certificates.topics_more", count: topics.count - 1, ["first": topics[0].name])
    let places = environments.isEmpty ? Environment.allCases : environments
    return texts(
      "certificates.sentence_sends",
      ["kind": name, "topics": shown, "environments": texts.list(places.map { $0.word(texts) })])
  }
}

/// The view of ``FileDetails``, for `certificates/_details` and `certificates/_warnings`.
struct FileDetailsView: View {
  let band: Expiry.Band
  /// Whether pushes can be sent with it.
  let canSend: Bool
  /// The word for the band.
  let state: String
  let sentence: String
  let lifetime: Lifetime?
  let facts: [FactView]
  let topics: [TopicRow]
  let warnings: [FindingRow]

  static let fields: [Field<Self>] = [
    .text("tone") { $0.band.tone },
    .text("state") { $0.state },
    .text("sentence") { $0.sentence },
    .view("lifetime") { $0.lifetime },
    .list("facts") { $0.facts },
    .list("topics") { $0.topics },
    .flag("has_topics") { !$0.topics.isEmpty },
    .list("warnings") { $0.warnings },
    .flag("has_warnings") { !$0.warnings.isEmpty },
  ]
}

/// The remaining part of the validity, in days.
struct Lifetime: View {
  let left: Int
  let total: Int

  /// Nil without a start or an end, and after expiry.
  init?(notBefore: Date?, notAfter: Date?, now: Date) {
    guard let notBefore, let notAfter, let left = Expiry.daysLeft(notAfter: notAfter, now: now), left >= 0 else {
      return nil
    }
    total = max(1, Expiry.daysLeft(notAfter: notAfter, now: notBefore) ?? 1)
    self.left = min(left, total)
  }

  static let fields: [Field<Self>] = [
    .number("left") { $0.left },
    .number("total") { $0.total },
    .written("width") { $1.write(hundredths: 10_000 * $0.left / $0.total) },
    .flag("red") { $0.left <= Expiry.urgentDays },
    .flag("amber") { $0.left > Expiry.urgentDays && $0.left <= Expiry.warningDays },
    .flag("fine") { $0.left > Expiry.warningDays },
  ]
}

/// A topic and what may be sent to it.
struct TopicRow: View {
  let name: String
  let kinds: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("kinds") { $0.kinds }]
}

extension Expiry.Band {
  /// The CSS class of its dot and words.
  var tone: String {
    switch self {
    case .expired, .urgent: "red"
    case .soon: "amber"
    case .notYetValid: "none"
    case .fine, .neverExpires: ""
    }
  }
}
