/// Header fields in their order; names are compared without case, and a name may appear several times. Fields of a
/// request stay the received bytes until they are read. A value set here is made clean when the response is written:
/// neither a control byte nor more than clients read reaches the wire, whoever's text it is.
package struct Headers: Sendable, ExpressibleByDictionaryLiteral {
  package struct Field: Sendable, Hashable {
    package let name: String
    /// Trimmed.
    package let value: String
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private let received: RequestHead?
  private var written: [Field]
  private(set) var blocks: [HeaderBlock] = []

  package init() {
    received = nil
    written = []
  }

  package init(_ fields: [Field]) {
    received = nil
    written = fields
  }

  init(_ block: HeaderBlock) {
    received = nil
    written = []
    // Middleware adds blocks of its own.
    blocks.reserveCapacity(4)
    blocks.append(block)
  }

  /// All fields in their order, duplicates kept.
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }

  init(received head: RequestHead) {
    received = head
    written = []
  }

  package var fields: [Field] {
    if let received { return received.allFields }
    return blocks.isEmpty ? written : written + blocks.flatMap(\.fields)
  }

  /// The first value of that name; setting replaces all values, nil removes them.
  package subscript(name: String) -> String? {
    get {
      if let received { return received.first(named: name) }
      if let field = written.first(where: { $0.name.equalsIgnoringCase(name) }) { return field.value }
      for block in blocks {
        if let value = block.first(named: name) { return value }
      }
      return nil
    }
    set {
      remove(name)
      if let newValue { append(name, newValue) }
    }
  }

  package func values(of name: String) -> [String] {
    fields.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
  }

  package func contains(_ name: String) -> Bool { self[name] != nil }

  package mutating func append(_ name: String, _ value: String) {
    if received != nil { self = Headers(fields) }
    written.append(Field(name: name, value: value))
  }

  /// Adds a list as one field, or nothing for an empty one. A long list ends with the number of those left out.
  package mutating func append(_ name: String, list: [String]) {
    var value = ""
    for (index, item) in list.enumerated() {
      let item = Self.clean(item, atMost: Self.longestItem)
      guard value.utf8.count + item.utf8.count <= Self.longestList else {
        value += ", and \(list.count - index) more"
        break
      }
      value += index == 0 ? item : ", \(item)"
    }
    if !value.isEmpty { append(name, value) }
  }

  /// Adds a field unless one of that name exists.
  package mutating func setDefault(_ name: String, _ value: String) {
    if !contains(name) { append(name, value) }
  }

  /// Adds the fields of a block, each unless one of its name exists.
  package mutating func setDefaults(_ block: HeaderBlock) {
    if blocks.contains(where: { $0 === block }) { return }
    if received == nil, isFree(of: block) {
      blocks.append(block)
    } else {
      for field in block.fields { setDefault(field.name, field.value) }
    }
  }

  private func isFree(of block: HeaderBlock) -> Bool {
    let names = NameSet(written.lazy.map(\.name)).union(blocks.reduce(NameSet()) { $0.union($1.names) })
    return names.isDisjoint(with: block.names) || !block.fields.contains { contains($0.name) }
  }

  package mutating func remove(_ name: String) {
    guard contains(name) else { return }
    self = Headers(fields.filter { !$0.name.equalsIgnoringCase(name) })
  }

  /// The fields of a response outside of blocks, without a copy.
  var responseFields: [Field] { received == nil ? written : fields }

  /// Whether the field `Connection` asks for the end of the connection. No block has one.
  var closesConnection: Bool {
    responseFields.contains { $0.name.equalsIgnoringCase("connection") && $0.value.equalsIgnoringCase("close") }
  }

  /// In bytes. Clients bound a line of a head, some at 8190 bytes, and a proxy has 4 to 8 kB for a whole head.
  static let longestValue = 8000
  private static let longestList = 1000
  private static let longestItem = 200

  /// Makes every value one that can be sent: a response that was carried out must not become a 500 for a text in it.
  mutating func clean() {
    guard responseFields.contains(where: { !Self.isClean($0.value) }) else { return }
    let fields = responseFields.map { Field(name: $0.name, value: Self.clean($0.value, atMost: Self.longestValue)) }
    if received == nil { written = fields } else { self = Headers(fields) }
  }

  private static func isClean(_ value: String) -> Bool {
    var value = value
    return value.withUTF8 { $0.count <= longestValue && $0.allSatisfy(ByteClass.isFieldValue) }
  }

  /// Control characters become blanks; what is too long ends with dots.
  private static func clean(_ value: String, atMost limit: Int) -> String {
    let end = value.utf8.count > limit ? "..." : ""
    var room = limit - end.utf8.count
    var clean = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      room -= UTF8.width(scalar)
      guard room >= 0 else { break }
      clean.append(scalar.isASCII && !ByteClass.isFieldValue(UInt8(scalar.value)) ? " " : scalar)
    }
    return String(clean) + end
  }

  /// The name of the first field that must not be written: an invalid name, or a control byte in the value.
  var firstInvalidName: String? {
    for field in responseFields {
      var name = field.name
      var value = field.value
      let isName = name.withUTF8 { !$0.isEmpty && $0.allSatisfy(ByteClass.isToken) }
      let isValue = value.withUTF8 { $0.allSatisfy(ByteClass.isFieldValue) }
      if !isName || !isValue { return field.name }
    }
    return nil
  }
}

extension Headers: Equatable {
  /// Whether both have the same fields in the same order, names as written.
  package static func == (one: Headers, other: Headers) -> Bool { one.fields == other.fields }
}

/// Fields shared by many answers: checked and encoded once.
package final class HeaderBlock: Sendable {
  package let fields: [Headers.Field]
  /// The encoded fields, each with its line end.
  let bytes: [UInt8]
  let names: NameSet

  /// - Precondition: names and values are valid, and no field is one that the server alone sets.
  package init(_ fields: [Headers.Field]) {
    precondition(Headers(fields).firstInvalidName == nil, "a field that cannot be sent")
    precondition(!fields.contains { ResponseHead.isOurs($0.name) }, "a field that the server decides")
    self.fields = fields
    bytes = fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
    names = NameSet(fields.lazy.map(\.name))
  }

  convenience init(_ fields: [(name: String, value: String)]) {
    self.init(fields.map { Headers.Field(name: $0.name, value: $0.value) })
  }

  func first(named name: String) -> String? {
    names.mayContain(name) ? fields.first { $0.name.equalsIgnoringCase(name) }?.value : nil
  }
}

/// A set of field names, of which it may believe too many to be its own: a Bloom filter of one word, which saves most
/// comparisons of names.
package struct NameSet: Sendable {
  private var bits: UInt64 = 0

  init() {}

  package init(_ names: some Sequence<String>) {
    for name in names { bits |= Self.bit(name) }
  }

  mutating func insert(first byte: UInt8, count: Int) { bits |= Self.bit(byte, count) }

  func mayContain(_ name: String) -> Bool { bits & Self.bit(name) != 0 }

  func union(_ other: NameSet) -> NameSet {
    var all = self
    all.bits |= other.bits
    return all
  }

  func isDisjoint(with other: NameSet) -> Bool { bits & other.bits == 0 }

  private static func bit(_ name: String) -> UInt64 { bit(name.utf8.first ?? 0, name.utf8.count) }

  private static func bit(_ first: UInt8, _ count: Int) -> UInt64 {
    1 << UInt64((Int(ByteClass.lowercased(first)) &* 7 &+ count) & 63)
  }
}
