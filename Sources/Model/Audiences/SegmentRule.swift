import Foundation
package import JSON
import Text

/// The rule of a segment: which devices of an app belong to it. Every part narrows; an empty part is no condition.
package struct SegmentRule: Sendable, Hashable {
  package var platforms: Set<Platform> = []
  package var environment: Environment?
  /// Devices with any of these tags.
  package var tag: [String] = []
  /// Devices with all of these tags.
  package var tagAnd: [String] = []
  /// Devices with none of these tags.
  package var tagNot: [String] = []
  /// The form of the alias; `*` stands for any text.
  package var alias: String?
  /// The lowest version that belongs to it.
  package var versionFrom: AppVersion?
  /// The lowest version that does not belong to it any more.
  package var versionBelow: AppVersion?
  /// Such as `Asia/Shanghai`, or `Asia/*` for all of a region.
  package var timeZone: [String] = []
  /// Such as `zh`, which `zh-Hans` belongs to, too.
  package var language: [String] = []
  package var lastSeen: LastSeen?

  /// When the app last contacted the server.
  package enum LastSeen: Sendable, Hashable {
    /// Within this many days.
    case within(Int)
    /// Longer ago than this many days.
    case over(Int)

    package static let days = 1...3650
  }

  /// Characters of a segment's name.
  package static let nameLimit = 100
  /// Time zones or languages of a rule.
  static let placesLimit = 50

  /// Every `*` of an alias multiplies the comparisons.
  private static let starsLimit = 4

  package init() {}

  /// Whether it has no condition: a segment of every device is the app itself.
  package var isEmpty: Bool { self == Self() }
}

// MARK: Which values belong to it

extension SegmentRule {
  /// Whether it looks at what an app tells of itself.
  package var namesVersion: Bool { !versionNames.isEmpty }

  /// Its range of versions, such as `≥ 2.0` and `< 4.0`.
  package var versionNames: [String] {
    [versionFrom.map { "≥ \($0.text)" }, versionBelow.map { "< \($0.text)" }].compactMap { $0 }
  }

  /// Whether a device's app version belongs to it. A text without a number belongs to no range.
  package func holds(version: String) -> Bool {
    guard let version = AppVersion(version) else { return false }
    return (versionFrom.map { version >= $0 } ?? true) && (versionBelow.map { version < $0 } ?? true)
  }

  /// Whether a device's time zone belongs to it; case is ignored.
  package func holds(timeZone zone: String) -> Bool {
    let zone = zone.lowercased()
    return timeZone.contains { wanted in
      let wanted = wanted.lowercased()
      return wanted.hasSuffix("/*") ? zone.hasPrefix(wanted.dropLast()) : zone == wanted
    }
  }

  /// Whether a device's language belongs to it (RFC 4647 §3.3.1): the same tag, or one with further parts. Android's
  /// `zh_CN` is read as `zh-CN`.
  package func holds(language tag: String) -> Bool {
    let tag = tag.lowercased().replacing("_", with: "-")
    return language.contains { wanted in
      let wanted = wanted.lowercased().replacing("_", with: "-")
      return tag == wanted || tag.hasPrefix(wanted + "-")
    }
  }

  /// The alias as a pattern of SQLite's GLOB; nil: any alias, or none.
  package var aliasGlob: String? {
    // SQLite knows no characters of several scalars: a `*` with an accent above it is special, too.
    alias.map { form in
      form.unicodeScalars.map { scalar in
        switch scalar {
        case "[", "?": "[\(scalar)]"
        default: String(scalar)
        }
      }.joined()
    }
  }

  /// What every alias of the form begins with.
  package var aliasPrefix: String { String((alias ?? "").unicodeScalars.prefix { $0 != "*" }) }
}

// MARK: JSON

