/// The language that somebody reads, from the environment.
enum UserLocale {
  /// `zh-Hans`, or nil for English: what there are tables for.
  ///
  /// As POSIX has it (Base Definitions §8.2): the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty. As
  /// gettext has it, `LANGUAGE` is a list of preferences that counts unless that locale is `C`.
  static func language(_ environment: [String: String]) -> String? {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
    guard let locale = names.first(where: { !$0.isEmpty }), isReadable(locale) else { return nil }
    let list = (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init)
    // What comes after English in a list is never needed: English is always there.
    let wanted = list.first { isSimplifiedChinese($0) || $0.hasPrefix("en") } ?? (list.isEmpty ? locale : "en")
    return isSimplifiedChinese(wanted) ? "zh-Hans" : nil
  }

  /// Whether it has a language, and can show its characters: `zh_CN.GBK` would show UTF-8 as gibberish.
  private static func isReadable(_ locale: String) -> Bool {
    let parts = locale.split(separator: "@")[0].split(separator: ".", maxSplits: 1).map { $0.lowercased() }
    guard let name = parts.first, !["c", "posix"].contains(name) else { return false }
    return parts.count == 1 || parts[1].replacing("-", with: "") == "utf8"
  }

  /// `zh`, `zh_CN`, `zh_SG`, `zh-Hans…`; not `zh_TW`, `zh_HK`, or `zh_Hant_…`.
  private static func isSimplifiedChinese(_ locale: String) -> Bool {
    let name = locale.prefix { $0 != "." && $0 != "@" }.lowercased()
    let parts = name.split { $0 == "_" || $0 == "-" }
    guard parts.first == "zh" else { return false }
    return parts.count == 1 || ["cn", "sg", "hans"].contains(parts[1])
  }
}
