import Certificates
import Foundation
import JSON
import Mustache
import Model
import Store

/// How this very item is renewed, with its own names: where, as whom, what to choose there, what to revoke.
struct RenewalGuide {
  private let details: TrackedCertificate.Details
  private let uploadedBy: String
  private let madeBy: String?
  private let uses: [TrackedCertificate.Use]

  /// - Parameter madeBy: the Apple ID, or other account, with which it was made, if somebody noted it.
  init(_ certificate: TrackedCertificate, uses: [TrackedCertificate.Use], madeBy: String? = nil) {
    details = certificate.details
    uploadedBy = certificate.uploadedBy
    self.uses = uses
    self.madeBy = madeBy
  }

  /// Which guide each kind has; kinds by their raw values, so that one that is added later has its guide at once.
  private static let guides: [String: String] = [
    "apns_certificate": "push", "voip_certificate": "voip", "apple_certificate": "apple", "apns_key": "key",
    "provisioning_profile": "profile", "fcm_service_account": "service_account", "jpush_key_pair": "jpush",
    "tls_certificate": "host",
  ]

  /// The steps of each guide; with the addresses that they lead to.
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

  func value(_ texts: Texts) -> Value {
    guard let guide = Self.guides[details.kind], let steps = Self.steps[guide] else { return false }
    let arguments = arguments(texts)
    return [
      "title": .string(texts("guide.\(guide).title")), "lead": .string(texts("guide.\(guide).lead", arguments)),
      "steps": .list(
        steps.map { step in
          [
            "text": .string(texts("guide.\(guide).\(step.name)", arguments)),
            "detail": .string(texts("guide.\(guide).\(step.name)_detail", arguments)),
            "address": .string(step.address ?? ""),
          ]
        }),
    ]
  }

  private func arguments(_ texts: Texts) -> [String: String] {
    let own = details.topics.filter { !$0.hasSuffix(".voip") && !$0.hasSuffix(".complication") }
    let bundleID = own.first ?? details.topics.first ?? uses.first?.bundleID ?? "–"
    let environments =
      details.environments.isEmpty
      ? "–" : details.environments.map { $0.word(texts) }.joined(separator: ", ")
    let who = madeBy.map { texts("guide.as", ["who": $0]) } ?? texts("guide.as_unknown", ["who": uploadedBy])
    return [
      "topic": details.topics.first ?? bundleID, "app_id": bundleID,
      "topics": details.topics.isEmpty ? "–" : details.topics.joined(separator: ", "),
      "team": details.teamID ?? "–", "serial": details.serial ?? "–", "key": details.keyID ?? "–",
      "name": details.name, "environments": environments, "who": who,
      "date": details.notAfter?.dayText ?? texts("certificates.never"),
      "days": String(Int(TrackedCertificate.undoTime / 86_400)),
    ]
  }
}
