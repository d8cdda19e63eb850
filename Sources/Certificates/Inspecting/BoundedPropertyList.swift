import Foundation

/// Checks untrusted property lists before Foundation parses them.
enum BoundedPropertyList {
  /// Real profiles have 4 levels.
  static let maximumDepth = 32

  /// Parses an XML property list whose root is a dictionary.
  static func dictionary(_ data: Data) throws(PropertyListError) -> [String: Any] {
    try check(Array(data))
    let root: Any
    do {
      root = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
    } catch {
      throw .malformed
    }
    guard let dictionary = root as? [String: Any] else { throw .missing("a dictionary") }
    return dictionary
  }

  /// Allows UTF-8 only, so that no other encoding hides content; no DTD declarations; limited depth.
  private static func check(_ bytes: [UInt8]) throws(PropertyListError) {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = bytes[start...].drop { $0 <= 0x20 }
    guard String(validating: text, as: UTF8.self) != nil, !text.contains(0),
      text.starts(with: "<?xml".utf8) || text.starts(with: "<!DOCTYPE plist".utf8) || text.starts(with: "<plist".utf8)
    else { throw .notXML }
    let declaration = String(decoding: text.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
    guard !declaration.contains("encoding") || declaration.contains("utf-8") else { throw .notXML }
    // One pass: a tag ends at its “>”; an unclosed tag is malformed.
    var depth = 0
    var index = text.startIndex
    while let open = text[index...].firstIndex(of: UInt8(ascii: "<")) {
      guard let close = text[open...].firstIndex(of: UInt8(ascii: ">")) else { return }
      let tag = text[open..<close]
      index = close + 1
      if tag.starts(with: "<!DOCTYPE".utf8) {
        guard !tag.contains(UInt8(ascii: "[")) else { throw .entities }
      } else if tag.starts(with: "<!ENTITY".utf8) || tag.starts(with: "<!ELEMENT".utf8)
        || tag.starts(with: "<!ATTLIST".utf8)
      {
        throw .entities
      } else if tag.starts(with: "</dict".utf8) || tag.starts(with: "</array".utf8) {
        depth -= 1
      } else if tag.starts(with: "<dict".utf8) || tag.starts(with: "<array".utf8), text[close - 1] != UInt8(ascii: "/")
      {
        depth += 1
        guard depth <= maximumDepth else { throw .tooDeep }
      } else if tag.elementsEqual("<date".utf8) {
        guard isDate(text[index...].prefix { $0 != UInt8(ascii: "<") }) else { throw .malformed }
      }
    }
  }

  /// Accepts `2026-11-20T12:00:00Z` with a date that exists, in UTC. Foundation would read February 31 as a date in
  /// March, and skip what it does not understand.
  private static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
    let shape = Array("0000-00-00T00:00:00Z".utf8)
    guard text.count == shape.count, zip(text, shape).allSatisfy({ $1 == 0x30 ? (0x30...0x39).contains($0) : $0 == $1 })
    else { return false }
    func number(_ range: Range<Int>) -> Int {
      text.dropFirst(range.lowerBound).prefix(range.count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard year > 0, (1...12).contains(month), (1...days[month - 1]).contains(day) else { return false }
    return number(11..<13) < 24 && number(14..<16) < 60 && number(17..<19) <= 60
  }
}

package enum PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not XML in UTF-8.
  case notXML
  /// Defines entities, which could expand a few bytes to gigabytes.
  case entities
  /// Deeper than any real property list.
  case tooDeep
  case malformed
  /// A required key is missing.
  case missing(String)

  package var description: String {
    switch self {
    case .notXML: "it is not an XML property list"
    case .entities: "its XML defines entities"
    case .tooDeep: "its XML is nested too deeply"
    case .malformed: "its property list is damaged"
    case .missing(let name): "it has no \(name)"
    }
  }
}
