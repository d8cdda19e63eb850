/// The connection ended while a body was read or an answer written: nobody is left to answer.
public struct ClientGone: Error, Equatable, CustomStringConvertible {
  /// One sentence.
  public var description: String { "The client closed the connection before the exchange was over." }

  init() {}
}
