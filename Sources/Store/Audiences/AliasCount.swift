import Model
package import SQLite
import Text

/// An alias of an app, with how many devices have it.
package struct AliasCount: Sendable, Hashable {
  package let alias: String
  /// At most ``most``.
  package let devices: Int

  package static let most = 1000
  /// Aliases of all apps that are looked at for one page: another app may have millions that begin alike.
  private static let patience = 5000

  /// An app's aliases by name. Each takes one step along an index.
  ///
  /// - Parameters:
  ///   - prefix: of the names.
  ///   - cursor: `next` of the previous page: the last name.
  package static func list(
    _ database: Database, app: Int64, prefix: String = "", cursor: String? = nil, limit: Int
  ) throws -> Page<AliasCount> {
    let step = try database.prepare(
      "SELECT alias FROM devices INDEXED BY devices_alias WHERE alias > ? ORDER BY alias LIMIT 1")
    let count = try database.prepare(
      """
      SELECT count(*) FROM (SELECT 1 FROM devices INDEXED BY devices_alias WHERE alias = ? AND app_id = ? LIMIT \(most))
      """)
    var found: [AliasCount] = []
    // An alias is never empty: the first look may begin with the prefix itself.
    var last = cursor ?? prefix
    var name: String? = cursor == nil && !prefix.isEmpty ? prefix : nil
    for _ in 0..<patience where found.count <= limit {
      if name == nil {
        try step.bind(1, last)
        name = try step.step() ? step.row.text(0) : nil
        step.reset()
      }
      // Compares bytes, the order of the index: as characters, an `e` with a combining accent does not begin with `e`.
      guard let alias = name, alias.utf8.starts(with: prefix.utf8) else { return Page(items: found, next: nil) }
      (last, name) = (alias, nil)
      try count.bind(1, alias)
      try count.bind(2, app)
      let devices = try count.step() ? count.row.int(0) : 0
      count.reset()
      if devices > 0 { found.append(AliasCount(alias: alias, devices: devices)) }
    }
    return Page(items: Array(found.prefix(limit)), next: found.count > limit ? found[limit - 1].alias : last)
  }

  /// How many aliases an app has. Each takes two steps along an index.
  static func names(_ database: Database, app: Int64, most: Int) throws -> AudienceCounts.Count {
    let step = try database.prepare(
      "SELECT alias FROM devices INDEXED BY devices_alias WHERE alias > ? ORDER BY alias LIMIT 1")
    let isUsed = try database.prepare(
      "SELECT 1 FROM devices INDEXED BY devices_alias WHERE alias = ? AND app_id = ? LIMIT 1")
    var (number, last) = (0, "")
    for _ in 0..<patience {
      try step.bind(1, last)
      let next = try step.step() ? step.row.text(0) : nil
      step.reset()
      guard let alias = next else { return AudienceCounts.Count(number: number, isMore: false) }
      last = alias
      try isUsed.bind(1, alias)
      try isUsed.bind(2, app)
      let isOfApp = try isUsed.step()
      isUsed.reset()
      if isOfApp, number == most { break }
      if isOfApp { number += 1 }
    }
    return AudienceCounts.Count(number: number, isMore: true)
  }

  /// Which of these aliases no device of an app has, each with the most similar one that a device has.
  ///
  /// Compares only aliases with the same beginning, to need few index steps among millions, and the app's first aliases,
  /// for a typo at the beginning.
  package static func missing(_ database: Database, _ names: [String], app: Int64) throws -> [String: String?] {
    func isUsed(_ name: String) throws -> Bool {
      try database.int(
        "SELECT EXISTS (SELECT 1 FROM devices INDEXED BY devices_alias WHERE alias = ? AND app_id = ?)", name, app) == 1
    }
    let unused = try names.prefix(mostMissing).filter { try !isUsed($0) }
    guard !unused.isEmpty else { return [:] }
    let first = try list(database, app: app, limit: mostCompared).items.map(\.alias)
    return try Dictionary(
      unused.map { name in
        // What an app makes of a user ID for JPush is no misspelling: it is looked for first.
        let form = AliasRule.usr(name)
        if form != name, try isUsed(form) { return (name, form) }
        let prefixes = Set([name.count - 1, name.count - 3, name.count / 2].filter { $0 > 0 }.map { name.prefix($0) })
        let alike = try prefixes.flatMap {
          try list(database, app: app, prefix: String($0), limit: mostCompared).items.map(\.alias)
        }
        return (name, Suggestion.closest(to: name, among: alike + first))
      }, uniquingKeysWith: { $1 })
  }

  /// Names that are looked up: a push may have a thousand.
  private static let mostMissing = 20
  private static let mostCompared = 200
}
