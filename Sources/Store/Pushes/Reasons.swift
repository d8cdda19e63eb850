internal import SQLite

/// The words in which providers refuse, each kept once.
struct Reasons {
  private var ids: [String: Int64] = [:]

  /// The number of a word; it gets one if it is new.
  mutating func id(_ database: Database, _ text: String) throws -> Int64 {
    if let id = ids[text] { return id }
    let id: Int64
    if let known = try Self.find(database, text) {
      id = known
    } else {
      try database.run("INSERT INTO reasons(text) VALUES (?)", text)
      id = database.lastInsertedID
    }
    ids[text] = id
    return id
  }

  static func find(_ database: Database, _ text: String) throws -> Int64? {
    try database.fetchOne("SELECT id FROM reasons WHERE text = ?", text) { $0.int64(0) }
  }
}
