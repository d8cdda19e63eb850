import Foundation
package import JSON

/// The type of a field, as Google's interface description declares it.
package indirect enum FCMField: Sendable {
  case text, boolean, integer, number
  /// One of these words, in upper case; clients also write them in lower case.
  case choice([String])
  /// Seconds with `s`, such as `3.5s`.
  case duration
  /// As ``duration``, of four weeks at most.
  case life
  /// As `#1a73e8`.
  case color
  /// Of Firebase's analytics.
  case label
  /// RFC 3339.
  case timestamp
  /// Texts by name.
  case texts
  /// Any object, such as an APNs payload.
  case object
  case list(FCMField)
  /// Fields by name in snake_case.
  case message([String: FCMField])

  /// A wrong field of a request.
  package struct Violation: Sendable, Hashable {
    /// As `message.android.ttl`.
    package var field: String
    package var description: String
    /// A name that `field` does not have; nil: its value is wrong.
    package let member: String?

    package init(field: String, description: String, member: String? = nil) {
      (self.field, self.description, self.member) = (field, description, member)
    }
  }

  /// Reads a value as Google's JSON mapping does: names in snake_case or camelCase, `null` as absent.
  ///
  /// - Parameters:
  ///   - path: as `message.android`.
  ///   - violations: every mistake is added.
  /// - Returns: the value with names in snake_case; nil if it is absent or wrong.
  package func read(_ value: JSONValue, _ path: String, _ violations: inout [Violation]) -> JSONValue? {
    func refused(_ description: String) -> JSONValue? {
      violations.append(.init(field: path, description: description))
      return nil
    }
    func wrong(_ type: String) -> JSONValue? {
      refused("Invalid value at '\(path)' (\(type)), \(value.text().prefix(100))")
    }
    if value == .null { return nil }
    switch self {
    case .text: return value.string == nil ? wrong("TYPE_STRING") : value
    case .boolean: return value.bool == nil ? wrong("TYPE_BOOL") : value
    case .integer:
      // 64-bit numbers may come as text (Protocol Buffers, ProtoJSON format).
      if let number = value.integer ?? value.string.flatMap(Int64.init) { return .integer(number) }
      return wrong("TYPE_INT32")
    case .number:
      if case .double = value { return value }
      return value.integer == nil ? wrong("TYPE_FLOAT") : value
    case .choice(let words):
      guard let word = value.string?.uppercased(), words.contains(word) else { return wrong("TYPE_ENUM") }
      return .string(word)
    case .duration: return value.string.flatMap(Self.seconds) == nil ? wrong("TYPE_DURATION") : value
    case .life:
      guard let seconds = value.string.flatMap(Self.seconds) else { return wrong("TYPE_DURATION") }
      return (0...Self.longestLife).contains(seconds)
        ? value : refused("Invalid time to live: it must be from 0 to 2419200 seconds.")
    case .color:
      guard let color = value.string else { return wrong("TYPE_STRING") }
      return color.wholeMatch(of: #/#[0-9a-fA-F]{6}/#) == nil
        ? refused("Invalid color: \(color.prefix(40)). It must be of the form #RRGGBB.") : value
    case .label:
      guard let label = value.string else { return wrong("TYPE_STRING") }
      return label.wholeMatch(of: #/[a-zA-Z0-9\-_.~%]{1,50}/#) == nil
        ? refused("Invalid analytics label: \(label.prefix(60))") : value
    case .timestamp:
      let isTime = value.string.map { (try? Date($0, strategy: .iso8601)) != nil || Self.hasFraction($0) } ?? false
      return isTime ? value : wrong("TYPE_TIMESTAMP")
    case .texts:
      guard let members = value.object else { return wrong("TYPE_MAP") }
      for (name, member) in members.sorted(by: { $0.key < $1.key }) where member.string == nil {
        let place = "\(path)[\(name)]"
        violations.append(
          .init(field: place, description: "Invalid value at '\(place)' (TYPE_STRING), \(member.text().prefix(100))"))
      }
      return .object(members.filter { $0.value.string != nil })
    case .object: return value.object == nil ? wrong("TYPE_MESSAGE") : value
    case .list(let element):
      guard let elements = value.array else { return wrong("TYPE_LIST") }
      return .array(elements.enumerated().compactMap { element.read($1, "\(path)[\($0)]", &violations) })
    case .message(let fields):
      guard let members = value.object else { return wrong("TYPE_MESSAGE") }
      return .object(Self.read(members, fields, path, &violations))
    }
  }

  private static func read(
    _ members: [String: JSONValue], _ fields: [String: FCMField], _ path: String, _ violations: inout [Violation]
  ) -> [String: JSONValue] {
    var result: [String: JSONValue] = [:]
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      let snake = snakeCase(name)
      let place = path.isEmpty ? snake : "\(path).\(snake)"
      guard let field = fields[snake] else {
        let at = path.isEmpty ? "" : " at '\(path)'"
        violations.append(
          .init(
            field: path,
            description: "Invalid JSON payload received. Unknown name \"\(name)\"\(at): Cannot find field.",
            member: name))
        continue
      }
      guard let value = field.read(member, place, &violations) else { continue }
      if result.updateValue(value, forKey: snake) != nil {
        violations.append(.init(field: place, description: "The field '\(place)' is set more than once."))
      }
    }
    return result
  }

  private static func snakeCase(_ name: String) -> String {
    guard name.contains(where: \.isUppercase) else { return name }
    return name.reduce(into: "") { text, letter in
      if letter.isUppercase { text += "_" }
      text += letter.lowercased()
    }
  }

  /// A timestamp with a fraction of a second.
  private static func hasFraction(_ text: String) -> Bool {
    (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) != nil
  }

  /// The seconds of a duration such as `3.5s`; nil for anything else.
  package static func seconds(_ text: String) -> Double? {
    guard text.hasSuffix("s"), let number = Double(text.dropLast()), number.isFinite,
      text.dropLast().allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") })
    else { return nil }
    return number
  }
}

extension FCMField {
  /// Four weeks, in seconds; also the default.
  package static let longestLife = 2_419_200.0

  /// The body of `messages:send` (docs/protocols.md §3.1).
  package static let request = FCMField.message(["validate_only": .boolean, "message": message])

  private static let message: FCMField = .message([
    "name": .text, "token": .text, "topic": .text, "condition": .text, "fid": .text, "data": .texts,
    "notification": .message(["title": .text, "body": .text, "image": .text]), "fcm_options": options,
    "android": android, "apns": apns, "webpush": webpush,
  ])

  private static let options: FCMField = .message(["analytics_label": .label])

  /// AndroidConfig.
  static let android: FCMField = .message([
    "collapse_key": .text, "priority": .choice(["NORMAL", "HIGH"]), "ttl": .life,
    "restricted_package_name": .text, "data": .texts, "direct_boot_ok": .boolean, "bandwidth_constrained_ok": .boolean,
    "restricted_satellite_ok": .boolean, "fcm_options": options, "notification": androidNotification,
  ])

  private static let androidNotification: FCMField = .message([
    "title": .text, "body": .text, "icon": .text, "color": .color, "sound": .text, "tag": .text, "click_action": .text,
    "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text, "title_loc_args": .list(.text),
    "channel_id": .text, "ticker": .text, "sticky": .boolean, "event_time": .timestamp, "local_only": .boolean,
    "notification_priority": .choice(
      ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"]),
    "default_sound": .boolean, "default_vibrate_timings": .boolean, "default_light_settings": .boolean,
    "vibrate_timings": .list(.duration),
    "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
    "notification_count": .integer, "image": .text,
    "light_settings": .message([
      "color": .message(["red": .number, "green": .number, "blue": .number, "alpha": .number]),
      "light_on_duration": .duration, "light_off_duration": .duration,
    ]),
    "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    "bypass_proxy_notification": .boolean,
  ])

  private static let apns: FCMField = .message([
    "headers": .texts, "payload": .object, "live_activity_token": .text,
    "fcm_options": .message(["analytics_label": .label, "image": .text]),
  ])

  private static let webpush: FCMField = .message([
    "headers": .texts, "data": .texts, "notification": .object,
    "fcm_options": .message(["link": .text, "analytics_label": .label]),
  ])
}
