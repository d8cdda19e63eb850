package import Calendar
package import Foundation
package import JSON

/// A requested push: the send form and `POST /api/v1/pushes` are read into it.
package struct PushDraft: Sendable, Hashable {
  /// Bundle ID.
  package var app: String
  /// Never preselected: the sender chooses it.
  package var environment: Environment
  /// At least one.
  package var platforms: Set<Platform>
  package var audience: Audience
  package var notification: Notification
  package var apns = APNsOverrides()
  /// Merged over the generated `android` block of FCM's message.
  package var android: [String: JSONValue] = [:]
  /// For the devices that JPush reaches.
  package var jpush = JPushBlock()
  package var options = Options()
  /// Nil: at once. For a repeating push, the earliest time.
  package var sendAt: Date?
  /// The time zone in which ``sendAt`` was given, for display only. Nil: unknown.
  package var timeZone: NamedZone?
  /// Nil: once.
  package var recurrence: RepeatRule?
  /// Keys without effect of the request that it was read from, as that named them.
  package var unused: [String] = []

  /// Raw headers and payload that replace the generated ones.
  package struct APNsOverrides: Sendable, Hashable {
    /// Names such as `apns-priority`, in lower case.
    package var headers: [String: String] = [:]
    /// The whole payload; nil: generated from the notification.
    package var payload: JSONValue?
    /// Whether ``payload`` gets the push's ID and signature, as a generated one does: the app drops duplicates by one,
    /// and reports with the other.
    package var isIdentified = false

    package init() {}
  }

  package struct Options: Sendable, Hashable {
    /// Seconds for which a provider keeps it for an offline device; 0: one attempt. Nil: the provider's default.
    package var timeToLive: Int?
    /// Nil: high, or normal for a background push.
    package var priority: Priority?
    /// At most 64 bytes.
    package var collapseID: String?
    /// Nil: `alert`, or `background` if there is nothing to show.
    package var pushType: PushType?
    /// The most devices per second; nil: full speed.
    package var rate: Int?
    /// Minutes over which it is spread evenly; excludes ``rate``.
    package var spreadMinutes: Int?
    /// Seconds for which it is held back for undo.
    package var undoSeconds = 0
    /// Never resends an unanswered push: its outcome stays unknown. Off: it is resent under the same ID, at the risk of
    /// a duplicate.
    package var atMostOnce = false
    /// Accepts an audience that has no active device now; otherwise such a push is refused.
    package var allowEmptyAudience = false
    /// Resolves the audience and checks the payload, but sends nothing.
    package var dryRun = false
    /// Reaches Android devices of both environments: only APNs tells them apart. The draft's environment is iOS's then.
    package var anyAndroid = false

    package init() {}
  }

  /// How urgent; APNs 10, 5 and 1.
  package enum Priority: String, Sendable, Codable, CaseIterable {
    /// Immediately (10).
    case high
    /// Considering the device's battery (5).
    case normal
    /// Without waking the device (1).
    case low
  }
  package init(
    app: String, environment: Environment, platforms: Set<Platform>, audience: Audience, notification: Notification
  ) {
    (self.app, self.environment, self.platforms) = (app, environment, platforms)
    (self.audience, self.notification) = (audience, notification)
  }
}

/// `apns-push-type` (Apple, Sending notification requests to APNs).
package enum PushType: String, Sendable, Codable, CaseIterable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, controls, widgets
}

extension PushDraft {
  /// Its kind, for people: the given type, or the one that its content has. A push to Android alone that shows nothing is
  /// a background push too, though no push to Apple says so.
  package var pushType: PushType {
    let type = APNsPayload(self).pushType
    let isGiven = options.pushType != nil || apns.headers[APNsHeader.pushType] != nil
    guard type == .alert, !isGiven, apns.payload == nil, platforms == [.android] else { return type }
    let hasText = notification.title != nil || !(notification.body ?? "").isEmpty
    return hasText || android["notification"] != nil ? type : .background
  }

  /// The latest start of a push due at `due`: its time to live, or ``PushLimits/grace`` if that is missing or 0.
  ///
  /// A server that was down does not send outdated pushes.
  package func latestStart(due: Date) -> Date {
    if let date = expiration(sentAt: due), date.timeIntervalSince1970 > 0 { return date }
    return due.addingTimeInterval(PushLimits.grace)
  }

  /// The end of the time to live of a push sent at `date`; the start of 1970: a single attempt. Nil: none.
  package func expiration(sentAt date: Date) -> Date? {
    // A channel's default of 0 is about Apple's storage, not about our retries.
    if case .channel = audience, options.timeToLive == nil, apns.headers[APNsHeader.expiration] == nil { return nil }
    let text = APNsPayload(self).expiration(sentAt: date)
    return text.flatMap(Double.init).map { Date(timeIntervalSince1970: $0) }
  }

  /// Seconds for which a provider keeps it for a device, from the moment at which it first gets it. Nil: the end is the
  /// same for all devices, there is none, or each device has a single attempt.
  package var secondsToLive: Int? {
    guard apns.headers[APNsHeader.expiration] == nil, let seconds = options.timeToLive, seconds > 0 else { return nil }
    return seconds
  }

  /// One occurrence of a repeating draft.
  package func occurrence(at date: Date) -> PushDraft {
    var draft = self
    draft.timeZone = draft.recurrence?.zone ?? draft.timeZone
    draft.recurrence = nil
    draft.sendAt = date
    return draft
  }

  /// Devices per second for the requested duration at `target` devices; nil: full speed.
  package func rate(target: Int) -> Double? {
    if let rate = options.rate { return Double(rate) }
    guard let minutes = options.spreadMinutes else { return nil }
    return Double(max(1, target)) / Double(minutes * 60)
  }
}
