/// Requests that wait: batches in the order in which they came, before them those that came back.
struct RequestQueue {
  private struct Work {
    let batch: RequestBatch
    var next: Int
  }

  private var work: [Work] = []
  private var head = 0
  private var returned: [(batch: RequestBatch, index: Int)] = []
  private var returnedHead = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ batch: RequestBatch) {
    guard batch.count > 0 else { return }
    work.append(Work(batch: batch, next: 0))
    count += batch.count
  }

  mutating func putBack(_ batch: RequestBatch, _ index: Int) {
    returned.append((batch, index))
    count += 1
  }

  /// Takes a request back that was not processed, unless that has happened too often.
  mutating func putBackIfAllowed(_ answer: Answer, _ limit: Int) -> Bool {
    let item = answer.batch.storage.items + answer.index
    guard item.pointee.refusals < limit else { return false }
    item.pointee.refusals += 1
    putBack(answer.batch, answer.index)
    return true
  }

  /// What is to be sent next: a run of requests of one batch. They stay until ``take(_:)``.
  func next(atMost room: Int) -> (batch: RequestBatch, first: Int, count: Int)? {
    if returnedHead < returned.count {
      let (batch, index) = returned[returnedHead]
      return (batch, index, 1)
    }
    guard head < work.count else { return nil }
    let front = work[head]
    return (front.batch, front.next, min(room, front.batch.count - front.next))
  }

  /// Removes the first `taken` of what ``next(atMost:)`` showed.
  mutating func take(_ taken: Int) {
    guard taken > 0 else { return }
    count -= taken
    if returnedHead < returned.count {
      returnedHead += 1
      if returnedHead == returned.count || returnedHead > 1024 {
        returned.removeFirst(returnedHead)
        returnedHead = 0
      }
      return
    }
    work[head].next += taken
    guard work[head].next == work[head].batch.count else { return }
    head += 1
    if head == work.count || head > 64 {
      work.removeFirst(head)
      head = 0
    }
  }

  /// Empties the queue.
  mutating func takeAll() -> [(batch: RequestBatch, index: Int)] {
    var all = Array(returned[returnedHead...])
    all.reserveCapacity(count)
    for front in work[head...] { all += (front.next..<front.batch.count).map { (front.batch, $0) } }
    self = RequestQueue()
    return all
  }
}
