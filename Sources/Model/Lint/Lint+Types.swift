import JSON
import Text

extension Lint {
  /// Values in a raw payload that iOS ignores because they are of another type, or out of range.
  static func types(_ draft: PushDraft, _ payload: APNsPayload) -> [Finding] {
    guard draft.apns.payload != nil else { return [] }
    return violations(payload).map { violation in
      let key = violation.path.joined(separator: ".")
      var arguments = ["key": key, "value": violation.value.text().abbreviated(to: 40)]
      let message = message(violation, &arguments)
      let fix = violation.fix.map { fix in
        changingPayload(draft) { _, aps in aps = fixed(.object(aps), violation.path[...], fix)?.object ?? [:] }
      }
      // A Live Activity that the app cannot decode does nothing at all.
      let isActivity = payload.pushType == .liveactivity && activity.contains(key)
      return finding(
        isActivity ? .error : .warning, isActivity ? "apns.payload" : "apns.payload.aps.\(key)", message, arguments,
        fix: fix)
    }
  }

  /// What is wrong with the values of `aps`.
  static func violations(_ payload: APNsPayload) -> [APNsField.Violation] {
    let fields = APNsField.keys(of: payload.pushType)
    var violations: [APNsField.Violation] = []
    for (key, value) in (payload.json["aps"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      fields[key]?.check(value, [key], &violations)
    }
    return violations
  }

  /// The keys that ActivityKit decodes.
  private static let activity: Set<String> = [
    "timestamp", "event", "content-state", "stale-date", "dismissal-date", "attributes",
  ]

  private static func message(_ violation: APNsField.Violation, _ arguments: inout [String: String]) -> LintMessage {
    if violation.isUnknown, case .members(let known) = violation.field {
      arguments["parent"] = violation.path.dropLast().joined(separator: ".")
      arguments["member"] = violation.path.last
      guard case .name(let right)? = violation.fix else {
        arguments["known"] = known.keys.sorted().joined(separator: ", ")
        return .memberUnknown
      }
      arguments["right"] = right
      return .memberMisspelt
    }
    switch violation.field {
    case .text: return .keyText
    case .texts: return .keyTexts
    case .flag: return .keyOne
    case .number(let range?):
      (arguments["low"], arguments["high"]) = (String(Int(range.lowerBound)), String(Int(range.upperBound)))
      return .keyRange
    case .number(nil): return .keyNumber
    case .badge: return .keyBadge
    case .choice(let words):
      if violation.path == ["event"] {
        arguments["value"] = short(violation.value)
        return .liveActivityEvent
      }
      arguments["choices"] = words.joined(separator: ", ")
      return .keyChoice
    case .moment:
      arguments["value"] = short(violation.value)
      return .liveActivityDate
    case .object, .members:
      arguments["found"] = violation.value.typeName
      return .liveActivityObject
    case .textOr(.members(let members)):
      arguments["example"] =
        members["volume"] != nil
        ? #"{"name": "…", "critical": 1, "volume": 1}"#
        : members["body"] != nil ? #"{"title": "…", "body": "…"}"# : #"{"loc-key": "…", "loc-args": ["…"]}"#
      return .keyTextOrObject
    case .textOr: return .keyText
    }
  }

  private static func short(_ value: JSONValue) -> String { (value.string ?? value.text()).abbreviated(to: 40) }

  /// A value with the part at a path as it was meant; nil: removed.
  private static func fixed(_ value: JSONValue, _ path: ArraySlice<String>, _ fix: APNsField.Fix) -> JSONValue? {
    guard let name = path.first else {
      if case .value(let right) = fix { return right }
      return nil
    }
    guard var members = value.object, let member = members[name] else { return value }
    if path.count == 1, case .name(let right) = fix {
      members[name] = nil
      members[right] = member
    } else {
      members[name] = fixed(member, path.dropFirst(), fix)
    }
    return .object(members)
  }
}
