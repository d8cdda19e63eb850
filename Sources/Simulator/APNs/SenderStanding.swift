/// How much one connection has annoyed APNs.
///
/// "4XX slows down your ability to send": APNs lowers SETTINGS_MAX_CONCURRENT_STREAMS, and ends the connection where it
/// goes on, sooner for `BadDeviceToken`; a 410 is no error (docs/protocols.md §1.1). Apple gives no numbers: these are ours.
struct SenderStanding: Sendable, Hashable {
  /// Points after which the streams are halved, and halved again.
  static let step = 200
  /// Points with which a connection ends.
  static let end = 2000

  private(set) var points = 0

  /// What the connection is told.
  enum Change: Sendable, Hashable {
    case streams(UInt32)
    case end
  }

  /// Streams that the connection may have open.
  var streams: UInt32 { max(1, APNsService.streams >> UInt32(points / Self.step)) }

  /// Notes an answer.
  ///
  /// - Returns: nil: nothing changes by it.
  mutating func note(_ status: Int, _ reason: String?) -> Change? {
    let (before, streamsBefore) = (points, streams)
    switch status {
    case 200: points = max(0, points - 1)
    case 410: break
    case 400...499: points = min(Self.end, points + (reason == "BadDeviceToken" ? 2 : 1))
    default: break
    }
    if points == Self.end { return before < Self.end ? .end : nil }
    return streams == streamsBefore ? nil : .streams(streams)
  }
}
