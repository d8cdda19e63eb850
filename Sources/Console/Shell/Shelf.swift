import Foundation
import OpenSSL
import Synchronization

/// Things that a browser comes back for within hours, under IDs that nobody can guess. In memory alone, because they hold
/// what people typed and secrets that are shown once; bounded: the oldest give way.
final class Shelf<Value: Sendable>: Sendable {
  private struct Item {
    let value: Value
    let owner: String
    let bytes: Int
    let end: Date
  }

  private struct State {
    var items: [String: Item] = [:]
    /// IDs, the oldest first.
    var order: [String] = []
    var bytes = 0

    mutating func remove(_ id: String) {
      guard let item = items.removeValue(forKey: id) else { return }
      order.removeAll { $0 == id }
      bytes -= item.bytes
    }
  }

  private let state = Mutex(State())
  private let limit: Int
  private let share: Int

  /// - Parameters:
  ///   - limit: bytes of all together.
  ///   - share: how many of one owner.
  init(limit: Int, share: Int) { (self.limit, self.share) = (limit, share) }

  /// - Parameter bytes: roughly what it takes.
  /// - Returns: its ID.
  func keep(_ value: Value, of owner: String, bytes: Int, for lifetime: TimeInterval, now: Date) -> String {
    let id = Random.token(bytes: 18)
    state.withLock { state in
      for (id, item) in state.items where item.end <= now { state.remove(id) }
      let own = state.order.filter { state.items[$0]?.owner == owner }
      for id in own.dropLast(share - 1) { state.remove(id) }
      state.items[id] = Item(value: value, owner: owner, bytes: bytes, end: now.addingTimeInterval(lifetime))
      state.order.append(id)
      state.bytes += bytes
      while state.bytes > limit, let oldest = state.order.first { state.remove(oldest) }
    }
    return id
  }

  func find(_ id: String, now: Date) -> Value? {
    state.withLock { state in state.items[id].flatMap { $0.end > now ? $0.value : nil } }
  }
}
