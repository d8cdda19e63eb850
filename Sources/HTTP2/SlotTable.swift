/// The open streams of one connection: what must not be forgotten when the connection is lost.
struct SlotTable: ~Copyable {
  struct Slot {
    let batch: RequestBatch
    let index: Int
    let deadline: UInt64
    /// Where in the connection's output the request begins.
    let start: UInt64
    var streamID: Int32 = 0
    /// Where in the batch's memory the body is; -1: the common one.
    var bodyOffset = -1
    var bodySent = 0
    var status = 0
    /// The whole answer is there.
    var isComplete = false
    /// The answer is longer than we take.
    var isTooLong = false
    /// We gave up: no answer in time.
    var isLate = false
    var fields: HeaderList?
    var body: [UInt8] = []

    init(batch: RequestBatch, index: Int, deadline: UInt64, start: UInt64) {
      self.batch = batch
      self.index = index
      self.deadline = deadline
      self.start = start
    }

    func answer(_ result: Answer.Result) -> Answer { Answer(batch: batch, index: index, result: result) }
  }

  private let slots: UnsafeMutablePointer<Slot>
  private let occupied: UnsafeMutablePointer<Bool>
  private var free: [Int32]
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
    occupied = .allocate(capacity: capacity)
    occupied.initialize(repeating: false, count: capacity)
    free = (0..<Int32(capacity)).reversed()
  }

  deinit {
    for place in 0..<capacity where occupied[place] { (slots + place).deinitialize(count: 1) }
    slots.deallocate()
    occupied.deallocate()
  }

  var used: Int { capacity - free.count }

  /// Takes a free place. There must be one. The place stays where it is until it is removed.
  mutating func insert(_ slot: consuming Slot) -> UnsafeMutablePointer<Slot> {
    let place = Int(free.removeLast())
    occupied[place] = true
    (slots + place).initialize(to: slot)
    return slots + place
  }

  /// Empties a place and returns what was in it.
  mutating func remove(_ slot: UnsafeMutablePointer<Slot>) -> Slot {
    let place = slot - slots
    occupied[place] = false
    free.append(Int32(place))
    return slot.move()
  }

  /// The occupied places.
  var all: [UnsafeMutablePointer<Slot>] {
    guard used > 0 else { return [] }
    return (0..<capacity).filter { occupied[$0] }.map { slots + $0 }
  }
}
