import Calendar
package import Foundation
internal import Model

/// Why the store refused a request.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  case notFound(noun: String, id: String)
  /// The name is taken.
  case taken(noun: String, field: String)
  /// Something refers to the row.
  case inUse(noun: String, by: [String])
  /// A cursor of another list.
  case badCursor(String)
  /// A value that this version does not know.
  case unreadable(column: String, value: String)
  /// The push's details were removed, so it is unknown which devices it did not reach.
  case detailsRemoved(push: String, at: Date)
  /// Pages of an audience out of order: a bug that would lose devices.
  case outOfOrder(after: Int64, found: Int64)

  package var description: String {
    switch self {
    case .notFound(let noun, let id): "There is no \(noun) \(id)."
    case .taken(let noun, let field): "Another \(noun) already has this \(field)."
    case .inUse(let noun, let by): "This \(noun) is still used by \(by.joined(separator: ", "))."
    case .badCursor(let text): "“\(text)” is not a valid cursor for this list. Start without one."
    case .unreadable(let column, let value):
      "\(column) contains \(value), which this version does not know. A newer version may have written the file."
    case .detailsRemoved(let push, let at):
      "The per-device results of push \(push) were deleted on \(at.day), so it cannot be retried. Send a new push."
    case .outOfOrder(let after, let found): "Device \(found) came after \(after); the page was not used."
    }
  }
}

extension Date {
  /// As `2026-11-21`, UTC.
  fileprivate var day: String { String(Timestamp.text(self).prefix(10)) }
}
