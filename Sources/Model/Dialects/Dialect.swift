package import Foundation
import JSON

/// The ways to write one push: the requests of three services, our own, and a file for Apple's Simulator; and one more
/// that is only read.
package enum Dialect: String, Sendable, CaseIterable {
  /// A `curl` command to APNs.
  case apns
  /// The body of JPush's `POST /v3/push`.
  case jpush
  /// The body of FCM's `messages:send`, HTTP v1.
  case fcm
  /// A `curl` command to `POST /api/v1/pushes`.
  case signalbox
  /// A file for `xcrun simctl push`, with the key `Simulator Target Bundle`.
  case simulator
  /// The body of the legacy `POST /fcm/send`. Google has shut that protocol down: its pushes are read, never written.
  case legacy

  /// Those in which a push is shown and copied.
  package static let written: [Dialect] = [.apns, .jpush, .fcm, .signalbox, .simulator]

  /// As its makers write it.
  package var name: String {
    switch self {
    case .apns: "APNs"
    case .jpush: "JPush v3"
    case .fcm: "FCM v1"
    case .signalbox: "Signalbox"
    case .simulator: "Apple Simulator"
    case .legacy: "legacy FCM"
    }
  }

  /// The app's bundle ID in a file for the Simulator.
  static let bundleKey = "Simulator Target Bundle"
  /// Stands where a dialect names one receiver.
  static let tokenPlaceholder = "$DEVICE_TOKEN"
  /// The registration ID in a JPush request whose audience JPush does not have; it has letters and digits only.
  static let registrationPlaceholder = "REGISTRATIONID"
}

/// One push in one dialect.
package struct DialectText: Sendable, Hashable {
  package let dialect: Dialect
  /// A command, or indented JSON.
  package let text: String
  /// What the draft says and the dialect does not; paths are the draft's.
  package private(set) var losses: [Problem] = []

  /// - Parameters:
  ///   - date: the time of sending, for an expiration.
  ///   - address: Signalbox's address, such as `http://127.0.0.1:8080`.
  package init(_ draft: PushDraft, in dialect: Dialect, sentAt date: Date, address: String) {
    self.dialect = dialect
    let token = draft.onlyToken
    var draft = draft
    if dialect != .jpush, dialect != .signalbox, let badge = draft.notification.badge, badge.isRelative {
      losses = [Problem("notification.badge", DialectMessage.counted, ["dialect": dialect.name])]
      draft.notification.badge = .set(badge.number(after: 0))
    }
    switch dialect {
    case .signalbox:
      text = Preview(draft, sentAt: date, address: address).apiCommand
      return
    case .apns:
      let command = Preview(draft, sentAt: date, address: address).apnsCommand
      text = token.map { command.replacing(Dialect.tokenPlaceholder, with: $0) } ?? command
    case .simulator:
      var members = APNsPayload(draft).json.object ?? [:]
      members[Dialect.bundleKey] = .string(draft.app)
      text = JSONValue.object(members).text(pretty: true)
    case .fcm, .legacy: text = Self.fcm(draft, token: token, sentAt: date).text(pretty: true)
    case .jpush: text = JPushText.json(draft).text(pretty: true)
    }
    addLosses(draft, hasToken: token != nil)
  }

  private mutating func lose(_ field: String, _ message: DialectMessage = .lost, if isUsed: Bool = true) {
    if isUsed { losses.append(Problem(field, message, ["dialect": dialect.name])) }
  }

  private mutating func addLosses(_ draft: PushDraft, hasToken: Bool) {
    let (options, isApple) = (draft.options, dialect == .apns || dialect == .simulator)
    if dialect == .jpush {
      if case .rule(let rule) = draft.audience { lose("audience.device_token", if: !rule.deviceToken.isEmpty) }
      lose("audience", if: draft.audience.subscribers != nil)
    } else if dialect == .simulator {
      lose("audience")
    } else {
      let own: Dialect? = draft.audience.subscribers.map { $0 == .channel ? .apns : .fcm }
      let isTarget = own == dialect
      lose("audience", .oneReceiver, if: !hasToken && !isTarget)
    }
    lose("platforms", .appleOnly, if: isApple && draft.platforms.contains(.android))
    lose("notification.\(Localization.key)", if: !draft.notification.localizations.isEmpty)
    lose("android", if: !draft.android.isEmpty && dialect != .fcm)
    lose("jpush", if: !draft.jpush.isEmpty && dialect != .jpush)
    lose("send_at", .sendsAtOnce, if: draft.sendAt != nil && draft.recurrence == nil)
    lose("repeat", .sendsAtOnce, if: draft.recurrence != nil)
    lose("options.rate", if: options.rate != nil)
    lose("options.spread_minutes", if: options.spreadMinutes != nil && dialect != .jpush)
    lose("options.at_most_once", if: options.atMostOnce)
    lose("options.dry_run", .reallySends, if: options.dryRun && dialect != .fcm)
    if dialect == .simulator {
      lose("environment")
      lose("options.time_to_live", if: options.timeToLive != nil)
      lose("options.collapse_id", if: options.collapseID != nil)
    }
    if dialect == .simulator || dialect == .jpush {
      lose("options.priority", if: options.priority != nil)
      lose("options.push_type", if: options.pushType != nil)
      lose("apns.headers", if: !draft.apns.headers.isEmpty)
    }
    if dialect == .jpush { losses += JPushText.losses(draft) }
  }

  /// The body of FCM's request; on iOS FCM passes the `apns` block on.
  private static func fcm(_ draft: PushDraft, token: String?, sentAt date: Date) -> JSONValue {
    var message = draft.platforms.contains(.android) ? FCMMessage(draft).json.object ?? [:] : [:]
    if draft.platforms.contains(.ios) {
      message["apns"] = APNsPayload(draft).fcmBlock(sentAt: date)
    }
    message.merge(draft.audience.topicTarget ?? ["token": .string(token ?? Dialect.tokenPlaceholder)]) { $1 }
    var request: [String: JSONValue] = ["message": .object(message)]
    if draft.options.dryRun { request["validate_only"] = true }
    return .object(request)
  }
}

