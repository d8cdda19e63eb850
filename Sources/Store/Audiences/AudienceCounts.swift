package import SQLite

/// How many segments, tags and aliases an app has, each counted along an index as far as ``most``.
package struct AudienceCounts: Sendable, Hashable {
  package struct Count: Sendable, Hashable {
    package let number: Int
    /// Whether there may be more.
    package let isMore: Bool
  }

  package let segments: Count
  package let tags: Count
  package let aliases: Count

  package static let most = 1000

  package init(_ database: Database, app: Int64) throws {
    segments = try Self.rows(database, "segments", app: app)
    tags = try Self.rows(database, "tags INDEXED BY tags_app", app: app)
    aliases = try AliasCount.names(database, app: app, most: Self.most)
  }

  private static func rows(_ database: Database, _ table: String, app: Int64) throws -> Count {
    let found = try database.int(
      "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE app_id = ? LIMIT \(most + 1))", app)
    return Count(number: min(found, most), isMore: found > most)
  }
}
