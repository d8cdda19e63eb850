import Foundation

/// Property lists of strangers: looked over before Foundation reads them.
enum BoundedPropertyList {
  /// Real profiles have 4 levels.
  static let maximumDepth = 32

  /// Reads an XML property list whose root is a dictionary.
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

  /// UTF-8 only, so that nothing hides in another encoding; no DTD of its own; not too deep.
  private static func check(_ bytes: [UInt8]) throws(PropertyListError) {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = bytes[start...].drop { $0 <= 0x20 }
    guard String(validating: text, as: UTF8.self) != nil, !text.contains(0),
      text.starts(with: "<?xml".utf8) || text.starts(with: "<!DOCTYPE plist".utf8) || text.starts(with: "<plist".utf8)
    else { throw .notXML }
    let declaration = String(decoding: text.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
    guard !declaration.contains("encoding") || declaration.contains("utf-8") else { throw .notXML }
    var depth = 0
    var index = text.startIndex
    while let open = text[index...].firstIndex(of: UInt8(ascii: "<")) {
      let tag = text[open...].prefix(16)
      index = open + 1
      if tag.starts(with: "<!ENTITY".utf8) || tag.starts(with: "<!ELEMENT".utf8) || tag.starts(with: "<!ATTLIST".utf8) {
        throw .entities
      }
      if tag.starts(with: "<!DOCTYPE".utf8) {
        let whole = text[open...].prefix { $0 != UInt8(ascii: ">") }
        guard !whole.contains(UInt8(ascii: "[")) else { throw .entities }
      }
      if tag.starts(with: "</dict".utf8) || tag.starts(with: "</array".utf8) {
        depth -= 1
      } else if tag.starts(with: "<dict".utf8) || tag.starts(with: "<array".utf8) {
        let end = text[open...].firstIndex(of: UInt8(ascii: ">")) ?? text.endIndex
        if end > open, text[end - 1] != UInt8(ascii: "/") { depth += 1 }
        guard depth <= maximumDepth else { throw .tooDeep }
      }
    }
  }
}
