/// Outgoing bytes: appended at the end, taken from the front. Belongs to one thread.
final class OutputBuffer {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private var head = 0
  private var tail = 0
  private(set) var appended: UInt64 = 0

  init(capacity: Int) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  var count: Int { tail - head }
  var taken: UInt64 { appended - UInt64(count) }

  /// Room for `size` bytes at the end; ``advance(_:)`` then tells how many were written.
  func room(_ size: Int) -> UnsafeMutablePointer<UInt8> {
    if tail + size > capacity { makeRoom(size) }
    return (memory + tail).assumingMemoryBound(to: UInt8.self)
  }

  func advance(_ size: Int) {
    tail += size
    appended += UInt64(size)
  }

  func append(_ bytes: UnsafeRawPointer, _ size: Int) {
    UnsafeMutableRawPointer(room(size)).copyMemory(from: bytes, byteCount: size)
    advance(size)
  }

  private func makeRoom(_ size: Int) {
    let waiting = count
    if waiting + size > capacity {
      capacity = max(capacity * 2, waiting + size)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      larger.copyMemory(from: memory + head, byteCount: waiting)
      memory.deallocate()
      memory = larger
    } else {
      memory.copyMemory(from: memory + head, byteCount: waiting)
    }
    (head, tail) = (0, waiting)
  }

  /// At most one TLS record (16 384 bytes) from the front.
  var front: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + head, count: min(count, 16_384)) }

  func take(_ size: Int) {
    head += size
    if head == tail { (head, tail) = (0, 0) }
  }
}
