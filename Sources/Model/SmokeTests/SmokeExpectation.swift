package import JSON
import Text

/// The answers that a smoke test expects, by device.
package struct SmokeExpectation: Sendable, Hashable {
  /// The answer for one device.
  package struct Named: Sendable, Hashable {
    /// A device token in its plain notation, or a registration ID.
    package let device: String
    package let answer: String

    package init(device: String, answer: String) { (self.device, self.answer) = (device, answer) }
  }

  /// For every device that is not named: `accepted`, another outcome, or a reason's code.
  package var others = OutcomeKind.accepted.name
  package var devices: [Named] = []
  /// Seconds in which an accepted push has to be displayed; nil: receipts are not looked at.
  package var displayedWithin: Int?

  package init() {}

  package static let waits = 1...600
  /// Named devices.
  package static let limit = 200
  /// Devices that a smoke test may reach: each is compared.
  package static let reachLimit = 1000

  /// - Throws: every problem, by its path.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    self.init(fields)
    try fields.finish()
  }

  /// Problems are reported to `fields`.
  package init(_ fields: JSONFields) {
    if let answer = fields.string("others", check: Self.problem(withAnswer:)) { others = answer }
    for (device, value) in (fields.members("devices") ?? [:]).sorted(by: { $0.key < $1.key }) {
      let path = "[\"\(device.prefix(60))\"]"
      guard let answer = value.string else {
        let problem = Problem(path, FieldMessage.expected, ["expected": "string", "found": value.typeName])
        fields.report("devices", problem)
        continue
      }
      if let problem = Self.problem(withAnswer: answer) { fields.report("devices", problem.under(path)) }
      devices.append(Named(device: Self.plain(device), answer: answer))
    }
    if devices.count > Self.limit {
      fields.report(
        "devices",
        Problem("", FieldMessage.tooMany, ["limit": String(Self.limit), "count": String(devices.count)]))
    }
    displayedWithin = fields.integer("displayed_within", in: Self.waits)
  }

  package var json: JSONValue {
    var members: [String: JSONValue] = ["others": .string(others)]
    if !devices.isEmpty {
      members["devices"] = .object(Dictionary(devices.map { ($0.device, .string($0.answer)) }) { $1 })
    }
    if let displayedWithin { members["displayed_within"] = .number(displayedWithin) }
    return .object(members)
  }

  /// The plain notation of a device token; a registration ID, and anything else, as it is.
  package static func plain(_ device: String) -> String {
    // What no service calls a token may be a registration ID.
    (try? DeviceToken(parsing: device, platforms: Set(Platform.allCases)))?.text ?? device
  }

  /// An answer is an outcome of ours or the code of a known reason.
  package static func problem(withAnswer answer: String) -> Problem? {
    let known = OutcomeKind.allCases.map(\.name) + Reason.table.map(\.code)
    guard !known.contains(answer) else { return nil }
    let value = answer.abbreviated(to: 60)
    if let suggestion = Suggestion.closest(to: answer, among: known) {
      return Problem("", SmokeMessage.answerSimilar, ["value": value, "suggestion": suggestion])
    }
    return Problem("", SmokeMessage.answer, ["value": value])
  }

  /// Whether a smoke test may send a draft: to devices, once, at the time of its run.
  package static func problem(with draft: PushDraft) -> Problem? {
    if draft.recurrence != nil { return Problem("repeat", SmokeMessage.time) }
    if draft.sendAt != nil { return Problem("send_at", SmokeMessage.time) }
    if draft.audience.subscribers != nil { return Problem("audience", SmokeMessage.subscribers) }
    return nil
  }
}

