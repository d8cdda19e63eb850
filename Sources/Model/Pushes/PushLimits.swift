/// How much of each a push may have.
package enum PushLimits {
  /// Characters of title and subtitle.
  package static let title = 256
  /// Bytes of the body: not more than the largest payload has.
  package static let body = 5120
  /// Bytes of `sound`, `category`, `thread_id` and `link`.
  package static let word = 255
  /// Bytes of an image's address.
  package static let address = 2048
  /// Badge (JPush's Java client: 0…99999).
  package static let badge = 0...99_999
  /// Tags per kind of condition (JPush: 20).
  package static let tags = 20
  /// Aliases, registration ids or tokens (JPush: 1000).
  package static let names = 1000
  /// Seconds (FCM: 4 weeks; APNs: 30 days).
  package static let timeToLive = 0...2_419_200
  /// Devices a second.
  package static let rate = 1...1_000_000
  /// Minutes over which a push is spread: up to a week.
  package static let spreadMinutes = 1...10_080
  /// Seconds of an undo window.
  package static let undoSeconds = 0...60
  /// Every so many days, weeks or months.
  package static let repeatInterval = 1...366
  /// How many times something repeats.
  package static let repeatCount = 1...10_000
  /// Seconds for which a push without a time to live may be late.
  package static let grace: Double = 3600
  /// Bytes of a collapse id (Apple: "must not exceed 64 bytes").
  package static let collapseID = 64
}
