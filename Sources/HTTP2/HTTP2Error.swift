package import OpenSSL

/// Why a connection could not be made or ended. Two errors are equal if their codes are.
package struct HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
  /// What happened, as far as a program needs to tell it apart.
  package enum Code: Sendable, Hashable {
    /// The host name has no address.
    case lookup
    /// No TCP connection, or it broke.
    case connection
    /// TLS failed; ours or the peer's certificate was refused, for instance.
    case tls(TLSError.Code)
    /// The peer speaks TLS, but not HTTP/2.
    case notHTTP2
    /// The connection did not stand in time.
    case connectTimeout
    /// The peer answers neither requests nor PINGs: most likely the network between is gone.
    case unresponsive
    /// The peer allows no stream and has not changed its mind.
    case stalled
    /// One side broke the protocol.
    case protocolViolation
    /// The peer announced the end (GOAWAY).
    case goneAway
    /// The peer closed the connection without a word.
    case closedByPeer
    /// We closed it.
    case stopped
  }

  /// What happened.
  package let code: Code
  /// The same in words.
  package let message: String
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: TLSError) {
    self.init(error.code == .connection ? .connection : .tls(error.code), error.message)
  }

  /// Whether the peer refuses who we are: trying again in a loop helps nobody.
  package var isAuthentication: Bool { code == .tls(.identityRefused) }

  /// ``message``.
  package var description: String { message }

  /// Errors are the same if their codes are.
  package static func == (one: HTTP2Error, other: HTTP2Error) -> Bool { one.code == other.code }
}
