/// The announced end of a connection (RFC 9113 §6.8).
package struct GoAway: Sendable, Equatable {
  /// Streams above it were not processed.
  package let lastStreamID: Int32
  /// Why.
  package let code: ErrorCode
  /// What the peer says besides; at APNs JSON as `{"reason":"Shutdown"}`.
  package let debugData: [UInt8]
  package init(lastStreamID: Int32, code: ErrorCode, debugData: [UInt8]) {
    self.lastStreamID = lastStreamID
    self.code = code
    self.debugData = debugData
  }
}
