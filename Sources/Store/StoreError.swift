public import Foundation
internal import Push

/// Why the store could not do what it was asked.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no such row.
  case notFound(noun: String, id: String)
  /// The name is taken.
  case taken(noun: String, field: String)
  /// Something still needs the row.
  case inUse(noun: String, by: [String])
  /// A cursor that this list did not give.
  case badCursor(String)
  /// The database holds something that this version does not know.
  case unreadable(column: String, value: String)
  /// What a push did on each device was removed: nobody knows any more whom it did not reach.
  case detailsRemoved(push: String, at: Date)
  /// Pages of an audience came out of order: a bug that would lose devices.
  case outOfOrder(after: Int64, found: Int64)

  /// What and what to do.
  public var description: String {
    switch self {
    case .notFound(let noun, let id): "There is no \(noun) \(id)."
    case .taken(let noun, let field): "There is another \(noun) with this \(field) already."
    case .inUse(let noun, let by): "This \(noun) is still needed by \(by.joined(separator: ", "))."
    case .badCursor(let text): "“\(text)” is no cursor of this list; start without one."
    case .unreadable(let column, let value):
      "\(column) holds \(value), which this version does not know; was the file written by a newer one?"
    case .detailsRemoved(let push, let at):
      "The details of push \(push) were removed on \(at.day), and with them whom it did not reach. Send a new push."
    case .outOfOrder(let after, let found): "Device \(found) came after \(after); the page was not used."
    }
  }
}

extension Date {
  /// As `2026-11-21`, UTC.
  fileprivate var day: String { String(Timestamp.text(self).prefix(10)) }
}
