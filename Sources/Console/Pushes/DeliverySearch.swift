import HTTPServer
import Model
import Store

/// Parses the search field and filters of a push's device list.
enum DeliverySearch {
  static func filter(_ page: PageContext) -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.outcome = OutcomeKind.allCases.first { $0.name == page.query["outcome"] }
    filter.reason = page.filled("reason")
    if let text = page.filled("q") {
      filter.search = [.alias(text), .registrationID(text)]
      if let bytes = TokenPrefix.bytes(text) { filter.search.append(.token(bytes)) }
    }
    return filter
  }
}

/// The start of a device token in any notation: hexadecimal, optionally with angle brackets or spaces. Anything after
/// an ellipsis is ignored.
enum TokenPrefix {
  static func bytes(_ text: String) -> [UInt8]? {
    let head = text.prefix { $0 != "…" }
    let digits = head.utf8.filter { !"<> ".utf8.contains($0) }
    guard digits.count >= 2, digits.allSatisfy({ UInt8(ascii: "0") <= $0 && Character(UnicodeScalar($0)).isHexDigit })
    else { return nil }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16)
    }
  }
}
