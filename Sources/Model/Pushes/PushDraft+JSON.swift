import Calendar
package import JSON

extension PushDraft {
  /// Reads the body of `POST /api/v1/pushes`.
  ///
  /// - Throws: all problems with their paths, in the order of the fields; unknown fields too.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let limit = TextLimit.characters(AppName.bundleIDLimit)
    let app = fields.string("app", required: true, limit: limit, check: AppName.problem(withBundleID:))
    let environment = fields.choice("environment", required: true, as: Environment.self)
    var platforms = Self.readPlatforms(fields)
    let audience = Audience.read(fields, platforms: platforms)
    // Absent means every platform that the audience can have.
    if let subscribers = audience?.subscribers, fields.value("platforms") == nil {
      platforms = subscribers == .topic ? [.android] : [.ios]
    }
    let notification = fields.object("notification", Notification.read)
    let apns = fields.object("apns", APNsOverrides.read) ?? APNsOverrides()
    let android = FCMAndroid.read(fields)
    let jpush = JPushBlock.read(fields)
    let unused = fields.strings("unused", atMost: Self.unusedLimit)
    // An update of passes has no content.
    let isUpdate = app.map(AppName.isPassType) ?? false
    if notification == nil, fields.value("notification") == nil, apns.payload == nil, android.isEmpty, !isUpdate {
      fields.report("notification", Problem("", DraftMessage.contentMissing))
    }
    notification?.reportLocalizations(fields, apns: apns, android: android)
    let options = fields.object("options", Options.read) ?? Options()
    let sendAt = fields.time("send_at")
    let timeZone = Self.readZone(fields)
    let recurrence = fields.object("repeat", RepeatRule.read) ?? nil
    try fields.finish()
    guard let app, let environment, let audience else {
      // Each of the three is nil only with a reported problem, so that finish() has thrown.
      throw Problems([Problem("", FieldMessage.required)])
    }
    self.init(
      app: app, environment: environment, platforms: platforms, audience: audience,
      notification: notification ?? Notification())
    (self.apns, self.android, self.jpush, self.options) = (apns, android, jpush, options)
    self.unused = unused
    (self.sendAt, self.timeZone, self.recurrence) = (sendAt, timeZone, recurrence)
  }

  package var json: JSONValue {
    var members: [String: JSONValue] = [
      "app": .string(app), "environment": .string(environment.rawValue),
      "platforms": .array(Platform.allCases.filter(platforms.contains).map { .string($0.rawValue) }),
      "audience": audience.json, "notification": notification.json,
    ]
    if apns != APNsOverrides() { members["apns"] = apns.json }
    if !android.isEmpty { members["android"] = .object(android) }
    if !jpush.isEmpty { members["jpush"] = jpush.json }
    if !unused.isEmpty { members["unused"] = .array(unused.map(JSONValue.string)) }
    if options != Options() { members["options"] = options.json }
    if let sendAt { members["send_at"] = .string(Timestamp.text(sendAt)) }
    if let timeZone { members["time_zone"] = .string(timeZone.name) }
    if let recurrence { members["repeat"] = recurrence.json }
    return .object(members)
  }

  /// More names than requests have that go unused.
  private static let unusedLimit = 100

  private static func readZone(_ fields: JSONFields) -> NamedZone? {
    guard let name = fields.string("time_zone") else { return nil }
    do { return try NamedZone(name) } catch {
      fields.report("time_zone", Problem(error))
      return nil
    }
  }

  /// Absent means every platform: platforms only exclude devices, unlike audience and environment.
  package static func readPlatforms(_ fields: JSONFields) -> Set<Platform> {
    guard let value = fields.value("platforms"), value != "all" else { return Set(Platform.allCases) }
    let before = fields.problems.count
    let platforms: [Platform] = fields.choices("platforms", atMost: 10)
    if platforms.isEmpty, fields.problems.count == before {
      let choices = Platform.allCases.map(\.rawValue).joined(separator: ", ")
      fields.report("platforms", Problem("", DraftMessage.platformsEmpty, ["choices": choices]))
    }
    return platforms.isEmpty ? Set(Platform.allCases) : Set(platforms)
  }
}

package enum DraftMessage: String, MessageSet {
  case audienceMissing = "audience.missing"
  case audienceEmpty = "audience.empty"
  case audienceForm = "audience.form"
  case contentMissing = "notification.missing"
  case platformsEmpty = "platforms.empty"
  case badgeRelative = "badge.relative"
  case headerTwice = "header.twice"
  case noApp = "push.no_app"
  case nobody = "push.nobody"
  case nobodyHere = "push.nobody_here"
  case nobodyParked = "push.nobody_parked"
  case nobodyRetired = "push.nobody_retired"
  case nobodyActive = "push.nobody_active"

  /// The codes of an audience without an active device.
  package static let empty = Set([nobody, nobodyHere, nobodyParked, nobodyRetired, nobodyActive].map(\.code))

  package var english: String {
    switch self {
    case .audienceMissing:
      "Choose an audience: \"all\" or an object with tag, tag_and, tag_not, alias, registration_id, "
        + "device_token, or segment."
    case .audienceEmpty:
      """
      The audience is empty. Name at least one tag, alias, registration ID or device token, \
      or use \"audience\": \"all\" for everyone.
      """
    case .audienceForm: "Must be \"all\" or an object of conditions, not a JSON {found}."
    case .contentMissing: "Add content: a notification, apns.payload, or android."
    case .platformsEmpty: "Choose at least one platform: {choices}."
    case .badgeRelative:
      "Must be a whole number, or a text such as \"+1\" or \"-1\" that changes each device's number, not “{value}”."
    case .headerTwice: "Duplicate header. Header names are not case-sensitive."
    case .noApp: "App “{app}” not found. Add it first."
    case .nobody:
      "No active device of {app} in {environment} matches this audience. Check the audience, or register a device first."
    case .nobodyHere:
      """
      No active device of {app} in {environment} matches this audience, but {count} in {other} do. Choose that \
      environment, or register a device first.
      """
    case .nobodyParked:
      """
      {count} devices match, but all are parked ({reasons}). They get pushes again after they register again, or when \
      someone reactivates them.
      """
    case .nobodyRetired:
      "{count} devices match, but all are retired: their apps were removed, or their users turned pushes off."
    case .nobodyActive:
      """
      {count} devices match, but none is active: {parked} parked ({reasons}), {retired} retired. Parked devices \
      get pushes again after they register again, or when someone reactivates them.
      """
    }
  }

  package var singular: (argument: String, english: String)? {
    switch self {
    case .nobodyHere:
      (
        argument: "count",
        english: """
        No active device of {app} in {environment} matches this audience, but 1 in {other} does. Choose that \
        environment, or register a device first.
        """
      )
    case .nobodyParked:
      (
        argument: "count",
        english: """
        1 device matches, but it is parked ({reasons}). It gets pushes again after it registers again, or when \
        someone reactivates it.
        """
      )
    case .nobodyRetired:
      (
        argument: "count",
        english: "1 device matches, but it is retired: its app was removed, or its user turned pushes off."
      )
    default: nil
    }
  }
}
