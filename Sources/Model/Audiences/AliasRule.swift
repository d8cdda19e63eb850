import Text

/// The rules for an app's aliases (user IDs) and tags.
package enum AliasRule: String, Sendable, Codable, CaseIterable, Hashable {
  /// Any text without control characters.
  case none
  /// JPush's: at most 40 bytes of UTF-8; letters, digits, `_`, Han characters and `@!#$&*+=.|`, so no `-`.
  case jpush

  /// The result of JPush's client library for an alias (docs/protocols.md §4.7).
  package enum ResultCode: Int, Sendable {
    case accepted = 0
    case invalidCharacters = 6003
    case tooLong = 6004
  }

  /// JPush's limit in bytes, and ours for other apps in characters.
  package var limit: Int { self == .jpush ? JPushName.limit : 255 }

  /// The result of JPush's client library. It checks the length before the characters: 41 bytes with `-` → 6004
  /// (docs/protocols.md §4.7).
  package static func resultCode(for alias: String) -> ResultCode {
    if alias.utf8.count > JPushName.limit { return .tooLong }
    return JPushName.firstForbidden(in: alias) == nil ? .accepted : .invalidCharacters
  }

  package func problem(with alias: String) -> Problem? {
    guard self == .jpush else { return PlainName.problem(with: alias, limit: .characters(limit)) }
    if alias.isEmpty { return Problem("", NameMessage.empty) }
    switch Self.resultCode(for: alias) {
    case .accepted: return nil
    case .tooLong:
      return Problem("", NameMessage.aliasTooLong, ["limit": String(limit), "count": String(alias.utf8.count)])
    case .invalidCharacters:
      let character = JPushName.firstForbidden(in: alias).map(String.init) ?? ""
      return Problem("", NameMessage.aliasCharacter, ["character": character])
    }
  }

  /// The form that an app gives a user ID so that JPush accepts it: `user-` becomes `usr-`, then `-` becomes `_`.
  ///
  /// The server must derive it exactly as the app does (docs/protocols.md §6).
  package static func usr(_ alias: String) -> String {
    alias.replacing("user-", with: "usr-").replacing("-", with: "_")
  }

  /// The ``usr(_:)`` form, if the rule refuses `alias` and accepts that form.
  package func suggestion(for alias: String) -> String? {
    let form = Self.usr(alias)
    return problem(with: alias) != nil && problem(with: form) == nil ? form : nil
  }
}

/// JPush's rule for aliases and tags (docs/protocols.md §4.4).
enum JPushName {
  static let limit = 40

  static func firstForbidden(in name: String) -> Unicode.Scalar? { name.unicodeScalars.first { !allows($0) } }

  private static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "!", "#", "$", "&", "*", "+", "=", ".", "|": true
    default: isHan(scalar)
    }
  }

  /// The unified ideographs, their extensions, and the compatibility ideographs.
  static func isHan(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{3400}"..."\u{4DBF}", "\u{4E00}"..."\u{9FFF}", "\u{F900}"..."\u{FAFF}", "\u{20000}"..."\u{323AF}": true
    default: false
    }
  }
}

/// Display names and labels.
enum PlainName {
  static func problem(with name: String, limit: TextLimit) -> Problem? {
    if name.isEmpty { return Problem("", NameMessage.empty) }
    if let problem = limit.problem(with: name) { return problem }
    if name.isPlainASCII { return name.first == " " || name.last == " " ? Problem("", NameMessage.blankEdge) : nil }
    if let control = name.unicodeScalars.first(where: { $0.properties.generalCategory == .control }) {
      return Problem("", NameMessage.controlCharacter, ["character": control.codePoint])
    }
    if name.first?.isWhitespace == true || name.last?.isWhitespace == true { return Problem("", NameMessage.blankEdge) }
    return nil
  }
}

/// The rules for tags and their number.
package enum TagRule {
  /// Bytes of UTF-8, as at JPush; under every rule, so that an app can move there later.
  package static let limit = JPushName.limit
  /// The most tags of one device.
  package static let perDevice = 1000

  package static func problem(with tag: String, rule: AliasRule) -> Problem? {
    guard rule == .jpush else { return PlainName.problem(with: tag, limit: .bytes(limit)) }
    if tag.isEmpty { return Problem("", NameMessage.empty) }
    if tag.utf8.count > limit {
      return Problem("", NameMessage.tagTooLong, ["limit": String(limit), "count": String(tag.utf8.count)])
    }
    return JPushName.firstForbidden(in: tag).map { Problem("", NameMessage.tagCharacter, ["character": String($0)]) }
  }

  /// Checks all tags of a device; paths are `[0]`, `[1]`, ….
  package static func problems(with tags: [String], rule: AliasRule) -> [Problem] {
    var problems = tags.enumerated().compactMap { index, tag in problem(with: tag, rule: rule)?.under("[\(index)]") }
    let count = Set(tags).count
    if count > perDevice {
      problems.append(Problem("", NameMessage.tagsTooMany, ["limit": String(perDevice), "count": String(count)]))
    }
    return problems
  }
}
