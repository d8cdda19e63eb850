/// What an app lets be an alias.
public enum AliasRule: String, Sendable, Codable, CaseIterable {
  /// Up to 255 bytes, no control characters.
  case none
  /// JPush's: up to 40 bytes; letters, digits, `_`, Han characters and `@!#$&*+=.|` (PROTOCOLS §4.4).
  case jpush

  /// JPush's client result code for an alias of this form: 0, 6003 (characters) or 6004 (length).
  ///
  /// The length is checked before the characters, as the vectors of PROTOCOLS §4.7 show.
  public static func jpushResultCode(for alias: String) -> Int {
    if alias.utf8.count > 40 { return 6004 }
    return alias.unicodeScalars.allSatisfy(isJPushCharacter) ? 0 : 6003
  }

  /// The form that JPush takes, by which the seeds' server and app agree: `user-` → `usr_`, then `-` → `_`.
  public static func jpushForm(of alias: String) -> String {
    let short = alias.hasPrefix("user-") ? "usr-" + alias.dropFirst(5) : alias
    return short.replacing("-", with: "_")
  }

  /// - Throws: ``Problem`` with an empty field.
  public func check(_ alias: String) throws(Problem) {
    guard !alias.isEmpty else { throw Problem("", code: "alias.empty", "An alias has at least one character.") }
    switch self {
    case .none:
      guard alias.utf8.count <= 255 else {
        throw Problem(
          "", code: "alias.too_long", "An alias has at most {limit} bytes; this one has {bytes}.",
          ["limit": "255", "bytes": String(alias.utf8.count)])
      }
      guard !alias.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else {
        throw Problem("", code: "alias.control", "An alias has no control characters.")
      }
    case .jpush:
      let suggestion = Self.jpushForm(of: alias)
      let offered = Self.jpushResultCode(for: suggestion) == 0 && suggestion != alias ? suggestion : nil
      switch Self.jpushResultCode(for: alias) {
      case 0: return
      case 6004:
        throw Problem(
          "", code: offered == nil ? "alias.jpush_too_long" : "alias.jpush_too_long_offer",
          offered == nil
            ? "JPush takes aliases of at most 40 bytes (code 6004); this one has {bytes}."
            : "JPush takes aliases of at most 40 bytes (code 6004); this one has {bytes}. Use {offer} in app and server.",
          ["bytes": String(alias.utf8.count), "offer": offered ?? ""])
      default:
        throw Problem(
          "", code: offered == nil ? "alias.jpush_characters" : "alias.jpush_characters_offer",
          offered == nil
            ? "JPush takes letters, digits, _, Han characters and @!#$&*+=.| in an alias (code 6003)."
            : "JPush takes letters, digits, _, Han characters and @!#$&*+=.| in an alias (code 6003), no hyphen. Use {offer} in app and server.",
          ["offer": offered ?? ""])
      }
    }
  }

  static func isJPushCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    case "@", "!", "#", "$", "&", "*", "+", "=", ".", "|", "￥": true
    default: scalar.properties.isIdeographic
    }
  }
}
