package import SQLite

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
      guard let alias = name, alias.hasPrefix(prefix) else { return Page(items: found, next: nil) }
      (last, name) = (alias, nil)
      try count.bind(1, alias)
      try count.bind(2, app)
      let devices = try count.step() ? count.row.int(0) : 0
      count.reset()
      if devices > 0 { found.append(AliasCount(alias: alias, devices: devices)) }
    }
    return Page(items: Array(found.prefix(limit)), next: found.count > limit ? found[limit - 1].alias : last)
  }
}
