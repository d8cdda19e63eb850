import Calendar
import Foundation
import JSON

extension Lint {
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
    if payload.priority == 1 {
      let fix = changing(draft) {
        $0.options.priority = .normal
        $0.apns.headers[APNsHeader.priority] = nil
      }
      findings.append(finding(.warning, "options.priority", .liveActivityPriority, fix: fix))
    }
    return findings
  }

  /// Times that stand in the payload, and are over when it is sent: iOS ignores an update that is not newer than the
  /// last one, and marks content as stale at once.
  static func liveActivityTimes(_ draft: PushDraft, _ payload: APNsPayload, _ context: Context) -> [Finding] {
    guard payload.pushType == .liveactivity, draft.apns.payload != nil, let now = context.now else { return [] }
    func moment(_ key: String) -> Date? {
      let seconds = payload.json["aps"]?[key]?.integer.map { Double($0) }
      return seconds.flatMap { $0 < milliseconds ? Date(timeIntervalSince1970: $0) : nil }
    }
    let recurrence = draft.recurrence.map { Recurrence($0, from: draft.sendAt ?? now) }
    let sent = recurrence.flatMap { $0.first(from: now) } ?? max(now, draft.sendAt ?? now)
    var findings: [Finding] = []
    func add(_ key: String, _ date: Date, _ message: LintMessage, fix: PushDraft? = nil) {
      let arguments = ["key": key, "date": Timestamp.text(date), "sent": Timestamp.text(sent)]
      findings.append(finding(.warning, "apns.payload.aps.\(key)", message, arguments, fix: fix))
    }
    if let date = moment("timestamp") {
      if recurrence != nil {
        add("timestamp", date, .liveActivityRepeats)
      } else if date < sent.addingTimeInterval(-patience) {
        let seconds = Int64(sent.timeIntervalSince1970)
        add("timestamp", date, .liveActivityPast, fix: changingPayload(draft) { $1["timestamp"] = .integer(seconds) })
      }
    }
    // A dismissal that is over removes an ended activity at once, which may be meant: not if it was ahead.
    for key in ["stale-date", "dismissal-date"] {
      guard let date = moment(key), key == "stale-date" || date > now else { continue }
      if let recurrence, date > sent {
        if recurrence.first(from: date) != nil { add(key, date, .liveActivityRunsPast) }
      } else if date <= sent {
        add(key, date, .liveActivityOver, fix: changingPayload(draft) { $1[key] = nil })
      }
    }
    return findings
  }

  /// Seconds that a person or a script may take from writing a timestamp to sending it.
  private static let patience: TimeInterval = 600
}
