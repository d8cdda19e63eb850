/// What short names may be: tags, registration ids, bundle ids.
public enum NameRules {
  /// A tag: 1 to 40 bytes, no control characters, no blanks at its ends.
  public static func checkTag(_ tag: String) throws(Problem) {
    guard !tag.isEmpty else { throw Problem("", code: "tag.empty", "A tag has at least one character.") }
    guard tag.utf8.count <= 40 else {
      throw Problem(
        "", code: "tag.too_long", "A tag has at most 40 bytes; this one has {bytes}.",
        ["bytes": String(tag.utf8.count)])
    }
    guard tag.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f && $0 != "," }) else {
      throw Problem("", code: "tag.characters", "A tag has no blanks, commas or control characters.")
    }
  }

  /// A JPush registration id: 1 to 64 letters, digits, `_` or `-`.
  public static func checkRegistrationID(_ id: String) throws(Problem) {
    guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ isWord($0) || $0 == UInt8(ascii: "-") }) else {
      throw Problem(
        "", code: "registration_id.form", "A registration id has 1 to 64 letters, digits, hyphens or underscores.")
    }
  }

  /// A bundle id (Apple: letters, digits, hyphen, full stop) or Android package name (also `_`), 1 to 155 bytes.
  public static func checkBundleID(_ id: String) throws(Problem) {
    let characters = id.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    guard (1...155).contains(id.utf8.count), characters, id.utf8.first != UInt8(ascii: ".") else {
      throw Problem(
        "", code: "bundle_id.form",
        "A bundle id has up to 155 letters, digits, hyphens, underscores and full stops, as com.example.app.")
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
