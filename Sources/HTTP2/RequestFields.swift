import CNGHTTP2

/// The header fields of the next request, laid out for nghttp2; from one request to the next only what differs is
/// written.
struct RequestFields: ~Copyable {
  private(set) var entries: UnsafeMutablePointer<nghttp2_nv>
  private(set) var count = 0
  private var capacity = 32
  private var template: RequestTemplate?
  private var firstVariable = 0
  /// Fields of the connection, as `authorization`: added to every request.
  var shared = FieldStorage([]) {
    didSet { template = nil }
  }

  init() { entries = .allocate(capacity: capacity) }

  deinit { entries.deallocate() }

  /// Lays out one request. The pointers hold as long as the batch and ``shared`` do.
  mutating func prepare(_ storage: RequestBatch.Storage, _ item: RequestBatch.Storage.Item) -> (body: Int, count: Int) {
    if template !== storage.template { layOut(storage.template) }
    var next = storage.bytes + item.offset
    entries[RequestTemplate.pathIndex].value = next.assumingMemoryBound(to: UInt8.self)
    entries[RequestTemplate.pathIndex].valuelen = Int(item.pathLength)
    next += Int(item.pathLength)
    for index in firstVariable..<count {
      let size = Int(next.loadUnaligned(as: UInt32.self))
      next += 4
      entries[index].value = next.assumingMemoryBound(to: UInt8.self)
      entries[index].valuelen = size
      next += size
    }
    return (next - storage.bytes, Int(item.bodyLength))
  }

  private mutating func layOut(_ template: RequestTemplate) {
    self.template = template
    let own = template.fields.entries
    let variable = template.variableNames.count
    count = own.count + shared.entries.count
    if count > capacity {
      entries.deallocate()
      capacity = count * 2
      entries = .allocate(capacity: capacity)
    }
    var index = 0
    for entry in own.dropLast(variable) + shared.entries + own.suffix(variable) {
      entries[index] = entry
      index += 1
    }
    firstVariable = count - variable
  }
}
