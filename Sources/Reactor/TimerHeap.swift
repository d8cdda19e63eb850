extension EventLoop {
  /// A callback at a deadline. Loop thread only.
  package final class Timer {
    let deadline: UInt64
    let sequence: UInt64
    var action: (() -> Void)?
    private let cancelled: CancelledTimers

    init(deadline: UInt64, sequence: UInt64, cancelled: CancelledTimers, action: @escaping () -> Void) {
      self.deadline = deadline
      self.sequence = sequence
      self.cancelled = cancelled
      self.action = action
    }

    package func cancel() {
      guard action != nil else { return }
      action = nil
      cancelled.count += 1
    }
  }
}

/// Counts a heap's cancelled timers.
final class CancelledTimers {
  var count = 0
}

/// Timers by deadline. Cancelled ones are removed when they are more than half, so that time-outs for each request do
/// not pile up.
struct TimerHeap {
  let cancelled = CancelledTimers()
  private var heap: [EventLoop.Timer] = []

  var earliest: UInt64? { heap.first?.deadline }

  mutating func insert(_ timer: EventLoop.Timer) {
    if cancelled.count > 64, cancelled.count > heap.count / 2 {
      cancelled.count = 0
      // A sorted array is a heap.
      heap = heap.filter { $0.action != nil }.sorted(by: isBefore)
    }
    heap.append(timer)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(heap[child], heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popDue(at now: UInt64) -> EventLoop.Timer? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    if first.action == nil { cancelled.count -= 1 }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if isBefore(heap[child], heap[least]) { least = child }
      }
      if least == parent { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return first
  }

  private func isBefore(_ one: EventLoop.Timer, _ other: EventLoop.Timer) -> Bool {
    (one.deadline, one.sequence) < (other.deadline, other.sequence)
  }
}
