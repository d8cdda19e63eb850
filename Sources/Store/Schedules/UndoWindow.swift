internal import Model
package import SQLite

/// For how long a push that was sent from the browser is held back, so that it can be taken back whole: a setting of
/// the installation.
package enum UndoWindow {
  /// The key among the settings.
  package static let key = "undo_seconds"

  /// Seconds; 0: not at all.
  ///
  /// - Parameter usual: what holds as long as nobody has set it, or for a value that is none.
  package static func find(_ database: Database, usual: Int) throws -> Int {
    let seconds = try Setting.find(database, key).flatMap { Int($0) } ?? usual
    return PushLimits.undoSeconds.contains(seconds) ? seconds : usual
  }

  /// Sets it.
  ///
  /// - Precondition: it is among `PushLimits.undoSeconds`.
  package static func set(_ database: Database, seconds: Int) throws {
    precondition(PushLimits.undoSeconds.contains(seconds), "an undo window is 0 to 60 seconds")
    try Setting.set(database, key, String(seconds))
  }
}
