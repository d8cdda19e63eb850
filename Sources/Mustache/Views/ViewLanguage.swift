/// The texts named `t.…` in templates, in one language.
public struct ViewLanguage: Sendable {
  /// One text, with places such as `{name}` that members of the view fill.
  public enum Text: Sendable, Hashable {
    /// The same for every number.
    case plain(String)
    /// By plural form, such as `one` and `other`; the view's number `count` chooses.
    case plural([String: String])
  }

  /// Language tag, such as `zh-Hans`.
  public let code: String
  let texts: [String: Text]
  let form: @Sendable (Int) -> String

  /// - Parameters:
  ///   - texts: by key, without `t.`
  ///   - form: the plural form of a number; `other` must exist, and replaces forms that a text lacks
  public init(code: String, texts: [String: Text], form: @escaping @Sendable (Int) -> String) {
    self.code = code
    self.texts = texts
    self.form = form
  }
}

extension ViewLanguage {
  /// A part of a text.
  enum Piece: Equatable {
    case fixed(String)
    case place(String)
  }

  /// `{name}` is a place if the name consists of lower-case letters, digits, `_` and `.`; other braces are text.
  static func pieces(of text: String) -> [Piece] {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text.isEmpty ? [] : [.fixed(text)] }
    var pieces: [Piece] = []
    var rest = text[...]
    var fixed = ""
    while let open = rest.firstIndex(of: "{") {
      fixed += rest[..<open]
      let inner = rest[rest.index(after: open)...]
      guard let close = inner.firstIndex(of: "}"), isName(inner[..<close]) else {
        fixed += "{"
        rest = inner
        continue
      }
      if !fixed.isEmpty { pieces.append(.fixed(fixed)) }
      fixed = ""
      pieces.append(.place(String(inner[..<close])))
      rest = inner[inner.index(after: close)...]
    }
    fixed += rest
    if !fixed.isEmpty { pieces.append(.fixed(fixed)) }
    return pieces
  }

  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
  }
}