/// What one device got, to be compared with what is expected.
package struct SmokeAnswer: Sendable, Hashable {
  /// Its row ID; nil: no such device is registered.
  package let device: Int64?
  /// For people.
  package let name: String
  /// The names by which a test may know it.
  package let keys: [String]
  /// Nil: it was not sent to.
  package let outcome: OutcomeKind?
  package let reason: String?
  /// Why it is parked or retired; nil: it is active.
  package let stateReason: String?
  /// Seconds from the answer to the receipt; nil: it did not report that it displayed the push.
  package let displayedAfter: Double?

  package init(
    device: Int64?, name: String, keys: [String], outcome: OutcomeKind?, reason: String? = nil,
    stateReason: String? = nil, displayedAfter: Double? = nil
  ) {
    (self.device, self.name, self.keys, self.outcome) = (device, name, keys, outcome)
    (self.reason, self.stateReason, self.displayedAfter) = (reason, stateReason, displayedAfter)
  }

  /// The reason without its remark, or the outcome; of a device that was not sent to, why.
  fileprivate var got: String {
    if outcome == .accepted { return OutcomeKind.accepted.name }
    if let reason { return Reason.head(reason) }
    return outcome?.name ?? stateReason.map(Reason.head) ?? SmokeDifference.notReached
  }

  fileprivate func isExpected(_ answer: String) -> Bool {
    // A token that was refused is not sent to again: its first refusal still stands.
    got == answer || outcome?.name == answer
  }
}

/// A device that got another answer than was expected.
package struct SmokeDifference: Sendable, Hashable, JSONObject {
  /// No device of that name took part.
  package static let notReached = "not_reached"
  package static let displayed = "displayed"
  package static let notDisplayed = "not_displayed"
  package static let displayedLate = "displayed_late"

  package let device: Int64?
  package let name: String
  package let expected: String
  package let got: String

  package init(device: Int64?, name: String, expected: String, got: String) {
    (self.device, self.name, self.expected, self.got) = (device, name, expected, got)
  }

  /// Reads back what ``json`` wrote; nil: another version wrote it.
  package init?(json: JSONValue) {
    guard let name = json["name"]?.string, let expected = json["expected"]?.string, let got = json["got"]?.string
    else { return nil }
    self.init(device: json["device"]?.integer, name: name, expected: expected, got: got)
  }

  /// What differs, why, and what to do, in English.
  package var sentence: String {
    let (line, reason) = ("\(name.singleLine): expected \(expected), got \(got).", Reason.of(got))
    return reason.isKnown ? "\(line) \(reason.cause) \(reason.remedy)" : line
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("device", device)
    json.member("name", name)
    json.member("expected", expected)
    json.member("got", got)
  }
}

extension SmokeExpectation {
  /// The devices whose answer differs, in the order of `answers`.
  ///
  /// - Parameter isOver: whether receipts that have not come count as missing.
  package func differences(in answers: [SmokeAnswer], isOver: Bool) -> [SmokeDifference] {
    answers.compactMap { answer in
      func difference(_ expected: String, _ got: String) -> SmokeDifference {
        SmokeDifference(device: answer.device, name: answer.name, expected: expected, got: got)
      }
      let expected = devices.first { answer.keys.contains($0.device) }?.answer ?? others
      guard answer.isExpected(expected) else { return difference(expected, answer.got) }
      guard let displayedWithin, answer.outcome == .accepted else { return nil }
      if let after = answer.displayedAfter {
        return after <= Double(displayedWithin)
          ? nil : difference(SmokeDifference.displayed, SmokeDifference.displayedLate)
      }
      return isOver ? difference(SmokeDifference.displayed, SmokeDifference.notDisplayed) : nil
    }
  }

  /// Whether a device may still report that it displayed the push.
  package func waits(for answers: [SmokeAnswer]) -> Bool {
    displayedWithin != nil && answers.contains { $0.outcome == .accepted && $0.displayedAfter == nil }
  }
}

package enum SmokeMessage: String, MessageSet {
  case answer = "smoke.answer"
  case answerSimilar = "smoke.answer_similar"
  case line = "smoke.line"
  case time = "smoke.time"
  case subscribers = "smoke.subscribers"
  case tooMany = "smoke.too_many"
  case taken = "smoke.taken"

  package var english: String {
    switch self {
    case .answer:
      "“{value}” is not a valid answer. Use accepted, failed, dead_token, skipped, unknown, or a code such as BadDeviceToken."
    case .answerSimilar: "“{value}” is not a valid answer. Did you mean “{suggestion}”?"
    case .line: "Enter one device per line: its token or registration ID, a space, and the answer, not “{value}”."
    case .time: "A smoke test is sent when it runs. Leave out the time and the repetition."
    case .subscribers: "A smoke test compares devices. Choose devices instead of a channel or topic."
    case .tooMany: "A smoke test may reach at most {limit} devices, but this audience has {count}."
    case .taken: "Another smoke test has this name."
    }
  }
}
