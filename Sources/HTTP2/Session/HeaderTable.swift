/// The peer's table of header fields, computed from what we sent (RFC 7541 §2.3).
struct HeaderTable {
  private struct Entry {
    let name: [UInt8]
    let value: [UInt8]
    var size: Int { HeaderTable.size(name, value) }
  }

  /// The most we use, whatever the peer offers: the initial size of both sides.
  static let maximumCapacity = 4096

  /// Newest first.
  private var entries: [Entry] = []
  private(set) var size = 0
  private(set) var capacity = maximumCapacity

  /// The size of a field in the table (§4.1).
  static func size(_ name: [UInt8], _ value: [UInt8]) -> Int { name.count + value.count + 32 }

  /// The index of a field, and whether its value is equal too.
  func find(_ name: [UInt8], _ value: [UInt8]?) -> (index: Int, isWhole: Bool)? {
    var sameName: Int?
    for (place, entry) in Self.fixed.enumerated() where entry.name == name {
      if entry.value == value { return (place + 1, true) }
      if sameName == nil { sameName = place + 1 }
    }
    for (place, entry) in entries.enumerated() where entry.name == name {
      if entry.value == value { return (Self.fixed.count + 1 + place, true) }
      if sameName == nil { sameName = Self.fixed.count + 1 + place }
    }
    return sameName.map { ($0, false) }
  }

  /// Adds a field and evicts the oldest (§4.4). One that is too large empties the table.
  mutating func insert(_ name: [UInt8], _ value: [UInt8]) {
    let entry = Entry(name: name, value: value)
    evict(to: capacity - entry.size)
    guard entry.size <= capacity else { return }
    entries.insert(entry, at: 0)
    size += entry.size
  }

  mutating func resize(_ capacity: Int) {
    self.capacity = capacity
    evict(to: capacity)
  }

  private mutating func evict(to limit: Int) {
    while size > limit, let oldest = entries.popLast() { size -= oldest.size }
  }

  /// The static table (Appendix A).
  private static let fixed: [(name: [UInt8], value: [UInt8])] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
    ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
    ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
    ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
    ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
    ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
    ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
  ].map { (Array($0.utf8), Array($1.utf8)) }
}
