/// What the server asks of us (RFC 9113 §6.5.2).
struct PeerSettings {
  private(set) var headerTableSize: UInt32 = 4096
  /// As many as there can be, until it says otherwise.
  private(set) var maximumStreams: UInt32 = .max
  private(set) var initialWindow = 65_535
  private(set) var maximumFrameSize = 16_384

  static let headerTableSizeID: UInt16 = 1
  static let enablePushID: UInt16 = 2
  static let maximumStreamsID: UInt16 = 3
  static let initialWindowID: UInt16 = 4
  static let maximumFrameSizeID: UInt16 = 5
  static let maximumHeaderListID: UInt16 = 6

  /// Takes one setting; unknown ones are passed over.
  mutating func apply(_ id: UInt16, _ value: UInt32) throws(SessionFailure) {
    switch id {
    case Self.headerTableSizeID: headerTableSize = value
    case Self.enablePushID:
      guard value == 0 else { throw SessionFailure(.protocolError, "enabled server push: ENABLE_PUSH \(value)") }
    case Self.maximumStreamsID: maximumStreams = value
    case Self.initialWindowID:
      guard value <= Int32.max else {
        throw SessionFailure(.flowControlError, "announced an INITIAL_WINDOW_SIZE of \(value)")
      }
      initialWindow = Int(value)
    case Self.maximumFrameSizeID:
      guard (16_384...16_777_215).contains(value) else {
        throw SessionFailure(.protocolError, "announced a MAX_FRAME_SIZE of \(value)")
      }
      maximumFrameSize = Int(value)
    default: break
    }
  }
}
