package import Model

/// A small demo: one app and its users' phones. The caller adds ``phones`` to a ``PhoneBook`` and registers them as
/// devices with their names, aliases and tags.
package struct DemoWorld: Sendable, Hashable {
  package var appName: String
  package var bundleID: String
  package var phones: [DemoPhone]

  package struct DemoPhone: Sendable, Hashable {
    /// The owner and the name of the phone.
    package var name: String
    package var model: String
    package var platform = Platform.ios
    /// Nil: the platform's own.
    package var provider: ProviderKind?
    package var environment: Model.Environment
    package var alias: String
    /// Sorted.
    package var tags: [String]
    /// As its app reports it.
    package var language = "en-US"

    /// - Parameter bundleID: of the app on it.
    package func newPhone(_ bundleID: String) -> NewPhone {
      NewPhone(
        name: name, model: model, platform: platform, provider: provider, environment: environment, topic: bundleID,
        alias: alias)
    }
  }

  /// A shop: four iPhones and two Android phones with development builds, of which one is registered with JPush, and two
  /// iPhones with the App Store's.
  package static let shop = DemoWorld(
    appName: "Shop", bundleID: "com.example.shop",
    phones: [
      DemoPhone(
        name: "Ada’s iPhone", model: "iPhone 17 Pro", environment: .development, alias: "usr_ada",
        tags: ["beta", "staff"]),
      DemoPhone(
        name: "Grace’s iPhone", model: "iPhone 16", environment: .development, alias: "usr_grace", tags: ["beta"]),
      DemoPhone(
        name: "Linus’s iPhone", model: "iPhone SE", environment: .development, alias: "usr_linus", tags: ["staff"]),
      DemoPhone(
        name: "小明的 iPhone", model: "iPhone 15", environment: .development, alias: "usr_xiaoming",
        tags: ["beta", "vip"], language: "zh-Hans-CN"),
      DemoPhone(
        name: "Katherine’s Pixel", model: "Pixel 9", platform: .android, environment: .development,
        alias: "usr_katherine", tags: []),
      DemoPhone(
        name: "李雷的小米", model: "Xiaomi 15", platform: .android, provider: .jpush, environment: .development,
        alias: "usr_lilei", tags: [], language: "zh_CN"),
      DemoPhone(
        name: "Margaret’s iPhone", model: "iPhone 17", environment: .production, alias: "usr_margaret",
        tags: ["vip"]),
      DemoPhone(name: "Alan’s iPhone", model: "iPhone 14", environment: .production, alias: "usr_alan", tags: []),
    ])

  /// Adds the phones, unless the book already has phones of the app.
  ///
  /// - Returns: each new phone with its description; empty if there were phones.
  @discardableResult
  package func populate(_ book: PhoneBook) throws(PhoneBookError) -> [(phone: SimulatedPhone, description: DemoPhone)] {
    guard !book.phones().contains(where: { $0.topic == bundleID }) else { return [] }
    var made: [(phone: SimulatedPhone, description: DemoPhone)] = []
    for description in phones { made.append((try book.add(description.newPhone(bundleID)), description)) }
    return made
  }
}
