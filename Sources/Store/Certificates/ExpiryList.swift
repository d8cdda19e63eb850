package import Foundation
package import SQLite

/// Files and watched hosts in one list, ordered by their end; items without an end are last.
///
/// Paged by the index on `ends_key`, so that ten thousand items cost no more than fifty.
package enum ExpiryList {
  package enum Item: Sendable, Hashable {
    case certificate(TrackedCertificate)
    case host(WatchedHost)

    package var id: Int64 {
      switch self {
      case .certificate(let certificate): certificate.id
      case .host(let host): host.id
      }
    }
  }

  /// The filter of the list; nil: any.
  package struct Filter: Sendable, Hashable {
    /// Ends in milliseconds since 1970, inclusive. ``forever`` means no end, -1 a host without information.
    package var ends: ClosedRange<Int64>?
    /// Whether it is already valid at ``now``; false: it will be.
    package var begun: Bool?
    /// Takes also what ends before it begins, whatever ``ends`` says.
    package var orNeverValid = false
    package var now: Date
    /// Only hosts without a certificate.
    package var isFailing = false
    /// Only replaced certificates that no credential uses.
    package var isReplaced = false
    package var kind: Kind?
    /// Files that belong to this app, or that it sends with.
    package var app: Int64?
    /// Excludes replaced certificates, unless a credential still uses them: they need no attention.
    package var withoutReplaced = false
    /// In names, topics, serial numbers, fingerprints, hosts and notes.
    package var search: String?

    package init(now: Date) { self.now = now }

    /// What the list is limited to.
    package enum Kind: Sendable, Hashable {
      /// Files with this raw value of `CertificateKind`.
      case file(String)
      /// Watched hosts.
      case host
    }
  }

  package static let forever = Int64.max

  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func page(
    _ database: Database, _ filter: Filter, cursor: String? = nil, limit: Int
  ) throws -> Page<Item> {
    let start = try cursor.map(Position.init)
    var found: [(Position, Item)] = []
    if filter.kind != .host, !filter.isFailing {
      found += try rows(database, certificates(filter), filter, after: start, table: .certificates, limit) {
        .certificate(try TrackedCertificate($0))
      }
    }
    if filter.kind == nil || filter.kind == .host, filter.app == nil, !filter.isReplaced {
      found += try rows(database, hosts(filter), filter, after: start, table: .hosts, limit) {
        .host(try WatchedHost($0))
      }
    }
    found.sort { $0.0 < $1.0 }
    let items = found.prefix(limit)
    return Page(
      items: items.map(\.1), next: found.count > limit ? items.last?.0.text : nil)
  }

  /// A position in the list: end, table, row.
  struct Position: Comparable {
    enum Table: String { case certificates = "c", hosts = "h" }

    let ends: Int64
    let table: Table
    let id: Int64

    init(ends: Int64, table: Table, id: Int64) { (self.ends, self.table, self.id) = (ends, table, id) }

    /// - Throws: `StoreError.badCursor`.
    init(_ cursor: String) throws {
      let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3, let ends = Int64(parts[0]), let table = Table(rawValue: String(parts[1])),
        let id = Int64(parts[2])
      else { throw StoreError.badCursor(cursor) }
      self.init(ends: ends, table: table, id: id)
    }

    var text: String { "\(ends).\(table.rawValue).\(id)" }

    static func < (one: Position, other: Position) -> Bool {
      (one.ends, one.table.rawValue, one.id) < (other.ends, other.table.rawValue, other.id)
    }
  }

  /// Selects certificates `t` that need attention: not replaced, or still used.
  static let inPlace = """
    (t.replaced_by IS NULL OR EXISTS (SELECT 1 FROM credentials c WHERE c.certificate_id = t.id))
    """

  private typealias Condition = (sql: String, values: [any SQLiteBindable])

  private static func certificates(_ filter: Filter) -> [Condition] {
    var conditions: [Condition] = []
    if filter.withoutReplaced { conditions.append((inPlace, [])) }
    if filter.isReplaced { conditions.append(("NOT \(inPlace)", [])) }
    if case .file(let kind) = filter.kind { conditions.append(("t.kind = ?", [kind])) }
    if let app = filter.app {
      conditions.append(
        (
          "(t.app_id = ? OR EXISTS (SELECT 1 FROM credentials c WHERE c.certificate_id = t.id AND c.app_id = ?))",
          [app, app]
        ))
    }
    if let search = filter.search {
      let columns = [
        "t.name", "t.topics", "coalesce(t.serial, '')", "coalesce(t.sha256, '')", "coalesce(t.subject, '')",
      ]
      conditions.append((like(columns), [anywhere(search)]))
    }
    return conditions
  }

  private static func hosts(_ filter: Filter) -> [Condition] {
    var conditions: [Condition] = []
    if filter.isFailing { conditions.append(("(t.failing_since IS NOT NULL OR t.sha256 IS NULL)", [])) }
    if let search = filter.search {
      let columns = [
        "t.host", "t.server_name", "t.note", "t.names", "coalesce(t.serial, '')", "coalesce(t.sha256, '')",
        "coalesce(t.subject, '')",
      ]
      conditions.append((like(columns), [anywhere(search)]))
    }
    return conditions
  }

  private static func like(_ columns: [String]) -> String {
    "(\(columns.joined(separator: " || char(10) || "))) LIKE ? ESCAPE '\\'"
  }

  private static func rows(
    _ database: Database, _ own: [Condition], _ filter: Filter, after start: Position?, table: Position.Table,
    _ limit: Int, _ read: (borrowing Row) throws -> Item
  ) throws -> [(Position, Item)] {
    var conditions = own
    if let ends = filter.ends {
      let never = filter.orNeverValid ? " OR t.ends_key < t.not_before" : ""
      conditions.append(("(t.ends_key >= ? AND t.ends_key <= ?\(never))", [ends.lowerBound, ends.upperBound]))
    }
    switch filter.begun {
    case true: conditions.append(("(t.not_before IS NULL OR t.not_before <= ?)", [filter.now]))
    case false: conditions.append(("(t.not_before > ? AND t.ends_key >= t.not_before)", [filter.now]))
    default: break
    }
    if let start {
      // With equal ends, certificates come before hosts.
      let id =
        start.table == table ? start.id : start.table.rawValue < table.rawValue ? Int64.min : Int64.max
      conditions.append(("(t.ends_key, t.id) > (?, ?)", [start.ends, id]))
    }
    let whole = conditions.isEmpty ? "" : "WHERE " + conditions.map(\.sql).joined(separator: " AND ")
    let name = table == .certificates ? "certificates" : "watched_hosts"
    let columns = table == .certificates ? TrackedCertificate.columns : WatchedHost.columns.replacing("h.", with: "t.")
    return try database.fetchAll(
      "SELECT \(columns), t.ends_key FROM \(name) t INDEXED BY \(name)_ends \(whole) ORDER BY t.ends_key, t.id LIMIT ?",
      arguments: conditions.flatMap(\.values) + [limit + 1]
    ) { row in
      let item = try read(row)
      let ends = row.int64(table == .certificates ? 23 : 25)
      return (Position(ends: ends, table: table, id: item.id), item)
    }
  }
}
