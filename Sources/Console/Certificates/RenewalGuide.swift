import Certificates
import Foundation
import Mustache
import Model
import Store

/// How to renew this item, with its own names: where, with which account, what to choose, what to revoke.
struct RenewalGuide: View {
  let title: String
  let lead: String
  let steps: [RenewalStep]

  static let fields: [Field<Self>] = [
    .text("title") { $0.title },
    .text("lead") { $0.lead },
    .list("steps") { $0.steps },
  ]

  /// The guide for each kind, keyed by raw value so that a guide can precede its kind.
  private static let guides: [String: String] = [
    "apns_certificate": "push", "voip_certificate": "voip", "apple_certificate": "apple", "apns_key": "key",
    "provisioning_profile": "profile", "fcm_service_account": "service_account", "jpush_key_pair": "jpush",
    "tls_certificate": "host",
  ]

  /// The steps of each guide, with the addresses they link to.
  static let steps: [String: [(name: String, address: String?)]] = [
    "push": [
      ("request", nil), ("create", certificates), ("upload", nil), ("switch", nil), ("revoke", certificates),
    ],
    "voip": [
      ("request", nil), ("create", certificates), ("upload", nil), ("switch", nil), ("revoke", certificates),
    ],
    "apple": [("request", nil), ("create", certificates), ("upload", nil), ("revoke", certificates)],
    "key": [("create", keys), ("upload", nil), ("switch", nil), ("revoke", keys)],
    "profile": [("create", profiles), ("build", nil), ("upload", nil)],
    "service_account": [
      ("create", "https://console.cloud.google.com/iam-admin/serviceaccounts"), ("upload", nil), ("revoke", nil),
    ],
    "jpush": [("create", "https://www.jiguang.cn/dev2"), ("upload", nil)],
    "host": [("request", nil), ("create", nil), ("install", nil), ("upload", nil)],
  ]

  private static let certificates = "https://developer.apple.com/account/resources/certificates/list"
  private static let keys = "https://developer.apple.com/account/resources/authkeys/list"
  private static let profiles = "https://developer.apple.com/account/resources/profiles/list"

  /// - Parameters:
  ///   - madeBy: the Apple ID or other account that made it, if somebody noted it.
  ///   - hasRequest: whether a signing request waits for its certificate; then the first step is done.
  init?(
    _ certificate: TrackedCertificate, uses: [TrackedCertificate.Use], madeBy: String?, hasRequest: Bool, _ texts: Texts
  ) {
    guard let guide = Self.guides[certificate.details.kind], let steps = Self.steps[guide] else { return nil }
    let arguments = Self.arguments(certificate, uses, madeBy, texts)
    title = texts("guide.\(guide).title")
    lead = texts("guide.\(guide).lead", arguments)
    let done = hasRequest && steps.first?.name == "request" ? 1 : 0
    // An item that never expires is renewed only for a special reason.
    let isDue = !certificate.isReplaced && certificate.details.notAfter != nil
    self.steps = steps.enumerated().map { index, step in
      RenewalStep(
        text: texts("guide.\(guide).\(step.name)", arguments),
        detail: texts("guide.\(guide).\(step.name)_detail", arguments), address: step.address,
        state: !isDue || index > done ? "" : index < done ? "done" : "now")
    }
  }

  private static func arguments(
    _ certificate: TrackedCertificate, _ uses: [TrackedCertificate.Use], _ madeBy: String?, _ texts: Texts
  ) -> [String: String] {
    let details = certificate.details
    let own = details.topics.filter { !$0.hasSuffix(".voip") && !$0.hasSuffix(".complication") }
    let bundleID = own.first ?? details.topics.first ?? uses.first?.bundleID ?? "–"
    let environments =
      details.environments.isEmpty
      ? "–" : texts.list(details.environments.map { $0.word(texts) })
    let who =
      madeBy.map { texts("guide.as", ["who": $0]) }
      ?? texts("guide.as_unknown", ["who": certificate.uploadedBy])
    return [
      "topic": details.topics.first ?? bundleID, "app_id": bundleID,
      "topics": details.topics.isEmpty ? "–" : texts.list(details.topics),
      "team": details.teamID ?? "–", "serial": details.serial ?? "–", "key": details.keyID ?? "–",
      "name": details.name, "environments": environments, "who": who,
      "date": details.notAfter.map(texts.day) ?? texts("certificates.never"),
      "days": String(Int(TrackedCertificate.undoTime / 86_400)),
    ]
  }
}

/// One step of a ``RenewalGuide``.
struct RenewalStep: View {
  let text: String
  let detail: String
  let address: String?
  /// The CSS class: `done`, `now`, or empty.
  let state: String

  static let fields: [Field<Self>] = [
    .text("text") { $0.text },
    .text("detail") { $0.detail },
    .optional("address") { $0.address },
    .text("state") { $0.state },
  ]
}
