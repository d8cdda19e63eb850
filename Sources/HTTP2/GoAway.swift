/// The announced end of a connection (RFC 9113 §6.8).
public struct GoAway: Sendable, Equatable {
  /// Streams above it were not processed.
  public let lastStreamID: Int32
  /// Why.
  public let code: ErrorCode
  /// What the peer says besides; at APNs JSON as `{"reason":"Shutdown"}`.
  public let debugData: [UInt8]

  /// Creates a value.
  public init(lastStreamID: Int32, code: ErrorCode, debugData: [UInt8]) {
    self.lastStreamID = lastStreamID
    self.code = code
    self.debugData = debugData
  }
}
