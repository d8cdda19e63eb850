package import Model

/// A small world to try the console with: one app, and phones of the people who use it. Only a description: who wants
/// it adds ``phones`` to a ``PhoneBook`` and registers them as devices with their names, aliases and tags.
package struct DemoWorld: Sendable, Hashable {
  /// What the app is called.
  package var appName: String
  /// Its bundle id.
  package var bundleID: String
  /// In the order in which they are made.
  package var phones: [DemoPhone]

  /// A phone of the demo.
  package struct DemoPhone: Sendable, Hashable {
    /// Whose it is, and what the phone is called.
    package var name: String
    /// What it is, in words.
    package var model: String
    /// Which of Apple's worlds the app on it was built for.
    package var environment: Model.Environment
    /// The person's alias at the console.
    package var alias: String
    /// The person's tags, sorted.
    package var tags: [String]

    /// The phone as a phone book takes it.
    ///
    /// - Parameter bundleID: of the app on it.
    package func newPhone(_ bundleID: String) -> NewPhone {
      NewPhone(name: name, model: model, environment: environment, topic: bundleID, alias: alias)
    }
  }

  /// The shop: four phones with development builds, two with the one from the App Store.
  package static let shop = DemoWorld(
    appName: "Shop", bundleID: "com.example.shop",
    phones: [
      DemoPhone(
        name: "Ada's iPhone", model: "iPhone 17 Pro", environment: .development, alias: "usr_ada",
        tags: ["beta", "staff"]),
      DemoPhone(
        name: "Grace's iPhone", model: "iPhone 16", environment: .development, alias: "usr_grace", tags: ["beta"]),
      DemoPhone(
        name: "Linus's iPhone", model: "iPhone SE", environment: .development, alias: "usr_linus", tags: ["staff"]),
      DemoPhone(
        name: "小明的 iPhone", model: "iPhone 15", environment: .development, alias: "usr_xiaoming",
        tags: ["beta", "vip"]),
      DemoPhone(
        name: "Margaret's iPhone", model: "iPhone 17", environment: .production, alias: "usr_margaret",
        tags: ["vip"]),
      DemoPhone(
        name: "Alan's iPhone", model: "iPhone 14", environment: .production, alias: "usr_alan", tags: []),
    ])

  /// Makes the phones, unless the book has phones of the app already: so a second start makes no second world.
  ///
  /// - Returns: each phone with what the demo says of it; empty if they were there.
  /// - Throws: ``PhoneBookError``.
  @discardableResult
  package func populate(_ book: PhoneBook) throws(PhoneBookError) -> [(phone: SimulatedPhone, description: DemoPhone)] {
    guard !book.phones().contains(where: { $0.topic == bundleID }) else { return [] }
    var made: [(phone: SimulatedPhone, description: DemoPhone)] = []
    for description in phones { made.append((try book.add(description.newPhone(bundleID)), description)) }
    return made
  }
}
