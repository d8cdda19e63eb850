import Certificates
import Foundation
import JSON
import Mustache
import Model
import Store

/// `/apps/:id`: one app and its credential in each environment.
struct AppView: PageView {
  static let template = "apps/show"
  static let section: Section? = .apps

  let overview: AppOverview
  let now: Date
  let environments: [AppCredentialView]
  let counts: [AppDeviceRow]
  let aliasRule: String
  let snippets: AppSnippets
  let jpush: JPushKeyView
  let clientKeys: ClientKeysView
  /// Whether the reader may change what pushes to production need.
  let mayChange: Bool
  /// Whether fewer than two people may approve: then nobody can approve the pushes of the only one.
  let lacksApprovers: Bool

  static let fields: [Field<AppView>] = [
    .flag("needs_approval") { $0.overview.app.needsApproval },
    .flag("may_change") { $0.mayChange },
    .flag("lacks_approvers") { $0.lacksApprovers },
    .written("id") { $1.write(Int($0.overview.app.id)) },
    .text("title") { $0.overview.app.name },
    .text("bundle_id") { $0.overview.app.bundleID },
    .optional("package_name") { $0.overview.app.packageName },
    .text("alias_rule") { $0.aliasRule },
    .view("created") { MomentView(date: $0.overview.app.createdAt, now: $0.now) },
    .number("count") { $0.overview.count() },
    // The heading shows the worse state of the two environments.
    .flag("is_unbound") { $0.bound.isEmpty },
    .flag("is_failed") { $0.bound.contains(where: \.state.isFailed) },
    .flag("is_blocked") { $0.isBlocked },
    .flag("is_soon") { app in
      app.bound.contains(where: \.state.isSoon) && !app.bound.contains(where: \.state.isFailed) && !app.isBlocked
    },
    .flag("is_partly") { $0.isWell && $0.isPartly },
    .flag("is_fine") { $0.isWell && !$0.isPartly },
    .list("environments") { $0.environments },
    .list("counts") { $0.counts },
    .flag("has_devices") { !$0.counts.isEmpty },
    .view("snippets") { $0.snippets },
    .view("jpush") { $0.jpush },
    .flag("has_jpush") { $0.overview.credentials.contains { $0.provider == .jpush } },
    .view("client_keys") { $0.clientKeys },
  ]

  private var bound: [BoundCredentialView] { environments.compactMap(\.bound) }
  private var isWell: Bool {
    !bound.isEmpty && !bound.contains { $0.state.isFailed || $0.state.isSoon || $0.isBlocked }
  }
  private var isBlocked: Bool {
    bound.contains(where: \.isBlocked) && !bound.contains(where: \.state.isFailed)
  }
  /// Whether devices wait for a credential.
  private var isPartly: Bool { environments.contains { $0.bound == nil && $0.active > 0 } }
}

/// The number of devices in one environment and on one platform.
struct AppDeviceRow: View {
  let overview: AppOverview
  let environment: Environment
  let platform: Platform
  let environmentName: String
  let platformName: String

  static let fields: [Field<AppDeviceRow>] = [
    .text("environment") { $0.environmentName },
    .text("platform") { $0.platformName },
    .text("href") {
      "/devices?app=\($0.overview.app.bundleID)&environment=\($0.environment.rawValue)&platform=\($0.platform.rawValue)"
    },
    .number("active") { $0.count(.active) },
    .number("quarantined") { $0.count(.quarantined) },
    .number("dead") { $0.count(.dead) },
  ]

  private func count(_ state: DeviceState) -> Int {
    overview.count(environment: environment, platform: platform, state: state)
  }
}

/// The credential of one environment, and the form that changes it.
struct AppCredentialView: View {
  let environment: Environment
  let provider: ProviderKind
  let name: String
  /// The devices that it reaches, in a word.
  let reach: String
  let bound: BoundCredentialView?
  /// Devices that this credential can reach.
  let active: Int
  /// Whether there is something to choose in the form.
  let isAssignable: Bool
  let isOpen: Bool
  let bindFirst: String
  let certificateLabel: String
  let certificateHint: String
  /// An error that belongs to no field.
  let problem: String?
  let errors: FieldErrors
  let certificates: [ChoiceView]
  let endpoints: [ChoiceView]
  let host: String
  let trust: String
  let proxy: String

