/// Requests of one template, packed into one block of memory. Cheap to copy and to hand to another thread.
package struct RequestBatch: Sendable {
  let storage: Storage

  package var count: Int { storage.count }

  /// The purpose of the batch, chosen by the caller, such as the id of a push.
  package var tag: Int64 { storage.tag }

  package func id(_ index: Int) -> Int64 { storage.items[index].id }

  /// Requests stand one after another in `bytes`: path, each variable value after its length, and the request's own
  /// part of the body, if any.
  final class Storage: @unchecked Sendable {
    // @unchecked Sendable because the builder is the only owner while it grows; in a finished batch only the refusals
    // change, and only on the loop of the one group that it was submitted to.

    struct Item {
      let id: Int64
      let offset: Int
      let pathLength: Int32
      /// Of the request's own bytes; -1: the common body as it is.
      let bodyLength: Int32
      /// How often the request came back unprocessed. Counted on the group's loop.
      var refusals: Int32 = 0
    }

    let template: RequestTemplate
    let tag: Int64
    let notes: (any DepartureNotes)?
    /// Of so many requests, the first ones, the fields of a success are kept.
    let keptAnswers: Int
    let commonBody: UnsafeMutableRawPointer
    let commonBodyCount: Int
    /// Where a request's own bytes stand in the common body; nil: they replace it.
    let bodyGap: Int?
    private(set) var bytes: UnsafeMutableRawPointer
    private var byteCapacity: Int
    private(set) var byteCount = 0
    private(set) var items: UnsafeMutablePointer<Item>
    private var itemCapacity: Int
    fileprivate(set) var count = 0

    init(
      template: RequestTemplate, tag: Int64, body: [UInt8], gap: Int?, capacity: Int, notes: (any DepartureNotes)?,
      keptAnswers: Int
    ) {
      self.keptAnswers = keptAnswers
      self.template = template
      self.tag = tag
      self.notes = notes
      bodyGap = gap
      commonBodyCount = body.count
      commonBody = UnsafeMutableRawPointer.allocate(byteCount: max(1, body.count), alignment: 1)
      UnsafeMutableRawBufferPointer(start: commonBody, count: body.count).copyBytes(from: body)
      itemCapacity = max(1, capacity)
      items = .allocate(capacity: itemCapacity)
      byteCapacity = itemCapacity * 128
      bytes = .allocate(byteCount: byteCapacity, alignment: 1)
    }

    deinit {
      commonBody.deallocate()
      items.deallocate()
      bytes.deallocate()
    }

    func bodyLength(_ item: Item) -> Int {
      item.bodyLength < 0 ? commonBodyCount : Int(item.bodyLength) + (bodyGap == nil ? 0 : commonBodyCount)
    }

    /// - Parameter offset: where the request's own bytes begin.
    func body(_ item: Item, at offset: Int) -> RequestBody {
      let common = UnsafeRawBufferPointer(start: commonBody, count: commonBodyCount)
      guard item.bodyLength >= 0 else { return RequestBody(before: common, own: .none, after: .none) }
      let own = UnsafeRawBufferPointer(start: bytes + offset, count: Int(item.bodyLength))
      guard let bodyGap else { return RequestBody(before: .none, own: own, after: .none) }
      return RequestBody(
        before: UnsafeRawBufferPointer(rebasing: common[..<bodyGap]), own: own,
        after: UnsafeRawBufferPointer(rebasing: common[bodyGap...]))
    }

    fileprivate func append(_ item: Item) {
      if count == itemCapacity {
        let larger = UnsafeMutablePointer<Item>.allocate(capacity: itemCapacity * 2)
        larger.update(from: items, count: count)
        items.deallocate()
        items = larger
        itemCapacity *= 2
      }
      items[count] = item
      count += 1
    }

    /// Makes room at the end and returns its address.
    fileprivate func extend(_ size: Int) -> UnsafeMutableRawPointer {
      if byteCount + size > byteCapacity {
        byteCapacity = max(byteCapacity * 2, byteCount + size)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 1)
        larger.copyMemory(from: bytes, byteCount: byteCount)
        bytes.deallocate()
        bytes = larger
      }
      defer { byteCount += size }
      return bytes + byteCount
    }
  }
}

