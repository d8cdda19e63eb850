import Model
package import SQLite

extension Device {
  /// A page of the devices that a text names: an alias, a registration ID, the beginning of a name, a tag, a token or
  /// its beginning in any notation, or a part of a name. The first kind that matches is used.
  ///
  /// - Parameters:
  ///   - base: further conditions.
  ///   - tags: whether a tag's devices are named by it.
  ///   - cursor: `next` of the previous page; nil: the first page.
  package static func search(
    _ database: Database, _ text: String, _ base: DeviceFilter = DeviceFilter(), tags: Bool = true,
    cursor: String? = nil, limit: Int
  ) throws -> Page<Device> {
    for filter in kinds(text, base, tags: tags) {
      let found = try list(database, filter, cursor: cursor, limit: limit)
      if !found.items.isEmpty { return found }
    }
    return Page(items: [], next: nil)
  }

  /// The devices that a text names in any way, names and IDs before tags and tokens.
  package static func found(
    _ database: Database, _ text: String, tags: Bool = true, limit: Int
  ) throws -> [Device] {
    var found: [Device] = []
    for filter in kinds(text, DeviceFilter(), tags: tags) where found.count < limit {
      let known = Set(found.map(\.id))
      found += try list(database, filter, limit: limit).items.filter { !known.contains($0.id) }
    }
    return Array(found.prefix(limit))
  }

  private static func kinds(_ text: String, _ base: DeviceFilter, tags: Bool) -> [DeviceFilter] {
    var kinds: [DeviceFilter] = []
    func add(_ change: (inout DeviceFilter) -> Void) {
      var filter = base
      change(&filter)
      kinds.append(filter)
    }
    add { $0.alias = text }
    add { $0.registrationID = text }
    add { $0.namePrefix = text }
    if tags { add { $0.tag = text } }
    if let token = try? DeviceToken(parsing: text, platform: .ios) {  // nil: a prefix of a token, or other text
      add { $0.tokenPrefix = token.bytes }
    } else if let bytes = TokenPrefix.bytes(text), bytes.count >= TokenPrefix.telling || TokenPrefix.isCut(text) {
      add { $0.tokenPrefix = bytes }
    }
    if let characters = TokenPrefix.characters(text) { add { $0.tokenPrefix = characters } }
    if text.count >= 2 { add { $0.namePart = text } }
    return kinds
  }
}

/// The start of a device token in any notation: hexadecimal, optionally with angle brackets or spaces. Anything after
/// an ellipsis is ignored.
package enum TokenPrefix {
  /// Bytes that hardly any word or name has by chance; as many as an abbreviated token shows first.
  package static let telling = 4

  package static func bytes(_ text: String) -> [UInt8]? {
    let digits = beginning(of: text).utf8.filter { !"<> ".utf8.contains($0) }
    guard digits.count >= 2, digits.allSatisfy({ UInt8(ascii: "0") <= $0 && Character(UnicodeScalar($0)).isHexDigit })
    else { return nil }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16)
    }
  }

  /// The bytes of a token that is kept as its characters, as FCM's are; nil: too few to tell it from a word.
  package static func characters(_ text: String) -> [UInt8]? {
    let beginning = Array(beginning(of: text).utf8)
    return beginning.count >= 8 ? beginning : nil
  }

  static func isCut(_ text: String) -> Bool { ellipsis(text) != nil }

  private static func beginning(of text: String) -> Substring {
    text[..<(ellipsis(text)?.lowerBound ?? text.endIndex)]
  }

  /// Pages, logs, and people write it as one sign or as three dots.
  private static func ellipsis(_ text: String) -> Range<String.Index>? {
    text.firstRange(of: "…") ?? text.firstRange(of: "...")
  }
}

extension Device {
  /// An app's devices whose name begins with a text, for suggestions: some of them, in the order of the names.
  package static func named(_ database: Database, app: Int64, prefix: String, limit: Int) throws -> [Device] {
    // Names of all apps that are looked at.
    let patience = 1000
    let found = try database.fetchAll(
      """
      SELECT \(columns) FROM (
        SELECT id, name AS n FROM devices INDEXED BY devices_name WHERE name IS NOT NULL AND name COLLATE NOCASE >= ?1
          AND name COLLATE NOCASE < ?1 || char(0x10FFFF) ORDER BY name COLLATE NOCASE LIMIT \(patience)
      ) m CROSS JOIN devices d ON d.id = m.id WHERE d.app_id = ?2 LIMIT ?3
      """, prefix, app, limit
    ) { try Device($0) }
    return try whole(database, found)
  }
}
