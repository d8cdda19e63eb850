import Certificates
import Foundation
import JSON
import Model

/// The contents of a file as rows of label and value; a missing value has no row.
struct FileDetailRows {
  private let says: JSONValue
  private let kind: CertificateKind?
  private let environments: [Environment]

  /// - Parameter says: the values of ``CertificateFile/facts``.
  init(_ says: JSONValue, kind: CertificateKind?, environments: [Environment]) {
    self.says = says
    self.kind = kind
    self.environments = environments
  }

  func rows(_ texts: Texts) -> [FactView] {
    let certificate = says["certificate"] ?? .null
    let profile = says["profile"] ?? .null
    let account = says["service_account"] ?? .null
    var rows: [FactView] = []
    func add(_ name: String, _ text: String?, mono: Bool = false) {
      FactView(texts("certificates.\(name)"), text, isMono: mono).map { rows.append($0) }
    }
    add("kind", texts("certificates.kinds.\(kind?.rawValue ?? "tls_certificate")"))
    add("environments", texts.list(environments.map { $0.word(texts) }))
    if kind == .apnsKey {
      let types = CredentialScope(name: "", topics: nil).types(for: "").map(\.rawValue)
      add("push_types", texts.list(types))
    }
    add("team", says["team_id"]?.string, mono: true)
    add("team_name", profile["team_name"]?.string)
    add(kind == .jpushKeyPair ? "app_key" : "key_id", says["key_id"]?.string, mono: true)
    add("project", account["project_id"]?.string, mono: true)
    add("client_email", account["client_email"]?.string, mono: true)
    add("app_id", profile["app_id"]?.string, mono: true)
    add("distribution", profile["distribution"]?.string?.replacing("_", with: " "))
    add("devices", profile["devices"]?.integer.map { Int($0).grouped })
    add("platforms", texts.list((profile["platforms"]?.array ?? []).compactMap(\.string)))
    add("uuid", profile["uuid"]?.string, mono: true)
    let entitlements = (profile["entitlements"]?.object ?? [:]).sorted { $0.key < $1.key }
    add("entitlements", texts.phrases(entitlements.map { "\($0.key): \($0.value.string ?? "")" }), mono: true)
    let signers = (profile["certificates"]?.array ?? []).compactMap { $0["subject"]?.string }
    add("signers", texts.phrases(signers))
    add("subject", certificate["subject"]?.string)
    add("issuer", certificate["issuer"]?.string)
    add("serial", certificate["serial"]?.string, mono: true)
    add("sha256", says["sha256"]?.string, mono: true)
    add("sha1", certificate["sha1"]?.string, mono: true)
    add("key", says["key"]?.string)
    add("signature", certificate["signature"]?.string, mono: true)
    for name in ["not_before", "not_after"] {
      let date = says[name]?.string.flatMap { try? Date($0, strategy: .iso8601) }
      FactView(texts("certificates.\(name)"), at: date).map { rows.append($0) }
    }
    if kind?.neverExpires == true { add("not_after", texts("certificates.never")) }
    add("private_key", secret.map { texts("certificates.\($0)") })
    add("format", says["format"]?.string.map { texts.known("certificates.formats.\($0)") ?? $0 })
    add("encryption", encryption(texts))
    let others = (says["other_certificates"]?.array ?? []).compactMap { $0["subject"]?.string }
    add("others", texts.phrases(others))
    return rows
  }

  /// The text key for the state of the private key or secret in the file; nil for a profile, which has none.
  private var secret: String? {
    switch kind {
    case .provisioningProfile: nil
    case .jpushKeyPair: "secret_there"
    case .fcmServiceAccount: "key_signs"
    case .apnsKey: "key_there"
    default: says["has_private_key"]?.bool == true ? "key_matches" : "key_missing"
    }
  }

  /// Explains RC2 to people who met it as an error message elsewhere.
  private func encryption(_ texts: Texts) -> String? {
    let names = (says["encryption"]?.array ?? []).compactMap(\.string)
    guard !names.isEmpty else { return nil }
    let text = texts.list(names)
    guard names.contains(where: { $0.contains("RC2") }) else { return text }
    return text + texts("between.space") + texts("certificates.encryption_keychain")
  }
}
