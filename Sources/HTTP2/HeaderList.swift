/// Header fields as they came: in order, repeats kept.
package struct HeaderList: Sendable, Equatable, RandomAccessCollection {
  private struct Entry: Equatable {
    let start: Int32
    let nameEnd: Int32
    let valueEnd: Int32
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  /// Creates an empty list.
  package init() {}

  /// Creates a list of the given fields.
  package init(_ fields: [(name: String, value: String)]) {
    for field in fields {
      entries.append(
        Entry(
          start: Int32(bytes.count), nameEnd: Int32(bytes.count + field.name.utf8.count),
          valueEnd: Int32(bytes.count + field.name.utf8.count + field.value.utf8.count)))
      bytes += field.name.utf8
      bytes += field.value.utf8
    }
  }

  /// Where the list begins: 0.
  package var startIndex: Int { 0 }
  /// Number of fields.
  package var endIndex: Int { entries.count }
  /// Bytes of all names and values.
  package var byteCount: Int { bytes.count }

  /// One field.
  package subscript(position: Int) -> (name: String, value: String) {
    let entry = entries[position]
    return (
      String(decoding: bytes[Int(entry.start)..<Int(entry.nameEnd)], as: UTF8.self),
      String(decoding: bytes[Int(entry.nameEnd)..<Int(entry.valueEnd)], as: UTF8.self)
    )
  }

  /// The value of the first field of that name (lower case), nil if there is none.
  package subscript(name: String) -> String? {
    for entry in entries where has(name, entry) {
      return String(decoding: bytes[Int(entry.nameEnd)..<Int(entry.valueEnd)], as: UTF8.self)
    }
    return nil
  }

  /// The values of all fields of that name (lower case).
  package func all(_ name: String) -> [String] {
    entries.filter { has(name, $0) }
      .map { String(decoding: bytes[Int($0.nameEnd)..<Int($0.valueEnd)], as: UTF8.self) }
  }

  private func has(_ name: String, _ entry: Entry) -> Bool {
    name.utf8.count == Int(entry.nameEnd - entry.start)
      && name.utf8.elementsEqual(bytes[Int(entry.start)..<Int(entry.nameEnd)])
  }

  mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    if entries.isEmpty {
      entries.reserveCapacity(16)
      bytes.reserveCapacity(640)
    }
    let start = bytes.count
    bytes.append(contentsOf: name)
    bytes.append(contentsOf: value)
    entries.append(
      Entry(start: Int32(start), nameEnd: Int32(start + name.count), valueEnd: Int32(bytes.count)))
  }

  mutating func append(_ other: HeaderList) {
    let start = Int32(bytes.count)
    bytes += other.bytes
    entries += other.entries.map {
      Entry(start: $0.start + start, nameEnd: $0.nameEnd + start, valueEnd: $0.valueEnd + start)
    }
  }
}
