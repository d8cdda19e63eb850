/// Where a phone book keeps its phones from one start to the next.
///
/// Called by one task at a time, in the order of what happened, never by the thread that answers pushes. While one
/// call runs, what happens meanwhile is gathered for the next.
package protocol PhoneStorage: Sendable {
  /// Everything that was kept.
  func load() async throws -> [SimulatedPhone]
  /// Keeps changes, best in one transaction. They bear repetition: after an error the same may come again.
  func keep(_ writes: [PhoneWrite]) async throws
}

/// One change to keep.
package enum PhoneWrite: Sendable, Hashable {
  /// A phone as it is now, new or known.
  ///
  /// - Parameters:
  ///   - phone: with empty ``SimulatedPhone/received``; ids are the phone book's own and must be kept.
  ///   - notifications: those that are new or different, oldest first.
  ///   - removed: ids of those that it has no more, whether or not they were ever kept.
  case save(SimulatedPhone, notifications: [ReceivedNotification], removed: [Int64])
  /// The phone with this id, and all that it received.
  case remove(Int64)
}
