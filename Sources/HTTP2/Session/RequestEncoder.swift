/// Writes the header blocks of requests (HPACK, RFC 7541).
///
/// The common part of a template's requests is encoded once; a request is then a few copies of memory. Fields that are
/// equal in all of them go into the peer's table with the first request, and cost a byte from the second on. As Apple
/// asks, path and authorization are never added; `apns-id` is once, for its name.
struct RequestEncoder: ~Copyable {
  private var table = HeaderTable()
  /// The smallest table size since the last block, if it changed: the peer must be told (RFC 7541 §4.2).
  private var smallestCapacity: Int?
  private var template: RequestTemplate?
  /// The layout is valid for one request only, because it adds to the table.
  private var isSingle = false
  private var writer = HPACKWriter()

  /// Head (up to the path), tail (the fields that are equal), and the beginning of each variable field.
  private var memory: UnsafeMutablePointer<UInt8>
  private var memoryCapacity = 1024
  private var headCount = 0
  /// The end of the tail, and of each beginning after it.
  private var ends: [Int] = []

  private let authority: FieldBytes
  /// Fields of the connection, such as `authorization`, added to every request.
  var shared: [FieldBytes] = [] {
    didSet { template = nil }
  }

  init(authority: String) {
    self.authority = FieldBytes(HeaderField(":authority", authority))
    memory = .allocate(capacity: memoryCapacity)
  }

  deinit { memory.deallocate() }

  /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE.
  mutating func resizeTable(_ offered: UInt32) {
    let capacity = min(Int(offered), HeaderTable.maximumCapacity)
    guard capacity != table.capacity else { return }
    smallestCapacity = min(smallestCapacity ?? capacity, capacity)
    table.resize(capacity)
    template = nil
  }

  /// Lays out the next request.
  ///
  /// - Returns: an upper bound for the size of its header block.
  mutating func prepare(_ storage: RequestBatch.Storage, _ item: RequestBatch.Storage.Item) -> Int {
    if template !== storage.template || isSingle { layOut(storage, item) }
    // Each length takes at most six bytes, and the variable values lie behind the path.
    var size = ends[ends.count - 1] + Int(item.pathLength) + 6
    var next = storage.bytes + item.offset + Int(item.pathLength)
    for _ in 1..<ends.count {
      let length = Int(next.loadUnaligned(as: UInt32.self))
      next += 4 + length
      size += 6 + length
    }
    return size
  }

  /// Writes the header block of the prepared request.
  ///
  /// - Returns: its end, and where in the batch's memory the request's own body begins.
  @inline(__always)
  func write(
    _ storage: RequestBatch.Storage, _ item: RequestBatch.Storage.Item, to start: UnsafeMutablePointer<UInt8>
  ) -> (end: UnsafeMutablePointer<UInt8>, bodyOffset: Int) {
    start.update(from: memory, count: headCount)
    let path = (storage.bytes + item.offset).assumingMemoryBound(to: UInt8.self)
    let pathLength = Int(item.pathLength)
    var next = HPACKWriter.length(pathLength, to: start + headCount)
    next.update(from: path, count: pathLength)
    next += pathLength
    next.update(from: memory + headCount, count: ends[0] - headCount)
    next += ends[0] - headCount
    var source = path + pathLength
    for place in 1..<ends.count {
      let begin = ends[place - 1]
      next.update(from: memory + begin, count: ends[place] - begin)
      next += ends[place] - begin
      let length = Int(UnsafeRawPointer(source).loadUnaligned(as: UInt32.self))
      next = HPACKWriter.length(length, to: next)
      next.update(from: source + 4, count: length)
      next += length
      source += 4 + length
    }
    return (next, UnsafeRawPointer(source) - UnsafeRawPointer(storage.bytes))
  }
}

extension RequestEncoder {
  private mutating func layOut(_ storage: RequestBatch.Storage, _ item: RequestBatch.Storage.Item) {
    let template = storage.template
    self.template = template
    isSingle = false
    writer.removeAll()
    announceTableSize()
    // All fields that are to be found in the table must fit into it at the same time.
    var room = table.capacity
    for field in template.pseudoFields { put(field, &room) }
    if !template.hasOwnAuthority { put(authority, &room) }
    writer.number(4, .notIndexed)  // the name of the table's 4th field, ":path"
    headCount = writer.bytes.count
    for field in template.fields { put(field, &room) }
    for field in shared { put(field, &room) }
    ends = []
    var source = storage.bytes + item.offset + Int(item.pathLength)
    for name in template.variables {
      let length = Int(source.loadUnaligned(as: UInt32.self))
      let value = UnsafeRawBufferPointer(start: source + 4, count: length)
      ends.append(writer.bytes.count)
      putName(name, value, &room)
      source += 4 + length
    }
    ends.append(writer.bytes.count)
    keep()
  }

  private mutating func announceTableSize() {
    guard let smallest = smallestCapacity else { return }
    smallestCapacity = nil
    isSingle = true
    if smallest < table.capacity { writer.number(smallest, .tableSize) }
    writer.number(table.capacity, .tableSize)
  }

  private mutating func put(_ field: FieldBytes, _ room: inout Int) {
    let found = table.find(field.name, field.indexing == .never ? nil : field.value)
    let size = HeaderTable.size(field.name, field.value)
    if field.indexing == .table, let found, found.isWhole {
      room -= size
      return writer.number(found.index, .indexed)
    }
    if field.indexing == .table, size <= room {
      room -= size
      writer.name(field.name, index: found?.index ?? 0, .addedToTable)
      table.insert(field.name, field.value)
      isSingle = true
    } else {
      writer.name(field.name, index: found?.index ?? 0, field.indexing == .never ? .neverIndexed : .notIndexed)
    }
    writer.string(field.value)
  }

  /// The beginning of a field whose value differs in each request.
  private mutating func putName(_ name: [UInt8], _ value: UnsafeRawBufferPointer, _ room: inout Int) {
    let found = table.find(name, nil)
    let bytes = Array(value)
    let size = HeaderTable.size(name, bytes)
    if found == nil, size <= room {
      room -= size
      writer.name(name, index: 0, .addedToTable)
      table.insert(name, bytes)
      isSingle = true
    } else {
      writer.name(name, index: found?.index ?? 0, .notIndexed)
    }
  }

  private mutating func keep() {
    let count = writer.bytes.count
    if count > memoryCapacity {
      memory.deallocate()
      memoryCapacity = count * 2
      memory = .allocate(capacity: memoryCapacity)
    }
    writer.bytes.withUnsafeBufferPointer { bytes in
      if let start = bytes.baseAddress { memory.update(from: start, count: count) }
    }
  }
}
