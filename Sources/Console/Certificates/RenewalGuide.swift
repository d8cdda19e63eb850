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

  /// The texts of a guide, as keys under `guide`.
  struct Plan: Sendable {
    let title: String
    let lead: String
    let steps: [Step]
  }

  /// The texts of one step, as keys under `guide`, and the address it links to.
  struct Step: Sendable {
    let text: String
    let detail: String
    var address: String?
  }

  /// The guide for each kind, keyed by raw value so that a guide can precede its kind.
  static let plans: [String: Plan] = [
    "apns_certificate": Plan(
      title: "renew", lead: "in_parallel",
      steps: [
        request, Step(text: "create", detail: "push.create_detail", address: certificates),
        Step(text: "upload_cer", detail: "push.upload_detail"), switching,
        Step(text: "push.revoke", detail: "push.revoke_detail", address: certificates),
      ]),
    "voip_certificate": Plan(
      title: "renew", lead: "in_parallel",
      steps: [
        request, Step(text: "create", detail: "voip.create_detail", address: certificates),
        Step(text: "upload_cer", detail: "voip.upload_detail"), switching,
        Step(text: "voip.revoke", detail: "serial", address: certificates),
      ]),
    "apple_certificate": Plan(
      title: "renew", lead: "apple.lead",
      steps: [
        request, Step(text: "apple.create", detail: "apple.create_detail", address: certificates),
        Step(text: "upload", detail: "apple.upload_detail"),
        Step(text: "apple.revoke", detail: "serial", address: certificates),
      ]),
    "apns_key": Plan(
      title: "replace", lead: "key.lead",
      steps: [
        Step(text: "key.create", detail: "key.create_detail", address: keys),
        Step(text: "key.upload", detail: "key.upload_detail"), switching,
        Step(text: "key.revoke", detail: "key.revoke_detail", address: keys),
      ]),
    "provisioning_profile": Plan(
      title: "renew", lead: "profile.lead",
      steps: [
        Step(text: "profile.create", detail: "profile.create_detail", address: profiles),
        Step(text: "profile.build", detail: "profile.build_detail"), Step(text: "upload", detail: "upload_detail"),
      ]),
    "fcm_service_account": Plan(
      title: "service_account.title", lead: "service_account.lead",
      steps: [
        Step(text: "service_account.create", detail: "service_account.create_detail", address: serviceAccounts),
        Step(text: "service_account.upload", detail: "service_account.upload_detail"),
        Step(text: "service_account.revoke", detail: "service_account.revoke_detail"),
      ]),
    "jpush_key_pair": Plan(
      title: "replace", lead: "jpush.lead",
      steps: [
        Step(text: "jpush.create", detail: "jpush.create_detail", address: "https://www.jiguang.cn/dev2"),
        Step(text: "jpush.upload", detail: "jpush.upload_detail"),
      ]),
    "tls_certificate": Plan(
      title: "renew", lead: "host.lead",
      steps: [
        Step(text: "request", detail: "host.request_detail"),
        Step(text: "host.create", detail: "host.create_detail"),
        Step(text: "host.install", detail: "host.install_detail"), Step(text: "upload", detail: "upload_detail"),
      ]),
  ]

  private static let request = Step(text: "request", detail: "request_detail")
  private static let switching = Step(text: "switch", detail: "switch_detail")

  private static let certificates = "https://developer.apple.com/account/resources/certificates/list"
  private static let keys = "https://developer.apple.com/account/resources/authkeys/list"
  private static let profiles = "https://developer.apple.com/account/resources/profiles/list"
  private static let serviceAccounts = "https://console.cloud.google.com/iam-admin/serviceaccounts"
}

extension RenewalGuide {
  /// - Parameters:
  ///   - madeBy: the Apple ID or other account that made it, if somebody noted it.
  ///   - hasRequest: whether a signing request waits for its certificate; then the first step is done.
  ///
  /// Nil for what is not renewed, or is replaced already.
  init?(
    _ certificate: TrackedCertificate, uses: [TrackedCertificate.Use], madeBy: String?, hasRequest: Bool, now: Date,
    _ texts: Texts
  ) {
    let details = certificate.details
    let isOver = certificate.isReplaced && uses.isEmpty
    guard !isOver, let plan = Self.plans[details.kind] else { return nil }
    let arguments = Self.arguments(certificate, uses, madeBy, texts)
    let isExpired = Expiry.band(notBefore: nil, notAfter: details.notAfter, now: now) == .expired
    title = texts("guide.\(plan.title)")
    lead = texts(isExpired ? "guide.has_expired" : "guide.\(plan.lead)", arguments)
    let done = hasRequest && plan.steps.first?.text == Self.request.text ? 1 : 0
    // An item that never expires is renewed only for a special reason.
    let isDue = !certificate.isReplaced && details.notAfter != nil
    steps = plan.steps.enumerated().map { index, step in
      // Without topics there is nothing that the new file must repeat.
      let isOpen = details.topics.isEmpty && ["push.upload_detail", "voip.upload_detail"].contains(step.detail)
      return RenewalStep(
        text: texts("guide.\(step.text)", arguments),
        detail: texts("guide.\(isOpen ? "compared" : step.detail)", arguments), address: step.address,
        state: !isDue || index > done ? "" : index < done ? "done" : "now")
    }
  }

  private static func arguments(
    _ certificate: TrackedCertificate, _ uses: [TrackedCertificate.Use], _ madeBy: String?, _ texts: Texts
  ) -> [String: String] {
    let details = certificate.details
    let own = details.topics.filter { !$0.hasSuffix(".voip") && !$0.hasSuffix(".complication") }
    let bundleID = own.first ?? details.topics.first ?? uses.first?.bundleID
    let environments =
      details.environments.isEmpty
      ? "–" : texts.list(details.environments.map { $0.word(texts) })
    let who =
      madeBy.map { texts("guide.as", ["who": $0]) }
      ?? texts("guide.as_unknown", ["who": ActivityActor(certificate.uploadedBy).name(texts)])
    return [
      "topic": details.topics.first ?? "", "app_id": bundleID ?? texts("guide.app_id_unknown"),
      "topics": texts.list(details.topics),
      "of_team": details.teamID.map { texts("guide.of_team", ["team": $0]) } ?? "", "serial": details.serial ?? "–",
      "key": details.keyID ?? "–",
      "name": details.name, "environments": environments, "who": who,
      "date": details.notAfter.map(texts.minute) ?? texts("certificates.never"),
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
