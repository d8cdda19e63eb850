package import JSON

/// What a JPush request shows on each platform (docs/protocols.md §4.2).
package struct JPushContent {
  /// Those that get something: JPush sends nothing to a platform whose part is missing.
  let platforms: Set<Platform>
  /// What Android shows, and iOS too unless there is a ``payload``.
  let notification: Notification
  /// What iOS gets, if it differs from ``notification`` or a notification cannot express it.
  let payload: JSONValue?
  /// The block `android` of the draft: the notification channel, which FCM and JPush both have.
  let android: [String: JSONValue]
  /// Keys of `notification.android` for devices that JPush reaches.
  let jpush: [String: JSONValue]
  /// Paths of the keys without effect.
  let unused: [String]

  /// Bytes of `notification.ios`.
  static let iosLimit = 2000
  /// Bytes of `notification.android` and `message` together, and of `message` on iOS.
  static let messageLimit = 4000
  /// The field of a request without content.
  static let field = "notification"
  /// The key of `message` in the payload.
  package static let messageKey = "message"

  private static let refused: JPushFields.Refusals = [
    "ai_opportunity": (.paidFeature, "Signalbox does not choose the time for each user. Remove this key."),
    "alternate_alert": (.paidFeature, "Signalbox sends no alternate texts. Remove this key."),
    "voip": (.noRight, "Signalbox sends no VoIP pushes here. Remove this key."),
  ]

  init(_ fields: JPushFields, platforms wanted: Set<Platform>) throws(JPushError) {
    let message = try Self.message(fields)
    let parts = try fields["notification"].map { value throws(JPushError) in
      try JPushFields(
        value, at: "notification", known: ["alert", "ios", "android"], idle: JPushRequest.otherPlatforms,
        refused: Self.refused, moved: ["title": "notification.android.title", "extras": "notification.ios.extras"])
    }
    let alert = try parts?.text("alert")
    var unused = (parts?.unused ?? []) + (message?.unused ?? [])
    var ios: (notification: Notification, payload: JSONValue?)?
    var android: Notification?
    if wanted.contains(.ios), let parts, alert != nil || parts["ios"] != nil {
      ios = try Self.ios(Self.filled(parts["ios"], alert), &unused)
    }
    var (channel, own) = (String?.none, [String: JSONValue]())
    if wanted.contains(.android), let parts, alert != nil || parts["android"] != nil {
      let part = try Self.android(Self.filled(parts["android"], alert), message?.json)
      (android, channel, own) = (part.notification, part.channel, part.own)
    }
    jpush = own
    self.android = channel.map { ["notification": ["channel_id": .string($0)]] } ?? [:]
    if let message = message?.json {
      try Self.check(message, "message", limit: Self.messageLimit)
      if wanted.contains(.ios) {
        var part = ios ?? (Self.silent, nil)
        try Self.add(message, to: &part.notification)
        if let payload = part.payload?.object {
          part.payload = .object(payload.merging([Self.messageKey: message]) { $1 })
        }
        ios = part
      }
      if wanted.contains(.android) {
        var part = android ?? Self.silent
        try Self.add(message, to: &part)
        android = part
      }
    }
    guard ios != nil || android != nil else {
      let others = (parts?.members.keys.sorted() ?? []).filter(JPushRequest.otherPlatforms.contains)
      if let other = others.first {
        throw JPushError(
          .noRight, "notification.\(other): Signalbox sends to ios and android only. Add a part for one of them.",
          field: "notification.\(other)")
      }
      throw JPushError(
        .missing, "Missing parameter: notification or message, with content for at least one of the platforms.",
        field: Self.field)
    }
    platforms = Set((ios == nil ? [] : [.ios]) + (android == nil ? [] : [.android]))
    self.unused = unused
    guard let ios else {
      (notification, payload) = (android ?? Notification(), nil)
      return
    }
    guard let android else {
      (notification, payload) = (ios.payload == nil ? ios.notification : Notification(), ios.payload)
      return
    }
    notification = android
    payload = ios.payload ?? (ios.notification == android ? nil : APNsPayload.payload(of: ios.notification, uid: nil))
  }

  /// A platform's part, with the alert of all platforms unless it has its own. The limits count it, too.
  private static func filled(_ value: JSONValue?, _ alert: String?) -> JSONValue {
    let value = value ?? [:]
    guard var members = value.object, let alert, members["alert"] ?? .null == .null else { return value }
    members["alert"] = .string(alert)
    return .object(members)
  }

  /// A `message` alone: the app is woken, and nothing is shown.
  private static var silent: Notification {
    var notification = Notification()
    notification.contentAvailable = true
    return notification
  }

  private static func add(_ message: JSONValue, to notification: inout Notification) throws(JPushError) {
    guard notification.extras.updateValue(message, forKey: messageKey) == nil else {
      throw JPushError(
        .invalid, "extras must not have the key “\(messageKey)” in a push with a message: the message is sent there.",
        field: messageKey)
    }
  }

  private static func check(_ value: JSONValue, _ place: String, limit: Int) throws(JPushError) {
    let count = value.bytes.count
    guard count <= limit else {
      throw JPushError(.tooLarge, "\(place) has \(count) bytes; the limit is \(limit).", field: place)
    }
  }

  /// The `message` among a notification's extras; nil: none that JPush would take.
  package static func message(in extras: [String: JSONValue]) -> [String: JSONValue]? {
    guard let value = extras[messageKey], let fields = try? JPushFields([messageKey: value], known: [messageKey])
    else { return nil }
    return (try? message(fields))?.json.object
  }

  /// Nil if absent; JPush's documents show an empty one for none.
  private static func message(_ fields: JPushFields) throws(JPushError) -> (json: JSONValue, unused: [String])? {
    guard let value = fields["message"], value != [:] else { return nil }
    let alternate = (code: JPushCode.paidFeature, why: "Signalbox sends no alternate texts. Remove this key.")
    let known: Set = ["msg_content", "title", "content_type", "extras"]
    let message = try JPushFields(
      value, at: "message", known: known, refused: ["alternate_title": alternate, "alternate_content": alternate],
      moved: ["content": "msg_content", "alert": "msg_content"])
    guard message["msg_content"] != nil else {
      throw JPushError(.missing, "Missing parameter: message.msg_content", field: "message")
    }
    _ = try message.text("title")
    _ = try message.text("content_type")
    _ = try message.object("extras")
    return (.object(message.members.filter { known.contains($0.key) }), message.unused)
  }

  // MARK: iOS

  private static func ios(
    _ value: JSONValue, _ unused: inout [String]
  ) throws(JPushError) -> (Notification, JSONValue?) {
    try check(value, "notification.ios", limit: iosLimit)
    let fields = try JPushFields(
      value, at: "notification.ios",
      known: [
        "alert", "sound", "badge", "content-available", "mutable-content", "category", "thread-id",
        "interruption-level", "extras", "subtitle",
      ], moved: ["title": "notification.ios.alert.title", "body": "notification.ios.alert.body"])
    var notification = Notification()
    // What a notification cannot express: an alert with keys for translations, a critical sound.
    var raw: [String: JSONValue] = [:]
    switch fields["alert"] {
    case nil: break
    case .string(let text)?: notification.body = text.isEmpty ? nil : text
    case .object(let members)?:
      let plain = ["title", "subtitle", "body"]
      if members.allSatisfy({ plain.contains($0.key) && $0.value.string != nil }) {
        func text(_ name: String) -> String? { members[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        (notification.title, notification.subtitle, notification.body) = (text("title"), text("subtitle"), text("body"))
      } else {
        raw["alert"] = .object(members)
      }
    default: throw fields.invalid("alert", "must be a string or a JSON object.")
    }
    // The library for Java has it beside the alert.
    if let subtitle = try fields.text("subtitle") {
      if let alert = raw["alert"]?.object {
        raw["alert"] = .object(["subtitle": .string(subtitle)].merging(alert) { $1 })
      } else {
        notification.subtitle = notification.subtitle ?? subtitle
      }
    }
    if fields["sound"]?.object != nil {
      raw["sound"] = fields["sound"]
    } else {
      notification.sound = try fields.text("sound")
    }
    notification.badge = try badge(fields, &unused)
    notification.contentAvailable = try fields.flag("content-available") ?? false
    notification.mutableContent = try fields.flag("mutable-content") ?? false
    notification.category = try fields.text("category")
    notification.threadID = try fields.text("thread-id")
    notification.interruptionLevel = try interruptionLevel(fields)
    notification.extras = try fields.object("extras") ?? [:]
    guard !raw.isEmpty else { return (notification, nil) }
    guard notification.extras["aps"] == nil else { throw fields.invalid("extras", "must not have the key aps.") }
    var payload = APNsPayload.payload(of: notification, uid: nil).object ?? [:]
    payload["aps"] = .object((payload["aps"]?.object ?? [:]).merging(raw) { $1 })
    return (notification, .object(payload))
  }

  /// `"+1"` is counted here for each device. `"auto"` leaves the badge to JPush's library: it stays as it is.
  private static func badge(_ fields: JPushFields, _ unused: inout [String]) throws(JPushError) -> Badge? {
    guard let value = fields["badge"] else { return nil }
    if value == "auto" {
      unused.append(fields.place("badge"))
      return nil
    }
    // JPush's documents write numbers as texts, too.
    let number = value.string.flatMap { $0.first?.isNumber == true ? Int64($0) : nil }.map(JSONValue.integer)
    guard let badge = Badge(json: number ?? value) else {
      throw fields.invalid("badge", "must be a number from 0 to 99999, or a text such as \"+1\".")
    }
    return badge
  }

  private static func interruptionLevel(_ fields: JPushFields) throws(JPushError) -> Notification.InterruptionLevel? {
    guard let word = try fields.text("interruption-level") else { return nil }
    // JPush writes timeSensitive, Apple time-sensitive.
    guard let level = Notification.InterruptionLevel(rawValue: word == "timeSensitive" ? "time-sensitive" : word) else {
      throw fields.invalid("interruption-level", "must be active, critical, passive or timeSensitive.")
    }
    return level
  }

  // MARK: Android

  private static let ofAndroid = ["alert", "title", "sound", "extras", "badge_set_num", "badge_add_num", "channel_id"]

  private static func android(
    _ value: JSONValue, _ message: JSONValue?
  ) throws(JPushError) -> (notification: Notification, channel: String?, own: [String: JSONValue]) {
    let hours = (code: JPushCode.noRight, why: "Signalbox cannot limit the hours at which a phone shows it.")
    let fields = try JPushFields(
      value, at: "notification.android", known: Set(ofAndroid + JPushBlock.androidKeys),
      refused: ["show_begin_time": hours, "show_end_time": hours],
      moved: ["body": "notification.android.alert", "content": "notification.android.alert"])
    let size = value.bytes.count + (message?.bytes.count ?? 0)
    guard size <= messageLimit else {
      throw JPushError(
        .tooLarge, "notification.android and message have \(size) bytes; the limit is \(messageLimit).",
        field: fields.path)
    }
    var notification = Notification()
    notification.title = try fields.text("title")
    notification.body = try fields.text("alert")
    notification.sound = try fields.text("sound")
    notification.extras = try fields.object("extras") ?? [:]
    notification.badge = try androidBadge(fields)
    return (notification, try fields.text("channel_id"), fields.members(of: JPushBlock.androidKeys))
  }

  /// A number to show, or one to add to what is shown.
  private static func androidBadge(_ fields: JPushFields) throws(JPushError) -> Badge? {
    for (name, make) in [("badge_set_num", Badge.set), ("badge_add_num", Badge.add)] {
      guard let value = fields[name] else { continue }
      guard let number = value.integer, badgeNumbers.contains(number) else {
        throw fields.invalid(name, "must be a number from 1 to 99.")
      }
      return make(Int(number))
    }
    return nil
  }

  private static let badgeNumbers: ClosedRange<Int64> = 1...99
}

extension PushDraft {
  /// A problem of a draft that was read from a JPush request, at the request's field: `notification.ios.alert` instead
  /// of `notification.body`. The field is empty if the request has none.
  package func jpushProblem(_ problem: Problem) -> Problem {
    var problem = problem
    problem.field = jpushField(problem.field)
    return problem
  }

  private static let jpushFields = [
    "platforms": "platform", "environment": "options.apns_production", "options.time_to_live": "options.time_to_live",
    "options.collapse_id": "options.apns_collapse_id", "options.spread_minutes": "options.big_push_duration",
    "send_at": "trigger", "repeat": "trigger", "android.notification.channel_id": "notification.android.channel_id",
  ]

  private func jpushField(_ field: String) -> String {
    if field.hasPrefix("audience") { return field }
    if field.hasPrefix("apns.payload") {
      return field.replacing("apns.payload", with: "notification.ios", maxReplacements: 1)
    }
    let steps = field.split(separator: ".", maxSplits: 2).map(String.init)
    guard steps.first == JPushContent.field else { return Self.jpushFields[field] ?? "" }
    // With a payload of its own for iOS, the notification is Android's.
    let isIOS = platforms.contains(.ios) && apns.payload == nil
    let isShared = isIOS && platforms.contains(.android)
    guard steps.count > 1 else { return isShared ? field : "notification.\(isIOS ? "ios" : "android")" }
    let hasParts = notification.title != nil || notification.subtitle != nil
    let name =
      switch steps[1] {
      case "body": isIOS && hasParts ? "alert.body" : "alert"
      case "title", "subtitle": isIOS ? "alert.\(steps[1])" : steps[1]
      default: isIOS ? steps[1].replacing("_", with: "-") : steps[1]
      }
    if isShared, name == "alert" { return "notification.alert" }
    return (["notification", isIOS ? "ios" : "android", name] + steps.dropFirst(2)).joined(separator: ".")
  }
}
