import JSON
import Text

extension Lint {
  private static let events = ["start", "update", "end"]
  private static let dates = ["timestamp", "stale-date", "dismissal-date"]
  /// Seconds since 1970 stay below it for 3,000 years; milliseconds have been above it since 1973.
  static let milliseconds: Double = 100_000_000_000

  /// What ActivityKit needs in `aps`. APNs accepts a payload without it, and the phone ignores it
  /// (docs/protocols.md §1.4).
  static func liveActivity(_ draft: PushDraft, _ payload: APNsPayload) -> [Finding] {
    let aps = payload.json["aps"]
    let event = aps?["event"]?.string
    // The end of an activity may leave its last content as it is.
    let needed = ["timestamp", "event"] + (event == "end" ? [] : ["content-state"])
    var findings = needed.filter { aps?[$0] == nil }.map {
      finding(.error, "apns.payload", .liveActivity, ["key": $0])
    }
    if event == "start", payload.channel == nil {
      findings += ["attributes-type", "attributes", "alert"].filter { aps?[$0] == nil }.map {
        finding(.error, "apns.payload", .liveActivityStart, ["key": $0])
      }
    } else if event == "end", aps?["content-state"] == nil {
      findings.append(finding(.hint, "apns.payload", .liveActivityEnd))
    }
    if let value = aps?["event"], event.map(events.contains) != true {
      findings.append(finding(.error, "apns.payload", .liveActivityEvent, ["value": short(value)]))
    }
    for key in ["content-state", "attributes"] {
      guard let value = aps?[key], value.object == nil else { continue }
      findings.append(
        finding(.error, "apns.payload", .liveActivityObject, ["key": key, "found": value.typeName]))
    }
    findings += dates.compactMap { key in aps?[key].flatMap { date(key, $0, draft) } }
    if payload.priority == 1 {
      let fix = changing(draft) {
        $0.options.priority = .normal
        $0.apns.headers[APNsHeader.priority] = nil
      }
      findings.append(finding(.warning, "options.priority", .liveActivityPriority, fix: fix))
    }
    return findings
  }

  /// A time in another form, or in milliseconds: the phone takes the latter for a year far ahead, and ignores every
  /// later update with an earlier timestamp.
  private static func date(_ key: String, _ value: JSONValue, _ draft: PushDraft) -> Finding? {
    let seconds: Double? =
      switch value {
      case .integer(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    let arguments = ["key": key, "value": short(value)]
    guard let seconds, seconds >= milliseconds else {
      return seconds == nil ? finding(.error, "apns.payload", .liveActivityDate, arguments) : nil
    }
    let fix = Int64(exactly: (seconds / 1000).rounded()).map { whole in
      changingPayload(draft) { _, aps in aps[key] = .integer(whole) }
    }
    return finding(.error, "apns.payload", .liveActivityDate, arguments, fix: fix)
  }

  private static func short(_ value: JSONValue) -> String { (value.string ?? value.text()).abbreviated(to: 40) }
}
