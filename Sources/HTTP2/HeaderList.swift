/// Header fields in received order, repetitions kept.
package struct HeaderList: Sendable, Equatable, RandomAccessCollection {
  private struct Entry: Equatable {
    let start: Int32
    let nameEnd: Int32
    let valueEnd: Int32
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  package init() {}

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

  package var startIndex: Int { 0 }
  package var endIndex: Int { entries.count }
  /// Bytes of all names and values.
  package var byteCount: Int { bytes.count }

  package subscript(position: Int) -> (name: String, value: String) {
    let entry = entries[position]
    return (
      String(decoding: bytes[Int(entry.start)..<Int(entry.nameEnd)], as: UTF8.self),
      String(decoding: bytes[Int(entry.nameEnd)..<Int(entry.valueEnd)], as: UTF8.self)
    )
  }

  /// The first value of a field (lower case).
  package subscript(name: String) -> String? {
    for entry in entries where has(name, entry) {
      return String(decoding: bytes[Int(entry.nameEnd)..<Int(entry.valueEnd)], as: UTF8.self)
    }
    return nil
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

package struct HeaderField: Sendable, Hashable {
  package var name: String
  /// Without line breaks.
  package var value: String
  /// How the peer may keep it.
  package var indexing: Indexing

  /// How HPACK (RFC 7541 §6.2) indexes a field.
  package enum Indexing: Sendable, Hashable {
    /// Added to the peer's table, so that a repetition costs one byte.
    case table
    /// Never indexed: for values that differ each time, and for secrets.
    case never
  }
  package init(_ name: String, _ value: String, indexing: Indexing = .table) {
    self.name = name
    self.value = value
    self.indexing = indexing
  }
}
