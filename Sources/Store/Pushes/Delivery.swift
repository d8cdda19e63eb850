package import Foundation
package import Model
internal import SQLite

/// The stored outcome of a push on one device. Its `apns-id` is `APNsID(seed: push.seed, device: deviceID)`.
package struct Delivery: Sendable, Hashable {
  package let pushID: Int64
  package let deviceID: Int64
  package let outcome: OutcomeKind
  /// 0 without an answer.
  package let status: Int
  /// The provider's or our reason; nil if accepted.
  package let reason: String?
  /// When the outcome was known.
  package let at: Date
  package let durationMilliseconds: Int
  package let attempts: Int

  static let columns = "x.push_id, x.device_id, x.outcome, x.status, r.text, x.at, x.duration_ms, x.attempts"
  static let columnCount = 8

  init(_ row: borrowing Row) throws {
    pushID = row.int64(0)
    deviceID = row.int64(1)
    outcome = try row.value(2, as: OutcomeKind.self)
    status = row.int(3)
    reason = row.optionalText(4)
    at = row.date(5)
    durationMilliseconds = row.int(6)
    attempts = row.int(7)
  }

  /// The last attempt of a device that waits for another one, as if it had been final.
  init(_ waiting: WaitingDelivery, push: Int64) {
    (pushID, deviceID, attempts) = (push, waiting.deviceID, waiting.attempts)
    (outcome, status, reason) = (waiting.last.kind, waiting.last.status, waiting.last.reason)
    (at, durationMilliseconds) = (waiting.firstAt, 0)
  }
}

package struct DeliveryResult: Sendable, Hashable {
  package var deviceID: Int64
  package var platform: Platform
  /// The service that it was, or would have been, sent through.
  package var provider: ProviderKind
  package var outcome: Outcome
  /// When the outcome was known.
  package var at: Date
  /// From request to answer; 0 without a request.
  package var durationMilliseconds: Int
  package var attempts: Int
  /// Which of the push's texts it was for; nil: there is one only, or nobody knows any more.
  package var variant: Int?
  package init(
    deviceID: Int64, platform: Platform, provider: ProviderKind? = nil, outcome: Outcome, at: Date,
    durationMilliseconds: Int = 0, attempts: Int = 1, variant: Int? = nil
  ) {
    (self.variant, self.deviceID, self.platform) = (variant, deviceID, platform)
    self.provider = provider ?? platform.ownProvider
    (self.outcome, self.at, self.durationMilliseconds, self.attempts) = (outcome, at, durationMilliseconds, attempts)
  }
}

/// A platform, and the service that reaches its devices.
package struct Reach: Sendable, Hashable {
  package let platform: Platform
  package let provider: ProviderKind

  package init(_ platform: Platform, _ provider: ProviderKind) {
    (self.platform, self.provider) = (platform, provider)
  }

  /// Every combination.
  package static let all = Platform.allCases.flatMap { platform in platform.providers.map { Reach(platform, $0) } }
}

/// The number of devices by outcome.
package struct OutcomeCounts: Sendable, Hashable {
  /// Accepted by the provider.
  package var accepted = 0
  package var failed = 0
  /// Refused, because the token is invalid.
  package var deadToken = 0
  package var skipped = 0
  /// Possibly sent, without an answer.
  package var unknown = 0

  package init(accepted: Int = 0, failed: Int = 0, deadToken: Int = 0, skipped: Int = 0, unknown: Int = 0) {
    self.accepted = accepted
    self.failed = failed
    self.deadToken = deadToken
    self.skipped = skipped
    self.unknown = unknown
  }

  package var total: Int { accepted + failed + deadToken + skipped + unknown }

  package subscript(kind: OutcomeKind) -> Int {
    get {
      switch kind {
      case .accepted: accepted
      case .failed: failed
      case .deadToken: deadToken
      case .skipped: skipped
      case .unknown: unknown
      }
    }
    set {
      switch kind {
      case .accepted: accepted = newValue
      case .failed: failed = newValue
      case .deadToken: deadToken = newValue
      case .skipped: skipped = newValue
      case .unknown: unknown = newValue
      }
    }
  }
}
