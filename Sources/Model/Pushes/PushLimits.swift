/// How much of each a push may have.
public enum PushLimits {
  /// Characters of title and subtitle.
  public static let title = 256
  /// Bytes of the body: not more than the largest payload has.
  public static let body = 5120
  /// Bytes of `sound`, `category`, `thread_id` and `link`.
  public static let word = 255
  /// Bytes of an image's address.
  public static let address = 2048
  /// Badge (JPush's Java client: 0…99999).
  public static let badge = 0...99_999
  /// Tags per kind of condition (JPush: 20).
  public static let tags = 20
  /// Aliases, registration ids or tokens (JPush: 1000).
  public static let names = 1000
  /// Seconds (FCM: 4 weeks; APNs: 30 days).
  public static let timeToLive = 0...2_419_200
  /// Devices a second.
  public static let rate = 1...1_000_000
  /// Minutes over which a push is spread: up to a week.
  public static let spreadMinutes = 1...10_080
  /// Seconds of an undo window.
  public static let undoSeconds = 0...60
  /// Every so many days, weeks or months.
  public static let repeatInterval = 1...366
  /// How many times something repeats.
  public static let repeatCount = 1...10_000
  /// Seconds for which a push without a time to live may be late.
  public static let grace: Double = 3600
  /// Bytes of a collapse id (Apple: "must not exceed 64 bytes").
  public static let collapseID = 64
}
