/// Is told which requests of a batch leave, before a byte of them does: for whoever must know that after the end of
/// the process. Called on the loop of the group that sends them, for each request: it notes and returns.
package protocol DepartureNotes: AnyObject, Sendable {
  /// A request is about to leave.
  func left(_ index: Int, id: Int64)
  /// It did not leave after all, or the peer has certainly not acted on it: it is sent again, or given up.
  func returned(_ index: Int)
}
