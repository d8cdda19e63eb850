internal import SQLite

/// A column whose values are sealed. Every one stands in ``all``: what is not there is not sealed anew when the key
/// is changed, and lost with the old key; a test holds the list against the schema.
public struct SealedColumn: Sendable, Hashable {
  /// Its rows have an integer `id`; what is sealed there opens as `<table>/<id>` and nowhere else.
  public let table: String
  /// Named `sealed`, or `sealed_…`.
  public let column: String

  init(_ table: String, _ column: String = "sealed") {
    self.table = table
    self.column = column
  }

  /// Every sealed column of the schema.
  public static let all: [SealedColumn] = [
    SealedColumn("certificates"),
    SealedColumn("certificate_candidates"),
    SealedColumn("certificate_requests"),
    SealedColumn("locked_files"),
    SealedColumn("receivers"),
    SealedColumn("mail_passwords"),
  ]
}
