/// Header fields in their order; names are compared without case, and a name may stand several times.
///
/// Fields of a request stay the received bytes until somebody asks. A value set here is checked when the
/// response is written: a control byte in it makes the answer a 500 and never reaches the wire.
package struct Headers: Sendable, ExpressibleByDictionaryLiteral {
  /// One field.
  package struct Field: Sendable, Hashable {
    /// The name, as it was written.
    package let name: String
    /// The value without surrounding space.
    package let value: String
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private let received: RequestHead?
  private var written: [Field]
  /// Behind the written ones.
  private(set) var blocks: [HeaderBlock] = []

  /// No fields.
  package init() {
    received = nil
    written = []
  }

  /// The given fields.
  package init(_ fields: [Field]) {
    received = nil
    written = fields
  }

  /// The given fields in their order, duplicates kept.
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }

  init(received head: RequestHead) {
    received = head
    written = []
  }

  /// All fields in their order.
  package var fields: [Field] {
    if let received { return received.allFields }
    return blocks.isEmpty ? written : written + blocks.flatMap(\.fields)
  }

  /// How many fields there are.
  package var count: Int { received?.fields.count ?? blocks.reduce(written.count) { $0 + $1.fields.count } }

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

  /// All values of that name, in their order.
  package func values(of name: String) -> [String] {
    fields.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
  }

  /// Whether a field of that name is there.
  package func contains(_ name: String) -> Bool { self[name] != nil }

  /// Adds a field at the end.
  package mutating func append(_ name: String, _ value: String) {
    if received != nil { self = Headers(fields) }
    written.append(Field(name: name, value: value))
  }

  /// Adds a field unless one of that name is there.
  package mutating func setDefault(_ name: String, _ value: String) {
    if !contains(name) { append(name, value) }
  }

  /// Adds the fields of a block, each unless one of its name is there.
  package mutating func setDefaults(_ block: HeaderBlock) {
    if blocks.contains(where: { $0 === block }) { return }
    if received == nil, !block.fields.contains(where: { contains($0.name) }) {
      blocks.append(block)
    } else {
      for field in block.fields { setDefault(field.name, field.value) }
    }
  }

  /// Takes out all fields of that name.
  package mutating func remove(_ name: String) {
    guard contains(name) else { return }
    self = Headers(fields.filter { !$0.name.equalsIgnoringCase(name) })
  }

  /// The fields of a response that stand in no block, without a copy.
  var responseFields: [Field] { received == nil ? written : fields }

  /// The name of the first field that must not be written: a bad name, or a control byte in the value.
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
