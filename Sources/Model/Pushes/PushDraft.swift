public import Calendar
public import Foundation
public import JSON

/// A push as somebody asks for it: what the send form and `POST /api/v1/pushes` are read into.
public struct PushDraft: Sendable, Hashable {
  /// Bundle id of the app.
  public var app: String
  /// Never preselected: the sender says it.
  public var environment: Environment
  /// At least one.
  public var platforms: Set<Platform>
  /// Whom for.
  public var audience: Audience
  /// What it says.
  public var notification: Notification
  /// Overrides for iOS.
  public var apns = APNsOverrides()
  /// How to send.
  public var options = Options()
  /// Nil: at once. Of what repeats: nothing happens before.
  public var sendAt: Date?
  /// By whose clocks ``sendAt`` was given, for those who read it; it moves nothing. Nil: nobody said.
  public var timeZone: NamedZone?
  /// Nil: once.
  public var recurrence: RepeatRule?

  /// Raw headers and payload that replace what would be made from the notification.
  public struct APNsOverrides: Sendable, Hashable {
    /// As `apns-priority`; names in lower case.
    public var headers: [String: String] = [:]
    /// The whole payload; nil: made from the notification.
    public var payload: JSONValue?

    /// No overrides.
    public init() {}
  }

  /// How a push is sent.
  public struct Options: Sendable, Hashable {
    /// Seconds for which a provider keeps it for a device that is off; 0: one attempt. Nil: the provider's default.
    public var timeToLive: Int?
    /// Nil: high, or normal for a background push.
    public var priority: Priority?
    /// At most 64 bytes.
    public var collapseID: String?
    /// Nil: `alert`, or `background` if there is nothing to show.
    public var pushType: PushType?
    /// At most so many devices a second; nil: as fast as it goes.
    public var rate: Int?
    /// Spreads it evenly over so many minutes; not together with ``rate``.
    public var spreadMinutes: Int?
    /// Seconds for which it is held back, so that it can be taken back whole.
    public var undoSeconds = 0
    /// Never sends again what was sent and not answered: its outcome stays unknown. Off: it is sent again under the same
    /// id, at the risk that it arrives twice.
    public var atMostOnce = false
    /// Resolves the audience and checks the payload, sends nothing.
    public var dryRun = false

    /// Defaults.
    public init() {}
  }

  /// How urgent; APNs 10, 5 and 1.
  public enum Priority: String, Sendable, Codable, CaseIterable {
    /// At once (10).
    case high
    /// When it suits the device's battery (5).
    case normal
    /// Never wakes the device (1).
    case low
  }

  /// Creates a draft.
  public init(
    app: String, environment: Environment, platforms: Set<Platform>, audience: Audience, notification: Notification
  ) {
    self.app = app
    self.environment = environment
    self.platforms = platforms
    self.audience = audience
    self.notification = notification
  }
}

/// `apns-push-type` (Apple, Sending notification requests to APNs).
public enum PushType: String, Sendable, Codable, CaseIterable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, controls, widgets
}
