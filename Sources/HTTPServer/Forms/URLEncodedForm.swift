/// Pairs of names and values, as forms and queries send them (URL standard, section 5.1), in their order.
package struct URLEncodedForm: Sendable, Equatable {
  package struct Pair: Sendable, Equatable {
    /// Decoded.
    package let name: String
    /// Decoded.
    package let value: String
  }

  /// No form filled in by a person has more.
  static let maximumPairs = 1000

  package private(set) var pairs: [Pair] = []

  package init() {}

  /// - Throws: ``HTTPError`` 400 for a `%` that is no escape, NUL, text that is not UTF-8; 413 for more than 1,000 pairs.
  package init(_ bytes: [UInt8]) throws {
    for piece in bytes.split(separator: UInt8(ascii: "&")) {
      guard let pair = Self.pair(piece) else {
        throw HTTPError(.badRequest, "The form contains an invalid percent escape or text that is not UTF-8.")
      }
      guard pairs.count < Self.maximumPairs else {
        throw HTTPError(.contentTooLarge, "The form has more than \(Self.maximumPairs) fields.")
      }
      pairs.append(pair)
    }
  }

  /// Skips invalid pairs.
  init(lenient bytes: ArraySlice<UInt8>) {
    pairs = bytes.split(separator: UInt8(ascii: "&")).prefix(Self.maximumPairs).compactMap(Self.pair)
  }

  package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  private static func pair(_ piece: ArraySlice<UInt8>) -> Pair? {
    let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
    guard let name = text(piece[..<equals]), let value = text(piece[equals...].dropFirst()) else { return nil }
    return Pair(name: name, value: value)
  }

  private static func text(_ piece: ArraySlice<UInt8>) -> String? {
    PercentDecoding.decode(piece, plusIsSpace: true).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