  static let fields: [Field<Self>] = [
    .text("key") {
      $0.provider == .apns ? $0.environment.rawValue : "\($0.environment.rawValue)-\($0.provider.rawValue)"
    },
    .text("environment_key") { $0.environment.rawValue },
    .text("provider") { $0.provider.rawValue },
    .text("environment") { $0.name },
    .text("reach") { $0.reach },
    .flag("assignable") { $0.isAssignable },
    .text("bind_first") { $0.bindFirst },
    .text("certificate_label") { $0.certificateLabel },
    .text("certificate_hint") { $0.certificateHint },
    .flag("production") { $0.environment == .production },
    .view("bound") { $0.bound },
    .number("count") { $0.active },
    .flag("is_open") { $0.isOpen },
    .optional("problem") { $0.problem },
    .view("certificate") { FieldView(error: $0.errors["certificate"], choices: $0.certificates) },
    .view("endpoint") { FieldView(choices: $0.endpoints) },
    .view("host") { FieldView(value: $0.host, error: $0.errors["host"]) },
    .view("trust") { FieldView(value: $0.trust, error: $0.errors["trust"]) },
    .flag("has_trust") { !$0.trust.isEmpty },
    .flag("has_proxy") { !$0.proxy.isEmpty || !$0.errors["proxy"].isEmpty },
    .view("proxy") { FieldView(value: $0.proxy, error: $0.errors["proxy"]) },
  ]
}

/// An assigned credential and its state.
struct BoundCredentialView: View {
  let credential: Credential
  let state: CredentialState
  let name: String
  /// Nil for a credential without an expiry date.
  let validity: String?
  let health: String
  /// What the circuit breaker holds back for this credential.
  let circuit: String
  /// Where it sends to: the service by its name, or another host.
  let address: String
  /// Whether nothing is sent with it.
  let isBlocked: Bool
  let now: Date

  static let fields: [Field<Self>] = [
    .written("href") { bound, output in
      output.write("/certificates" as StaticString)
      guard let id = bound.credential.certificateID else { return }
      output.write("/" as StaticString)
      output.write(Int(id))
    },
    .text("name") { $0.name },
    .text("tone") { $0.state.band == .expired || $0.state.band == .urgent ? "red" : $0.state.isSoon ? "amber" : "" },
    .optional("validity") { $0.validity },
    .text("health") { $0.health },
    .text("health_tone") {
      $0.credential.health == .refused ? "red" : $0.credential.health == .unused ? "none" : ""
    },
    .optional("refusal") { $0.credential.health == .refused ? $0.credential.lastRefusal : nil },
    .text("circuit") { $0.circuit },
    .view("last_accepted") { bound in
      bound.credential.lastAcceptedAt.map { MomentView(date: $0, now: bound.now) }
    },
    .text("address") { $0.address },
    .flag("own_trust") { $0.credential.trustPEM != nil },
    .optional("own_proxy") { $0.credential.proxy?.text },
  ]
}

/// Commands that can be copied and run unchanged.
struct AppSnippets: View {
  let app: App
  let address: String

  static let fields: [Field<AppSnippets>] = [
    .text("register") { $0.command("PUT", "/api/v1/devices", $0.device) },
    .text("send") { $0.command("POST", "/api/v1/pushes", $0.push) },
    .text("count") { $0.command("POST", "/api/v1/audience/count", $0.audience) },
  ]

  private static let beta: JSONValue = ["tag": ["beta"]]

  private var device: JSONValue {
    [
      "app": .string(app.bundleID), "environment": "development", "platform": "ios",
      "token": .string("<device token>"), "alias": "usr_1", "tags": ["beta"],
    ]
  }

  private var push: JSONValue {
    [
      "app": .string(app.bundleID), "environment": "development", "audience": Self.beta,
      "notification": ["title": "Hello", "body": "From the API"],
    ]
  }

  private var audience: JSONValue {
    ["app": .string(app.bundleID), "environment": "development", "audience": Self.beta]
  }

  private func command(_ method: String, _ path: String, _ json: JSONValue) -> String {
    let header = "--header \"Authorization: Bearer $SIGNALBOX_TOKEN\" \\\n  --header 'Content-Type: application/json'"
    return "curl --request \(method) \(header) \\\n  --data-raw '\(json.text())' \\\n  '\(address)\(path)'"
  }
}
