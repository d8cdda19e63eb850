/// Hears what happens on a ``ClientConnection``, always on its loop's thread.
package protocol ClientConnectionHandler: AnyObject {
  /// Requests ended, one way or another; each exactly once.
  func connection(_ connection: ClientConnection, ended answers: [Answer])
  /// The connection itself changed.
  func connection(_ connection: ClientConnection, changed event: ClientConnection.Event)
}
