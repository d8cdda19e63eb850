/// What browsers do not need of a style sheet: a seventh of its bytes on the wire.
enum StyleSheet {
  /// Leaves out comments and white space that separates nothing, and shortens the names of custom properties. Strings
  /// and addresses stay as they are.
  ///
  /// Source: CSS Syntax Module Level 3, section 4. White space around `+` and `-` stays, because `calc()` needs it.
  static func packed(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    packed.reserveCapacity(bytes.count)
    var index = 0
    var hasSpace = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "*") {
        index = end(ofComment: bytes, from: index + 2)
        hasSpace = true
        continue
      }
      if isSpace(byte) {
        hasSpace = true
        index += 1
        continue
      }
      if hasSpace {
        if let last = packed.last, !separates(last), last != UInt8(ascii: ":"), !separates(byte) {
          packed.append(UInt8(ascii: " "))
        }
        hasSpace = false
      }
      let next = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") ? end(ofString: bytes, from: index) : index + 1
      // The last declaration of a block needs no end.
      if byte == UInt8(ascii: "}"), packed.last == UInt8(ascii: ";") { packed.removeLast() }
      packed += bytes[index..<next]
      index = next
    }
    return renamed(packed)
  }

  /// Gives short names to the custom properties that the sheet declares: they stand in it several hundred times, and
  /// nothing else knows them.
  private static func renamed(_ bytes: [UInt8]) -> [UInt8] {
    let places = customProperties(bytes)
    let declared = Set(places.filter { $0.endIndex < bytes.count && bytes[$0.endIndex] == UInt8(ascii: ":") })
    let counts = Dictionary(grouping: places, by: Array.init).filter { name, _ in
      declared.contains { Array($0) == name }
    }
    let ordered = counts.keys.sorted { one, other in
      let (first, second) = (counts[one]?.count ?? 0, counts[other]?.count ?? 0)
      return first == second ? one.lexicographicallyPrecedes(other) : first > second
    }
    let short = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1, name($0)) })
    var renamed: [UInt8] = []
    renamed.reserveCapacity(bytes.count)
    var index = 0
    for place in places {
      renamed += bytes[index..<place.startIndex] + (short[Array(place)] ?? Array(place))
      index = place.endIndex
    }
    return renamed + bytes[index...]
  }

  /// Where names such as `--accent` stand, outside of strings.
  private static func customProperties(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var places: [ArraySlice<UInt8>] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") {
        index = end(ofString: bytes, from: index)
      } else if isNamed(bytes[index]) {
        let rest = bytes[index...]
        let end = rest.firstIndex { !isNamed($0) } ?? bytes.endIndex
        if rest.starts(with: Array("--".utf8)) { places.append(bytes[index..<end]) }
        index = end
      } else {
        index += 1
      }
    }
    return places
  }

  /// `--a` … `--z`, `--aa` …
  private static func name(_ number: Int) -> [UInt8] {
    let letter = UInt8(ascii: "a") + UInt8(number % 26)
    return number < 26 ? Array("--".utf8) + [letter] : name(number / 26 - 1) + [letter]
  }

  private static func isNamed(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80 || (0x30...0x39).contains(byte)
      || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  private static func separates(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",")
  }

  private static func end(ofComment bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index + 1 < bytes.count {
      if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") { return index + 2 }
      index += 1
    }
    return bytes.count
  }

  private static func end(ofString bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != bytes[start] { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(index + 1, bytes.count)
  }
}
