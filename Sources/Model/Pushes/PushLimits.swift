package enum PushLimits {
  /// Characters of title and subtitle.
  package static let title = 256
  /// Characters; no payload allows more bytes.
  package static let body = 5120
  /// Characters of `sound`, `category`, `thread_id` and `link`.
  package static let word = 255
  /// Characters of an image's address.
  package static let address = 2048
  /// Badge (JPush's Java client: 0…99999).
  package static let badge = 0...99_999
  /// Tags per kind of condition (JPush: 20).
  package static let tags = 20
  /// Aliases, registration ids or tokens (JPush: 1000).
  package static let names = 1000
  /// Segments (JPush: 1).
  package static let segments = 10
  /// Seconds (FCM: 4 weeks; APNs: 30 days).
  package static let timeToLive = 0...2_419_200
  /// Devices per second.
  package static let rate = 1...1_000_000
  /// Minutes, up to a week.
  package static let spreadMinutes = 1...10_080
  /// Seconds of an undo window.
  package static let undoSeconds = 0...60
  /// Every so many days, weeks or months.
  package static let repeatInterval = 1...366
  /// Number of occurrences.
  package static let repeatCount = 1...10_000
  /// Seconds by which a push without a time to live may be late.
  package static let grace: Double = 3600
  /// Seconds by which a push or the start of a schedule may lie ahead: a hundred years. A later year is a typing error.
  package static let ahead: Double = 36_525 * 86_400
  /// Bytes of a collapse id (Apple: "must not exceed 64 bytes").
  package static let collapseID = 64
}