/// A body: the batch's common bytes, and the request's own between or instead of them. Valid as long as the batch.
struct RequestBody {
  let before: UnsafeRawBufferPointer
  let own: UnsafeRawBufferPointer
  let after: UnsafeRawBufferPointer

  /// Copies `count` bytes of the body from `start` on.
  func copy(from start: Int = 0, count: Int, to target: UnsafeMutableRawPointer) {
    var (skipped, left, target) = (start, count, target)
    for piece in [before, own, after] {
      let size = min(left, piece.count - skipped)
      if size > 0, let address = piece.baseAddress {
        target.copyMemory(from: address + skipped, byteCount: size)
        target += size
        left -= size
      }
      skipped = max(0, skipped - piece.count)
    }
  }

  /// Copies the whole body.
  @inline(__always)
  func copy(to target: UnsafeMutableRawPointer) {
    if let start = before.baseAddress { target.copyMemory(from: start, byteCount: before.count) }
    if let start = own.baseAddress { (target + before.count).copyMemory(from: start, byteCount: own.count) }
    if let start = after.baseAddress {
      (target + before.count + own.count).copyMemory(from: start, byteCount: after.count)
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate static var none: Self { Self(start: nil, count: 0) }
}

/// Fills a ``RequestBatch``.
package struct RequestBatchBuilder: ~Copyable {
  private let storage: RequestBatch.Storage

  /// - Parameters:
  ///   - body: of all requests without a body of their own.
  ///   - gap: a place in `body` where a request's own bytes are inserted; nil: they replace it.
  ///   - tag: the purpose of the batch, such as the id of a push; see ``ClientGroup/cancelQueued(tag:)``.
  ///   - notes: learns which requests leave.
  ///   - keptAnswers: of so many requests, the first ones, the fields of a success are kept although
  ///     ``ClientConfiguration/keepsFieldsOfSuccess`` is false; see ``Answer/isKept``.
  package init(
    template: RequestTemplate, tag: Int64 = 0, body: [UInt8] = [], gap: Int? = nil, capacity: Int = 16,
    notes: (any DepartureNotes)? = nil, keptAnswers: Int = 0
  ) {
    precondition(gap.map { (0...body.count).contains($0) } ?? true, "the gap is inside the body")
    storage = RequestBatch.Storage(
      template: template, tag: tag, body: body, gap: gap, capacity: capacity, notes: notes,
      keptAnswers: keptAnswers)
  }

  /// Adds a request.
  ///
  /// - Parameters:
  ///   - id: comes back with the answer.
  ///   - values: one for each of the template's ``RequestTemplate/variableNames``.
  ///   - body: the request's own bytes, which stand in the gap of the common body or replace it; nil for the common
  ///     body alone.
  package mutating func append(id: Int64, path: String, values: [String] = [], body: [UInt8]? = nil) {
    precondition(values.count == storage.template.variableNames.count, "a value for each variable field")
    let offset = storage.byteCount
    write(path.utf8, path.utf8.count)
    for value in values {
      let size = UInt32(value.utf8.count)
      storage.extend(4).storeBytes(of: size, as: UInt32.self)
      write(value.utf8, value.utf8.count)
    }
    if let body { write(body, body.count) }
    storage.append(
      .init(
        id: id, offset: offset, pathLength: Int32(path.utf8.count), bodyLength: body.map { Int32($0.count) } ?? -1))
  }

  /// Adds a request with the common body whose path ends with `bytes` in hexadecimal digits and whose only variable
  /// value is a UUID: the shape of an APNs push, without a temporary string.
  ///
  /// - Parameter body: the request's own bytes in the gap of the common body; nil for the common body alone.
  package mutating func append(
    id: Int64, pathPrefix: StaticString, hexadecimal bytes: [UInt8], uuid: (high: UInt64, low: UInt64),
    body: [UInt8]? = nil
  ) {
    precondition(storage.template.variableNames.count == 1)
    let offset = storage.byteCount
    let prefix = pathPrefix.utf8CodeUnitCount
    let pathLength = prefix + bytes.count * 2
    var next = storage.extend(pathLength + 4 + 36).assumingMemoryBound(to: UInt8.self)
    next.update(from: pathPrefix.utf8Start, count: prefix)
    next += prefix
    for byte in bytes { Self.put(byte, &next) }
    UnsafeMutableRawPointer(next).storeBytes(of: 36, as: UInt32.self)
    next += 4
    for index in 0..<16 {
      if index == 4 || index == 6 || index == 8 || index == 10 {
        next.pointee = UInt8(ascii: "-")
        next += 1
      }
      let word = index < 8 ? uuid.high : uuid.low
      Self.put(UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (index & 7))), &next)
    }
    if let body { write(body, body.count) }
    storage.append(
      .init(id: id, offset: offset, pathLength: Int32(pathLength), bodyLength: body.map { Int32($0.count) } ?? -1))
  }

