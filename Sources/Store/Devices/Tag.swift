package import SQLite
import Text

package struct Tag: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let appID: Int64
  package let name: String
  /// Devices with the tag.
  package let members: Int
  /// Active devices among them.
  package let active: Int

  /// An app's tags by name, from counters.
  ///
  /// - Parameters:
  ///   - prefix: of the names.
  ///   - cursor: `next` of the previous page: the last name.
  package static func list(
    _ database: Database, app: Int64, prefix: String = "", cursor: String? = nil, limit: Int
  ) throws -> Page<Tag> {
    let found = try database.fetchAll(
      """
      SELECT t.id, t.app_id, t.name, (SELECT coalesce(sum(count), 0) FROM tag_counters WHERE tag_id = t.id),
        (SELECT coalesce(sum(count), 0) FROM tag_counters WHERE tag_id = t.id AND state = 1)
      FROM tags t
      WHERE +t.app_id = ?1 AND t.name >= ?3 AND t.name < ?3 || char(0x10FFFF) AND t.name > coalesce(?2, '')
      ORDER BY t.name LIMIT ?4
      """, app, cursor, prefix, limit + 1
    ) { row in
      Tag(id: row.int64(0), appID: row.int64(1), name: row.text(2), members: row.int(3), active: row.int(4))
    }
    return Page(found, limit: limit, key: \.name)
  }

  /// The IDs of existing tags, in one app or all.
  static func ids(_ database: Database, _ names: [String], app: Int64?) throws -> [Int64] {
    try names.flatMap { name in
      try database.fetchAll("SELECT id FROM tags WHERE name = ?1 AND (?2 IS NULL OR app_id = ?2)", name, app) {
        $0.int64(0)
      }
    }
  }

  /// Which of these tags no device of an app has, each with the most similar one that a device has.
  package static func missing(_ database: Database, _ names: Set<String>, app: Int64) throws -> [String: String?] {
    let unused = try names.filter { name in
      try ids(database, [name], app: app).allSatisfy { try members(database, id: $0) == 0 }
    }
    guard !unused.isEmpty else { return [:] }
    let used = try list(database, app: app, limit: mostCompared).items.filter { $0.members > 0 }.map(\.name)
    return Dictionary(uniqueKeysWithValues: unused.map { ($0, Suggestion.closest(to: $0, among: used)) })
  }

  /// Comparing takes some microseconds for each tag.
  private static let mostCompared = 2000

  /// The number of devices with a tag.
  static func members(_ database: Database, id: Int64) throws -> Int {
    try database.int("SELECT coalesce(sum(count), 0) FROM tag_counters WHERE tag_id = ?", id)
  }
}
