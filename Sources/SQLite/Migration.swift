/// One step of the schema. Once released it never changes: a later step corrects it.
public struct Migration: Sendable {
  /// Unique and telling, as `2026-11-20 apps`.
  public let id: String
  let apply: @Sendable (Database) throws -> Void

  /// A step of SQL statements.
  public init(id: String, sql: String) {
    self.id = id
    apply = { database in try database.script(sql) }
  }

  /// A step that needs a program. It may not use today's records: they change, the step does not.
  public init(id: String, _ apply: @escaping @Sendable (Database) throws -> Void) {
    self.id = id
    self.apply = apply
  }
}