extension SegmentRule {
  package var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if !platforms.isEmpty {
      members["platforms"] = .array(Platform.allCases.filter(platforms.contains).map { .string($0.rawValue) })
    }
    if let environment { members["environment"] = .string(environment.rawValue) }
    for (name, list) in [
      ("tag", tag), ("tag_and", tagAnd), ("tag_not", tagNot), ("time_zone", timeZone), ("language", language),
    ] where !list.isEmpty { members[name] = .array(list.map(JSONValue.string)) }
    if let alias { members["alias"] = .string(alias) }
    var version: [String: JSONValue] = [:]
    if let versionFrom { version["from"] = .string(versionFrom.text) }
    if let versionBelow { version["below"] = .string(versionBelow.text) }
    if !version.isEmpty { members["app_version"] = .object(version) }
    switch lastSeen {
    case .within(let days): members["last_seen"] = ["within_days": .integer(Int64(days))]
    case .over(let days): members["last_seen"] = ["over_days": .integer(Int64(days))]
    case nil: break
    }
    return .object(members)
  }

  /// - Throws: all problems with their paths.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let rule = Self.read(fields)
    try fields.finish()
    self = rule
  }

  /// Reads the members of a rule, and reports every problem with its path.
  package static func read(_ fields: JSONFields) -> Self {
    var rule = Self()
    rule.platforms = Set(fields.choices("platforms", atMost: 10, as: Platform.self))
    rule.environment = fields.choice("environment")
    let tag: (String) -> Problem? = { TagRule.problem(with: $0, rule: .none) }
    rule.tag = fields.strings("tag", atMost: PushLimits.tags, check: tag)
    rule.tagAnd = fields.strings("tag_and", atMost: PushLimits.tags, check: tag)
    rule.tagNot = fields.strings("tag_not", atMost: PushLimits.tags, check: tag)
    rule.alias = fields.string("alias", limit: .characters(200)) { form in
      let stars = form.unicodeScalars.count { $0 == "*" }
      return stars > starsLimit ? Problem("", SegmentMessage.stars, ["limit": String(starsLimit)]) : nil
    }
    fields.object("app_version") { version in
      rule.versionFrom = readVersion(version, "from")
      rule.versionBelow = readVersion(version, "below")
    }
    if let from = rule.versionFrom, let below = rule.versionBelow, from >= below {
      fields.report("app_version", Problem("below", SegmentMessage.versions))
    }
    rule.timeZone = fields.strings("time_zone", atMost: placesLimit) { name in
      isZone(name) ? nil : Problem("", SegmentMessage.timeZone, ["value": name.abbreviated(to: 40)])
    }
    rule.language = fields.strings("language", atMost: placesLimit) { name in
      isLanguage(name) ? nil : Problem("", SegmentMessage.language, ["value": name.abbreviated(to: 40)])
    }
    rule.lastSeen = fields.object("last_seen", readLastSeen) ?? nil
    return rule
  }

  private static func readVersion(_ fields: JSONFields, _ name: String) -> AppVersion? {
    let text = fields.string(name, limit: .characters(64)) { text in
      AppVersion(text) == nil ? Problem("", SegmentMessage.version, ["value": text.abbreviated(to: 40)]) : nil
    }
    return text.flatMap(AppVersion.init)
  }

  private static func readLastSeen(_ fields: JSONFields) -> LastSeen? {
    let within = fields.integer("within_days", in: LastSeen.days)
    let over = fields.integer("over_days", in: LastSeen.days)
    if within != nil, over != nil { fields.report("over_days", Problem("", SegmentMessage.lastSeen)) }
    return within.map(LastSeen.within) ?? over.map(LastSeen.over)
  }

  /// Whether it has the form of a zone's name, or of a region and `/*`.
  private static func isZone(_ name: String) -> Bool {
    let name = name.hasSuffix("/*") ? name.dropLast(2) : name[...]
    return (1...64).contains(name.utf8.count)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/_+-".contains($0)) }
  }

  private static func isLanguage(_ name: String) -> Bool {
    name.utf8.count <= 35
      && name.split(omittingEmptySubsequences: false) { "-_".contains($0) }.allSatisfy { part in
        (1...8).contains(part.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      }
  }
}

extension Audience {
  /// Why a text cannot be a segment's name; nil if it can.
  package static func problem(withSegment name: String) -> Problem? {
    PlainName.problem(with: name, limit: .characters(SegmentRule.nameLimit))
  }
}

/// An app's version, compared by its numbers: 10.2 is above 9.9, and 4.0 is 4.
package struct AppVersion: Sendable, Hashable, Comparable {
  /// As it was written.
  package let text: String
  /// Without zeros at the end.
  private let numbers: [UInt64]

  /// Reads the numbers at the beginning, such as 2.4.1 of `v2.4.1-beta (153)`.
  ///
  /// - Returns: nil if the text does not begin with a number.
  package init?(_ text: String) {
    let digits = text.hasPrefix("v") || text.hasPrefix("V") ? text.dropFirst() : text[...]
    var numbers: [UInt64] = []
    for part in digits.split(separator: ".", omittingEmptySubsequences: false) {
      let number = part.prefix { $0.isASCII && $0.isNumber }
      guard !number.isEmpty else { break }
      // A longer number than any that is used counts as the greatest.
      numbers.append(UInt64(number) ?? .max)
      guard number.endIndex == part.endIndex else { break }
    }
    guard !numbers.isEmpty else { return nil }
    while numbers.last == 0 { numbers.removeLast() }
    (self.text, self.numbers) = (text, numbers)
  }

  package static func == (one: Self, other: Self) -> Bool { one.numbers == other.numbers }
  package static func < (one: Self, other: Self) -> Bool { one.numbers.lexicographicallyPrecedes(other.numbers) }
  package func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}

/// Messages about segments.
package enum SegmentMessage: String, MessageSet {
  case stars = "segment.stars"
  case version = "segment.version"
  case versions = "segment.versions"
  case timeZone = "segment.time_zone"
  case language = "segment.language"
  case lastSeen = "segment.last_seen"
  case empty = "segment.empty"
  case taken = "segment.taken"
  case inUse = "segment.in_use"
  case missing = "segment.missing"
  case missingSimilar = "segment.missing_similar"
  case subscribers = "audience.subscribers"
  case noDevice = "audience.no_device"

  package var english: String {
    switch self {
    case .stars: "Use * at most {limit} times."
    case .version: "Must begin with a number, e.g. 4.0 or 2.4.1, not “{value}”."
    case .versions: "No version is at least the first and below the second. Enter a higher one."
    case .timeZone: "Must be the name of a time zone, e.g. Asia/Shanghai, or a region, e.g. Asia/*, not “{value}”."
    case .language: "Must be a language, e.g. zh or pt-BR, not “{value}”."
    case .lastSeen: "Choose within_days or over_days, not both."
    case .empty: "The rule is empty. Choose at least one condition; for every device, send to everyone."
    case .taken: "Another segment of this app already has this name."
    case .inUse:
      "Schedules and waiting pushes ({count}) name the segment like this. Change them first, or keep the name."
    case .subscribers: "Only the push service knows who subscribed, so nothing can be said about single devices."
    case .noDevice:
      "No device has “{device}” as its ID, token, alias, or registration ID, or as the beginning of its name."
    case .missing: "This app has no segment “{segment}”."
    case .missingSimilar: "This app has no segment “{segment}”. Did you mean “{similar}”?"
    }
  }
}
