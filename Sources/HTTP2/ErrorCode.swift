/// Why a stream or a connection ended (RFC 9113 §7).
package struct ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// As sent.
  package let rawValue: UInt32

  /// Any code, known or not.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Ended in good order.
  package static let noError = ErrorCode(rawValue: 0)
  /// The other side broke the protocol.
  package static let protocolError = ErrorCode(rawValue: 1)
  /// Something broke inside.
  package static let internalError = ErrorCode(rawValue: 2)
  /// More came than there was room for (RFC 9113 §5.2).
  package static let flowControlError = ErrorCode(rawValue: 3)
  /// A frame for a stream that has ended.
  package static let streamClosed = ErrorCode(rawValue: 5)
  /// A frame of a size that it must not have.
  package static let frameSizeError = ErrorCode(rawValue: 6)
  /// The stream was not processed at all: safe to send again (RFC 9113 §8.7).
  package static let refusedStream = ErrorCode(rawValue: 7)
  /// No longer wanted.
  package static let cancel = ErrorCode(rawValue: 8)
  /// Header fields that cannot be unpacked (RFC 7541).
  package static let compressionError = ErrorCode(rawValue: 9)
  /// The other side asks too much.
  package static let enhanceYourCalm = ErrorCode(rawValue: 11)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  /// The name in the RFC, or the number.
  package var description: String { rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "\(rawValue)" }
}