  private static func put(_ byte: UInt8, _ next: inout UnsafeMutablePointer<UInt8>) {
    next[0] = digit(byte >> 4)
    next[1] = digit(byte & 15)
    next += 2
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  private func write(_ bytes: some Collection<UInt8>, _ count: Int) {
    UnsafeMutableRawBufferPointer(start: storage.extend(count), count: count).copyBytes(from: bytes)
  }

  package consuming func build() -> RequestBatch { RequestBatch(storage: storage) }
}

/// Learns which requests of a batch leave before a byte of them does, so that this is known after a crash. Called on
/// the group's loop for each request: it must return at once.
package protocol DepartureNotes: AnyObject, Sendable {
  /// A request is about to be sent.
  func left(_ index: Int, id: Int64)
  /// It was not sent after all, or the peer has certainly not acted on it: it is resent or given up.
  func returned(_ index: Int)
}

/// The common part of many requests: everything but path, the values of a few fields, and body.
package final class RequestTemplate: Sendable {
  package let variableNames: [String]

  /// `:method`, `:scheme` and, if the template has its own, `:authority`.
  let pseudoFields: [FieldBytes]
  let hasOwnAuthority: Bool
  /// The same in every request.
  let fields: [FieldBytes]
  let variables: [[UInt8]]
  /// The answer to HEAD states the length of the body and has none (RFC 9110 §9.3.2).
  let isHead: Bool

  /// - Parameters:
  ///   - authority: nil for the endpoint's own.
  ///   - fields: the same in every request.
  ///   - variableNames: fields whose values ``RequestBatchBuilder/append(id:path:values:)`` takes, in this order; sent
  ///     without indexing, except the first.
  package init(
    method: String = "POST", scheme: String = "https", authority: String? = nil, fields: [HeaderField],
    variableNames: [String] = []
  ) {
    self.variableNames = variableNames
    hasOwnAuthority = authority != nil
    isHead = method == "HEAD"
    var pseudoFields = [HeaderField(":method", method), HeaderField(":scheme", scheme)]
    if let authority { pseudoFields.append(HeaderField(":authority", authority)) }
    self.pseudoFields = pseudoFields.map(FieldBytes.init)
    self.fields = fields.map(FieldBytes.init)
    variables = variableNames.map { Array($0.utf8) }
  }
}

/// A header field in bytes.
struct FieldBytes: Sendable {
  let name: [UInt8]
  let value: [UInt8]
  let indexing: HeaderField.Indexing

  init(_ field: HeaderField) {
    name = Array(field.name.utf8)
    value = Array(field.value.utf8)
    indexing = field.indexing
  }
}
