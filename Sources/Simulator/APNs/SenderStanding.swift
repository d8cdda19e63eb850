import Model

/// Counts the errors of one connection.
///
/// "4XX slows down your ability to send": APNs lowers SETTINGS_MAX_CONCURRENT_STREAMS, and ends a connection whose
/// errors continue, sooner for `BadDeviceToken`; a 410 is no error (docs/protocols.md §1.1). Apple gives no numbers:
/// these are ours.
struct SenderStanding: Sendable, Hashable {
  /// Points after which the streams are halved, and halved again.
  static let step = 200
  /// Points that end the connection.
  static let end = 2000

  private(set) var points = 0

  /// A consequence for the connection.
  enum Change: Sendable, Hashable {
    case streams(UInt32)
    case end
  }

  var streams: UInt32 { max(1, APNsService.streams >> UInt32(points / Self.step)) }

  /// Counts an answer.
  ///
  /// - Returns: nil: no consequence.
  mutating func note(_ status: Int, _ reason: String?) -> Change? {
    let (before, streamsBefore) = (points, streams)
    switch status {
    case 200..<300: points = max(0, points - 1)
    case 410: break
    case 400...499: points = min(Self.end, points + (reason.flatMap(APNsCode.init) == .badDeviceToken ? 2 : 1))
    default: break
    }
    if points == Self.end { return before < Self.end ? .end : nil }
    return streams == streamsBefore ? nil : .streams(streams)
  }
}
