import Testing

@testable import HTTP2

@Suite("Requests that wait")
struct RequestQueueTests {
  private func batch(_ tag: Int64, _ count: Int) -> RequestBatch {
    let template = RequestTemplate(fields: [], variableNames: ["id"])
    var builder = RequestBatchBuilder(template: template, tag: tag, body: [], capacity: count)
    for number in 0..<count {
      builder.append(id: Int64(number), pathPrefix: "/", hexadecimal: [1, 2], uuid: (1, 2))
    }
    return builder.build()
  }

  /// Takes one after the other, and says whose they were.
  private func drain(_ queue: inout RequestQueue, _ count: Int, room: Int = 10) -> [Int64] {
    var tags: [Int64] = []
    while tags.count < count, let (batch, _, ready) = queue.next(atMost: min(room, count - tags.count)) {
      queue.take(ready)
      tags += repeatElement(batch.tag, count: ready)
    }
    return tags
  }

  @Test("a request of another push is sent after a turn, not after the whole broadcast")
  func turns() {
    var queue = RequestQueue()
    for _ in 0..<8 { queue.append(batch(1, 1000)) }
    #expect(drain(&queue, 500) == [Int64](repeating: 1, count: 500))
    queue.append(batch(2, 1))
    let next = drain(&queue, RequestQueue.turnSize + 1)
    #expect(next.filter { $0 == 2 }.count == 1)
    #expect(queue.count == 8001 - 500 - RequestQueue.turnSize - 1)
    #expect(drain(&queue, 8000).count == 8000 - 500 - RequestQueue.turnSize)
    #expect(queue.isEmpty)
  }

  @Test("two broadcasts get the same, and each keeps its order")
  func fair() {
    var queue = RequestQueue()
    queue.append(batch(1, 3000))
    queue.append(batch(2, 3000))
    let first = drain(&queue, 1280, room: 7)
    #expect(abs(first.filter { $0 == 1 }.count - 640) <= RequestQueue.turnSize)
    var seen: [Int64: Int] = [:]
    while let (batch, index, count) = queue.next(atMost: 5) {
      if let last = seen[batch.tag] { #expect(index == last) }
      seen[batch.tag] = index + count
      queue.take(count)
    }
    #expect(seen == [1: 3000, 2: 3000])
  }

  @Test("removing a tag removes all of its requests and no others")
  func removal() {
    var queue = RequestQueue()
    queue.append(batch(1, 100))
    queue.append(batch(2, 50))
    queue.append(batch(1, 100))
    queue.putBack(batch(1, 1), 0)
    _ = drain(&queue, 31)
    let removed = queue.remove(tag: 1)
    #expect(removed.allSatisfy { $0.batch.tag == 1 } && removed.count == 201 - 31)
    #expect(queue.count == 50 && drain(&queue, 100) == [Int64](repeating: 2, count: 50))
    #expect(queue.remove(tag: nil).isEmpty)
  }
}
