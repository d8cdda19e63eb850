import JSON
import Text

/// What Apple's frameworks expect of a key of `aps`. APNs accepts any value, and the phone ignores what it does not
/// expect (docs/protocols.md §1.4).
indirect enum APNsField: Sendable {
  case text, texts
  /// 1, or left out. Senders also write `true` and 0, which iOS takes.
  case flag
  /// A number within a range; nil: any.
  case number(ClosedRange<Double>?)
  /// A number on the icon, or a text that Signalbox counts (``Badge``).
  case badge
  case choice([String])
  /// Seconds since 1970.
  case moment
  case object
  /// An object with these members.
  case members([String: APNsField])
  /// A text, or an object.
  case textOr(APNsField)

  /// The keys of `aps` (Apple, Generating a remote notification; ActivityKit push notifications).
  static let aps: [String: APNsField] = [
    "alert": .textOr(.members(alert)), "badge": .badge,
    "sound": .textOr(.members(["critical": .flag, "name": .text, "volume": .number(0...1)])),
    "thread-id": .text, "category": .text, "content-available": .flag, "mutable-content": .flag,
    "target-content-id": .text, "interruption-level": .choice(["passive", "active", "time-sensitive", "critical"]),
    "relevance-score": .number(0...1), "filter-criteria": .text, "content-changed": .flag, "timestamp": .moment,
    "event": .choice(["start", "update", "end"]), "content-state": .object, "stale-date": .moment,
    "dismissal-date": .moment, "attributes-type": .text, "attributes": .object, "input-push-channel": .text,
    "input-push-token": .flag, "url-args": .texts,
  ]

  private static let alert: [String: APNsField] = [
    "title": .text, "subtitle": .text, "body": .text, "launch-image": .text, "title-loc-key": .text,
    "title-loc-args": .texts, "subtitle-loc-key": .text, "subtitle-loc-args": .texts, "loc-key": .text,
    "loc-args": .texts, "action": .text, "action-loc-key": .text, "summary-arg": .text,
    "summary-arg-count": .number(nil),
  ]

  /// ActivityKit has texts to localize within the alert, any relevance score, and a sound in the alert.
  private static let activity: [String: APNsField] = {
    let text = APNsField.textOr(.members(["loc-key": .text, "loc-args": .texts]))
    let members = alert.merging(["title": text, "body": text, "sound": .text]) { $1 }
    return aps.merging(["alert": .textOr(.members(members)), "relevance-score": .number(nil)]) { $1 }
  }()

  /// The keys in a push of a type.
  static func keys(of type: PushType) -> [String: APNsField] { type == .liveactivity ? activity : aps }

  /// A value that is not what it should be.
  struct Violation: Sendable {
    /// From `aps`, such as `["alert", "title-loc-args"]`.
    let path: [String]
    let field: APNsField
    let value: JSONValue
    let fix: Fix?
    /// Whether the last name of the path is unknown.
    var isUnknown = false
  }

  /// The value that was meant.
  enum Fix: Sendable, Hashable {
    case value(JSONValue)
    /// Under its right name.
    case name(String)
    case removal
  }

  /// Adds everything wrong with a value; `null` is absent.
  func check(_ value: JSONValue, _ path: [String], _ violations: inout [Violation]) {
    if value == .null { return }
    func wrong(_ fix: JSONValue? = nil) {
      violations.append(Violation(path: path, field: self, value: value, fix: fix.map { .value($0) }))
    }
    switch self {
    case .text: if value.string == nil { wrong(value.asPlainText) }
    case .texts:
      guard let items = value.array else { return wrong(value.asPlainText.map { [$0] }) }
      guard items.contains(where: { $0.string == nil }) else { return }
      let texts = items.compactMap(\.asPlainText)
      wrong(texts.count == items.count ? .array(texts) : nil)
    case .flag: checkFlag(value, path, &violations)
    case .number(let range):
      if let number = value.asNumber {
        if range?.contains(number) == false { wrong() }
      } else {
        wrong(value.spelledNumber.flatMap { range?.contains($0.asNumber ?? 0) == false ? nil : $0 })
      }
    case .badge:
      if Badge(json: value) != nil { return }
      if let number = value.asNumber, number >= 0, number == number.rounded() { return }
      wrong(value.string.flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : .integer($0) })
    case .choice(let words):
      guard value.string.map(words.contains) != true else { return }
      wrong(value.string.flatMap { Suggestion.closest(to: $0, among: words) }.map { .string($0) })
    case .moment:
      // More than that is no number of seconds for 3,000 years: milliseconds have been above it since 1973.
      guard let seconds = value.asNumber else { return wrong(value.spelledNumber) }
      guard seconds >= Lint.milliseconds else { return }
      wrong(Int64(exactly: (seconds / 1000).rounded()).map { .integer($0) })
    case .object: if value.object == nil { wrong() }
    case .textOr(let other):
      if value.string != nil { return }
      guard value.object != nil else { return wrong(isSound ? value == true ? "default" : nil : value.asPlainText) }
      other.check(value, path, &violations)
    case .members(let fields):
      for (name, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
        guard let field = fields[name] else {
          let right = Suggestion.closest(to: name, among: fields.keys.sorted()).flatMap { value[$0] == nil ? $0 : nil }
          violations.append(
            Violation(path: path + [name], field: self, value: member, fix: right.map { .name($0) }, isUnknown: true))
          continue
        }
        field.check(member, path + [name], &violations)
      }
    }
  }

  private func checkFlag(_ value: JSONValue, _ path: [String], _ violations: inout [Violation]) {
    if value.bool != nil || [0, 1].contains(value.asNumber) { return }
    let word = value.string?.lowercased()
    let fix: Fix? =
      ["1", "true", "yes"].contains(word) ? .value(1) : ["0", "false", "no", ""].contains(word) ? .removal : nil
    violations.append(Violation(path: path, field: self, value: value, fix: fix))
  }

  private var isSound: Bool {
    guard case .textOr(.members(let members)) = self else { return false }
    return members["volume"] != nil
  }
}

extension JSONValue {
  fileprivate var asNumber: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// A text, or a number as its text; nil for what nobody reads.
  fileprivate var asPlainText: JSONValue? { string != nil ? self : asNumber == nil ? nil : .string(text()) }

  /// A number that was written as a text.
  fileprivate var spelledNumber: JSONValue? {
    guard let string, let number = Double(string), number.isFinite else { return nil }
    return Int64(string).map { .integer($0) } ?? .double(number)
  }
}
