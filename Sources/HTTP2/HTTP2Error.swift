package import OpenSSL
package import Reactor

/// Why a connection could not be made or ended. Two errors are equal if their codes are.
package struct HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable, Hashable {
    /// The host name has no address.
    case lookup
    /// The TCP connection could not be opened, or broke.
    case connection
    /// The proxy opened no tunnel.
    case proxy(ProxyProblem.Code)
    /// TLS failed, for instance because a certificate was refused.
    case tls(TLSError.Code)
    /// The peer speaks TLS, but not HTTP/2.
    case notHTTP2
    /// The connection was not ready in time.
    case connectTimeout
    /// The peer answers neither requests nor PINGs: most likely the network path is broken.
    case unresponsive
    /// The peer allows no stream for too long.
    case stalled
    /// The peer takes requests, and ends them without an answer.
    case unanswered
    /// The peer speaks HTTP/2, and answers what the service never does.
    case unreadable
    /// One side violated the protocol.
    case protocolViolation
    /// The peer announced the end (GOAWAY).
    case goneAway
    /// The peer closed the connection without GOAWAY.
    case closedByPeer
    /// We closed it.
    case stopped
  }

  package let code: Code
  package let message: String
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: TLSError) {
    self.init(error.code == .connection ? .connection : .tls(error.code), error.message)
  }

  init(_ problem: ProxyProblem) { self.init(.proxy(problem.code), problem.message) }

  /// Whether the peer refuses our identity: reconnecting in a loop is pointless.
  package var isAuthentication: Bool { code == .tls(.identityRefused) }

  /// Whether further attempts would be refused alike, and might be taken for an attack.
  var isLasting: Bool { isAuthentication || code == .proxy(.authentication) || code == .proxy(.forbidden) }

  package var description: String { message }

  package static func == (one: HTTP2Error, other: HTTP2Error) -> Bool { one.code == other.code }
}

/// Why a stream or a connection ended (RFC 9113 §7).
package struct ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let noError = ErrorCode(rawValue: 0)
  /// The peer violated the protocol.
  package static let protocolError = ErrorCode(rawValue: 1)
  /// Something broke inside.
  package static let internalError = ErrorCode(rawValue: 2)
  /// The peer exceeded the flow-control window (RFC 9113 §5.2).
  package static let flowControlError = ErrorCode(rawValue: 3)
  /// A frame for a stream that has ended.
  package static let streamClosed = ErrorCode(rawValue: 5)
  /// A frame with an invalid size.
  package static let frameSizeError = ErrorCode(rawValue: 6)
  /// The stream was not processed: safe to send again (RFC 9113 §8.7).
  package static let refusedStream = ErrorCode(rawValue: 7)
  /// The stream is no longer needed.
  package static let cancel = ErrorCode(rawValue: 8)
  /// Header fields that cannot be decompressed (RFC 7541).
  package static let compressionError = ErrorCode(rawValue: 9)
  /// The peer generates excessive load.
  package static let enhanceYourCalm = ErrorCode(rawValue: 11)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  package var description: String { rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "\(rawValue)" }
}

/// The announced end of a connection (RFC 9113 §6.8).
package struct GoAway: Sendable, Equatable {
  /// Streams above it were not processed.
  package let lastStreamID: Int32
  package let code: ErrorCode
  /// The peer's explanation; at APNs JSON such as `{"reason":"Shutdown"}`.
  package let debugData: [UInt8]
}