extension PushDraft {
  /// The audience's token, if it is a single one and nothing else.
  fileprivate var onlyToken: String? {
    guard case .rule(let rule) = audience, rule.deviceToken.count == 1, let token = rule.deviceToken.first else {
      return nil
    }
    var rest = rule
    rest.deviceToken = []
    return rest.isEmpty ? token.text : nil
  }
}

/// What is said of a push that changes its dialect.
package enum DialectMessage: String, MessageSet {
  case lost = "dialect.lost"
  case oneReceiver = "dialect.one_receiver"
  case appleOnly = "dialect.apple_only"
  case sendsAtOnce = "dialect.sends_at_once"
  case reallySends = "dialect.really_sends"
  case aDay = "dialect.a_day"
  case counted = "dialect.counted"
  case refused = "dialect.refused"
  case notTaken = "dialect.not_taken"
  case token = "dialect.token"
  case ours = "dialect.ours"
  case differs = "dialect.differs"
  case rawPayload = "dialect.raw_payload"
  case unknown = "dialect.unknown"
  case invalid = "dialect.invalid"
  case curlQuote = "dialect.curl_quote"
  case curlValue = "dialect.curl_value"
  case curlFile = "dialect.curl_file"

  package var english: String {
    switch self {
    case .lost: "Left out: {dialect} has no field for this."
    case .oneReceiver: "Left out: {dialect} sends to one device per request. Put its token in place of $DEVICE_TOKEN."
    case .appleOnly: "Android is left out: {dialect} reaches Apple’s devices only."
    case .sendsAtOnce: "Left out: {dialect} sends at once."
    case .reallySends: "Left out: using this text really sends the push."
    case .aDay: "Not set: JPush keeps this push for one day."
    case .counted: "Written as a number: unlike Signalbox, {dialect} does not count the badge for each device."
    case .refused: "JPush would refuse this: {text}"
    case .notTaken: "Not imported: a push in Signalbox has no such setting."
    case .token: "Not imported: this is not a device token. Choose the audience yourself."
    case .ours: "Not imported: Signalbox sets this for each push."
    case .differs: "Android devices would not get this as the FCM request says."
    case .rawPayload: "Kept as raw JSON for iOS, because the form’s fields cannot express it."
    case .unknown:
      """
      This is not a push. Paste a curl command or HTTP request to APNs or Signalbox, JSON for JPush’s /v3/push, FCM’s \
      messages:send or legacy /fcm/send, or an .apns file.
      """
    case .invalid: "Not imported: {text}"
    case .curlQuote: "This command ends inside quotes. Copy the whole command."
    case .curlValue: "This command ends after {option}. Copy the whole command."
    case .curlFile: "This command reads its data from the file {file}. Paste that file’s content instead."
    }
  }
}
