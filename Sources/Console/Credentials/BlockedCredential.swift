import Delivery
import Foundation
import Model
import Providers
import Store

/// A credential with which nothing can be sent although pushes wait for it.
struct BlockedCredential: Sendable {
  let credential: Credential
  let health: ProviderHealth
  /// Row IDs of the pushes that wait.
  let pushes: Set<Int64>

  /// In seconds; shorter interruptions are not reported.
  private static let patience: TimeInterval = 60
  /// More waiting pushes are not looked at.
  private static let mostPushes = 10_000

  /// Those of some credentials.
  static func all(_ credentials: [Credential], _ page: PageContext) async throws -> [BlockedCredential] {
    let held = credentials.compactMap { credential -> (credential: Credential, health: ProviderHealth)? in
      guard let health = page.console.engine.health(credential: credential.id), let since = health.blockedSince,
        page.now.timeIntervalSince(since) > patience
      else { return nil }
      return (credential, health)
    }
    guard !held.isEmpty else { return [] }
    let needs = try await page.store.read { try Push.needs($0, most: mostPushes) }
    return held.compactMap { credential, health -> BlockedCredential? in
      let pushes = needs.filter {
        $0.app == credential.appID && $0.environment == credential.environment && $0.provider == credential.provider
      }
      guard !pushes.isEmpty else { return nil }
      return BlockedCredential(credential: credential, health: health, pushes: Set(pushes.map(\.push)))
    }
  }

  /// A line of what needs attention.
  func attention(_ app: App?, _ texts: Texts) -> AttentionItem {
    AttentionItem(
      label: texts("attention.blocked_label"), isFailure: true,
      text: texts(
        "attention.blocked", count: pushes.count,
        [
          "app": app?.name ?? "", "environment": credential.environment.word(texts),
          "service": credential.provider.name,
        ]), detail: HealthWords(health: health, texts: texts).text,
      href: "/apps/\(credential.appID)#credentials", action: texts("attention.show"))
  }
}

extension [BlockedCredential] {
  /// Row IDs of the pushes that wait for one of them.
  var pushes: Set<Int64> { reduce(into: []) { $0.formUnion($1.pushes) } }
}

extension ProviderHealth {
  /// Since when nothing is sent; nil while sending goes on.
  var blockedSince: Date? {
    switch circuit {
    case .closed: nil
    case .open(_, let since, _), .halfOpen(_, let since): since
    }
  }
}
