import Text

/// A language as BCP 47 writes it: `de`, `pt-BR`, `zh-Hans` (RFC 5646 §2.1), without extensions and private parts.
package struct LanguageTag: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// In the usual case (RFC 5646 §2.1.1), with outdated codes replaced.
  package let text: String
  package var description: String { text }

  package static func < (one: LanguageTag, other: LanguageTag) -> Bool { one.text < other.text }

  private init(parts: [String]) { text = parts.joined(separator: "-") }

  private var parts: [String] { text.split(separator: "-").map(String.init) }
  private var language: String { parts[0] }
  private var script: String? { parts.dropFirst().first { Self.isLetters($0, 4...4) } }
  private var region: String? { parts.dropFirst().first { Self.isRegion($0) } }

  /// A tag that a person wrote.
  ///
  /// - Throws: what is wrong with it; with the right tag, if it can be guessed.
  package init(parsing text: String) throws(Problem) {
    guard let tag = Self(exactly: text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)) else {
      throw Self.problem(text, Self.suggestion(for: text))
    }
    self = tag
  }

  /// No language has more parts, and each of a reported tag costs another try.
  private static let mostParts = 16

  /// A tag as devices report it: `zh_CN`, `zh-Hans-CN`, `zh_CN_#Hans`, `de-DE-u-co-phonebk`, `pt_BR.UTF-8`; nil if it
  /// says no language.
  package init?(reported text: String) {
    let plain = text.prefix { $0 != "." && $0 != "@" }
    var parts = plain.split { "-_#".contains($0) }.prefix(Self.mostParts).map(String.init)
    // What follows a single character is an extension (RFC 5646 §2.2.6).
    if let extensions = parts.dropFirst().firstIndex(where: { $0.utf8.count == 1 }) {
      parts.removeSubrange(extensions...)
    }
    // Java writes the script last.
    if parts.count > 2, let script = parts.dropFirst(2).firstIndex(where: { Self.isLetters($0, 4...4) }) {
      parts.insert(parts.remove(at: script), at: 1)
    }
    while !parts.isEmpty {
      if let tag = Self(exactly: parts) {
        self = tag
        return
      }
      parts.removeLast()
    }
    return nil
  }

  /// Language, then script, region and variants, each at most once and in this order.
  private init?(exactly parts: [String]) {
    guard let first = parts.first?.lowercased(), Self.isLetters(first, 2...3) else { return nil }
    var (language, rest) = (Self.replaced[first] ?? first, parts.dropFirst())
    // Languages that were once written as a part of another, such as zh-yue (RFC 5646 §2.2.2).
    if language == "zh", let own = rest.first?.lowercased(), ["yue", "cmn", "nan", "hak", "wuu"].contains(own) {
      language = own == "cmn" ? language : own
      rest = rest.dropFirst()
    }
    guard language.utf8.count == 3 || Self.twoLetters.contains(language) else { return nil }
    var tag = [language]
    if let script = rest.first, Self.isLetters(script, 4...4) {
      tag.append(script.prefix(1).uppercased() + script.dropFirst().lowercased())
      rest = rest.dropFirst()
    }
    if let region = rest.first, Self.isRegion(region) {
      tag.append(region.uppercased())
      rest = rest.dropFirst()
    }
    for variant in rest {
      guard variant.utf8.allSatisfy(ASCII.isAlphanumeric) else { return nil }
      let hasDigit = variant.utf8.first.map(ASCII.isDigit) == true
      guard (5...8).contains(variant.utf8.count) || variant.utf8.count == 4 && hasDigit else { return nil }
      tag.append(variant.lowercased())
    }
    self.init(parts: tag)
  }

  private static func isLetters(_ text: String, _ count: ClosedRange<Int>) -> Bool {
    count.contains(text.utf8.count) && text.utf8.allSatisfy(ASCII.isLetter)
  }

  private static func isRegion(_ text: String) -> Bool {
    isLetters(text, 2...2) || text.utf8.count == 3 && text.utf8.allSatisfy(ASCII.isDigit)
  }

  // MARK: Mistakes

  private static func problem(_ text: String, _ suggestion: String?) -> Problem {
    let value = text.abbreviated(to: 40)
    guard let suggestion else { return Problem("", LocalizationMessage.tag, ["value": value]) }
    return Problem("", LocalizationMessage.tagSimilar, ["value": value, "suggestion": suggestion])
  }

  /// `zh_CN` → `zh-CN`, `Chinese` → `zh-Hans`, `english` → `en`.
  private static func suggestion(for text: String) -> String? {
    let parts = text.lowercased().split { "-_ ".contains($0) }
    if let right = mistakes[parts.joined(separator: "-")] ?? parts.first.flatMap({ mistakes[String($0)] }) {
      return right
    }
    return LanguageTag(reported: text.replacing(" ", with: "")).map(\.text)
  }

  /// Words and countries, as they are met in place of a tag.
  private static let mistakes = [
    "cn": "zh-Hans", "chs": "zh-Hans", "cht": "zh-Hant", "zh-chs": "zh-Hans", "zh-cht": "zh-Hant", "chinese": "zh-Hans",
    "hk": "zh-Hant-HK", "jp": "ja", "japanese": "ja", "korean": "ko", "english": "en", "us": "en-US",
    "gb": "en-GB", "german": "de", "french": "fr", "spanish": "es", "portuguese": "pt", "russian": "ru",
    "italian": "it", "dutch": "nl", "cz": "cs", "gr": "el", "ua": "uk", "dk": "da", "arabic": "ar", "vn": "vi",
    "turkish": "tr",
  ]

  /// The shortest and present code (RFC 5646 §4.5). Java used old ones for long.
  private static let replaced = [
    "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr", "cmn": "zh", "zho": "zh", "chi": "zh",
    "eng": "en", "jpn": "ja", "kor": "ko", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es",
    "por": "pt", "rus": "ru", "ita": "it", "nld": "nl", "ara": "ar", "tur": "tr",
  ]

  /// ISO 639-1.
  private static let twoLetters = Set(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo \
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka \
    kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng \
    nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su \
    sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split(separator: " ").map(String.init))

  /// Languages that are often sent.
  package static let common = ["zh-Hans", "zh-Hant", "en", "ja", "ko", "de", "fr", "es", "pt-BR", "ru", "ar", "it"]

  // MARK: Lookup

  /// What a device with this language takes, the best first: each shorter form (RFC 4647 §3.4), and for Chinese those
  /// of the same script.
  var ranges: [String] {
    var found: [String] = []
    func add(_ range: String) { if !found.contains(range) { found.append(range) } }
    var rest = parts
    if language == "zh", let script = chineseScript {
      // zh-CN is read by whoever reads zh-Hans, and zh-TW by whoever reads zh-Hant; without a region, zh is zh-Hans.
      add(text)
      if let region {
        add("zh-\(script)-\(region)")
        if LanguageTag.script(ofChineseIn: region) == script { add("zh-\(region)") }
      }
      add("zh-\(script)")
      for region in script == "Hant" ? ["TW", "HK", "MO"] : ["CN", "SG", "MY"] {
        add("zh-\(script)-\(region)")
        add("zh-\(region)")
      }
      add("zh")
      return found
    }
    while !rest.isEmpty {
      add(rest.joined(separator: "-"))
      rest.removeLast()
    }
    // Apple says nb, senders write no; written Cantonese is Chinese in its region's script.
    switch language {
    case "nb", "nn": add("no")
    case "no": add("nb")
    case "yue": for range in LanguageTag(parts: ["zh", script ?? "Hant"]).ranges { add(range) }
    default: break
    }
    return found
  }

  private var chineseScript: String? { script ?? LanguageTag.script(ofChineseIn: region) }

  private static func script(ofChineseIn region: String?) -> String {
    ["TW", "HK", "MO"].contains(region) ? "Hant" : "Hans"
  }
}

/// Chooses the text of a push for a device.
package struct LanguageMatcher: Sendable {
  private let variants: [String: Int]

  /// - Parameter languages: of the texts, in the order of ``PushDraft/variants`` without the default.
  package init(_ languages: [LanguageTag]) {
    variants = Dictionary(languages.enumerated().map { ($0.element.text, $0.offset + 1) }) { first, _ in first }
  }

  /// The position in ``PushDraft/variants``; 0: the default text.
  ///
  /// - Parameter language: as the device reported it; nil: it did not.
  package func variant(for language: String?) -> Int {
    guard let tag = language.flatMap(LanguageTag.init(reported:)) else { return 0 }
    return tag.ranges.lazy.compactMap { variants[$0] }.first ?? 0
  }
}
