import Model
package import SQLite

extension Device {
  /// A page of the devices that a text names: an alias, a registration ID, a tag, the beginning of a name, or a token or
  /// its beginning in any notation. The first kind that matches is used.
  ///
  /// - Parameters:
  ///   - base: further conditions.
  ///   - cursor: `next` of the previous page; nil: the first page.
  package static func search(
    _ database: Database, _ text: String, _ base: DeviceFilter = DeviceFilter(), cursor: String? = nil, limit: Int
  ) throws -> Page<Device> {
    var kinds: [DeviceFilter] = []
    func add(_ change: (inout DeviceFilter) -> Void) {
      var filter = base
      change(&filter)
      kinds.append(filter)
    }
    add { $0.alias = text }
    add { $0.registrationID = text }
    add { $0.tag = text }
    add { $0.namePrefix = text }
    if let token = try? DeviceToken(parsing: text, platform: .ios) {  // nil: a prefix of a token, or other text
      add { $0.tokenPrefix = token.bytes }
    } else if let bytes = TokenPrefix.bytes(text) {
      add { $0.tokenPrefix = bytes }
    }
    if text.utf8.count >= 8 { add { $0.tokenPrefix = Array(text.utf8) } }
    for filter in kinds {
      let found = try list(database, filter, cursor: cursor, limit: limit)
      if !found.items.isEmpty { return found }
    }
    return Page(items: [], next: nil)
  }
}

/// The start of a device token in any notation: hexadecimal, optionally with angle brackets or spaces. Anything after
/// an ellipsis is ignored.
package enum TokenPrefix {
  package static func bytes(_ text: String) -> [UInt8]? {
    let head = text.prefix { $0 != "…" }
    let digits = head.utf8.filter { !"<> ".utf8.contains($0) }
    guard digits.count >= 2, digits.allSatisfy({ UInt8(ascii: "0") <= $0 && Character(UnicodeScalar($0)).isHexDigit })
    else { return nil }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16)
    }
  }
}
