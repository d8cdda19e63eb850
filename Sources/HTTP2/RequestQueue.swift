/// Requests that wait; those that came back go first, unless that has happened several times: what the peer refuses
/// again and again must not stand in the way of the others.
///
/// Batches of one tag go in order; tags take turns of ``turnSize`` requests, so that a single request does not wait
/// behind a million of another tag.
struct RequestQueue {
  private struct Work {
    let batch: RequestBatch
    var next: Int
  }

  private struct Lane {
    let tag: Int64
    var work: [Work] = []
    var head = 0

    /// - Returns: whether nothing is left.
    mutating func take(_ taken: Int) -> Bool {
      work[head].next += taken
      guard work[head].next == work[head].batch.count else { return false }
      head += 1
      if head == work.count || head > 64 {
        work.removeFirst(head)
        head = 0
      }
      return work.isEmpty
    }
  }

  static let turnSize = 64

  /// In the order of their turns; none is empty.
  private var lanes: [Lane] = []
  /// How many requests the first lane has sent in this turn.
  private var turn = 0
  private var returned: [(batch: RequestBatch, index: Int)] = []
  private var returnedHead = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ batch: RequestBatch) {
    guard batch.count > 0 else { return }
    append(Work(batch: batch, next: 0))
  }

  private mutating func append(_ work: Work) {
    count += work.batch.count - work.next
    if let lane = lanes.firstIndex(where: { $0.tag == work.batch.tag }) {
      lanes[lane].work.append(work)
    } else {
      lanes.append(Lane(tag: work.batch.tag, work: [work]))
    }
  }

  mutating func putBack(_ batch: RequestBatch, _ index: Int) {
    batch.storage.notes?.returned(index)
    returned.append((batch, index))
    count += 1
  }

  /// Requeues a request that was not processed, unless that has happened too often.
  mutating func putBackIfAllowed(_ answer: Answer, _ limit: Int) -> Bool {
    let item = answer.batch.storage.items + answer.index
    guard item.pointee.refusals < limit else { return false }
    item.pointee.refusals += 1
    putBack(answer.batch, answer.index)
    return true
  }

  /// After so many refusals a request goes last.
  private static let patience = 3

  /// Whether the next request is one that came back.
  private var isReturnedNext: Bool {
    guard returnedHead < returned.count else { return false }
    let (batch, index) = returned[returnedHead]
    return lanes.isEmpty || batch.storage.items[index].refusals <= Self.patience
  }

  /// The next requests to send: a run of one batch. They stay queued until ``take(_:)``.
  func next(atMost room: Int) -> (batch: RequestBatch, first: Int, count: Int)? {
    if isReturnedNext {
      let (batch, index) = returned[returnedHead]
      return (batch, index, 1)
    }
    guard let lane = lanes.first else { return nil }
    let front = lane.work[lane.head]
    let limit = lanes.count == 1 ? room : min(room, max(1, Self.turnSize - turn))
    return (front.batch, front.next, min(limit, front.batch.count - front.next))
  }

  /// Removes the first `taken` of what ``next(atMost:)`` showed.
  mutating func take(_ taken: Int) {
    guard taken > 0 else { return }
    count -= taken
    if isReturnedNext {
      returnedHead += 1
      if returnedHead == returned.count || returnedHead > 1024 {
        returned.removeFirst(returnedHead)
        returnedHead = 0
      }
      return
    }
    turn += taken
    if lanes[0].take(taken) {
      lanes.removeFirst()
      turn = 0
    } else if lanes.count == 1 {
      turn = 0
    } else if turn >= Self.turnSize {
      lanes.append(lanes.removeFirst())
      turn = 0
    }
  }

  /// Removes everything, or the requests of one tag.
  mutating func remove(tag: Int64?) -> [(batch: RequestBatch, index: Int)] {
    var removed: [(batch: RequestBatch, index: Int)] = []
    var kept = RequestQueue()
    for (batch, index) in returned[returnedHead...] {
      if tag == nil || batch.tag == tag { removed.append((batch, index)) } else { kept.putBack(batch, index) }
    }
    for lane in lanes {
      for front in lane.work[lane.head...] {
        if tag == nil || lane.tag == tag {
          removed += (front.next..<front.batch.count).map { (front.batch, $0) }
        } else {
          kept.append(front)
        }
      }
    }
    self = kept
    return removed
  }
}
