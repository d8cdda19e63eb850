/// The connection ended while a body was read or an answer written: nobody is left to answer.
package struct ClientGone: Error, Equatable, CustomStringConvertible {
  /// One sentence.
  package var description: String { "The client closed the connection before the exchange was over." }

  init() {}
}
