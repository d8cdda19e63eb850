import Logging
import Synchronization

extension PhoneBook {
  /// What storage has to be told.
  struct Keeping {
    private var dirty: Set<Int64> = []
    private var removed: [Int64] = []
    /// A task is at it.
    fileprivate var isRunning = false
    fileprivate var waiting: [CheckedContinuation<Void, any Error>] = []

    var isEmpty: Bool { dirty.isEmpty && removed.isEmpty }

    mutating func mark(_ phone: Int64) { dirty.insert(phone) }

    mutating func markRemoved(_ phone: Int64) {
      dirty.remove(phone)
      removed.append(phone)
    }

    fileprivate mutating func take() -> (dirty: Set<Int64>, removed: [Int64]) {
      defer { (dirty, removed) = ([], []) }
      return (dirty, removed)
    }
  }

  /// Waits until storage holds everything that has happened so far; returns at once without storage.
  ///
  /// - Throws: what storage throws; nothing is lost then, and the next change tries again.
  package func flush() async throws {
    guard storage != nil else { return }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isIdle = state.withLock { state in
        if state.keeping.isEmpty, !state.keeping.isRunning { return true }
        state.keeping.waiting.append(continuation)
        return false
      }
      if isIdle { continuation.resume() } else { keepSoon() }
    }
  }

  /// Starts a task that tells storage, unless one is at it: that one goes on until nothing is left.
  func keepSoon() {
    guard let storage else { return }
    let starts = state.withLock { state in
      guard !state.keeping.isRunning, !state.keeping.isEmpty else { return false }
      state.keeping.isRunning = true
      return true
    }
    guard starts else { return }
    Task { await keepAll(in: storage) }
  }

  private func keepAll(in storage: any PhoneStorage) async {
    var failure: (any Error)?
    while failure == nil, let writes = takeWrites() {
      do {
        try await storage.keep(writes)
      } catch {
        failure = error
        putBack(writes)
        log?.error("Could not save the simulated phones; retrying with the next change.", ["error": "\(error)"])
      }
    }
    // After the last look nothing may have been added without a task to see it: takeWrites says so under the lock.
    guard let failure else { return }
    let waiting = state.withLock { state in
      state.keeping.isRunning = false
      defer { state.keeping.waiting = [] }
      return state.keeping.waiting
    }
    waiting.forEach { $0.resume(throwing: failure) }
  }

  /// - Returns: nil if nothing is left: then no task is at it any more.
  private func takeWrites() -> [PhoneWrite]? {
    let (writes, waiting) = state.withLock { state -> ([PhoneWrite]?, [CheckedContinuation<Void, any Error>]) in
      guard !state.keeping.isEmpty else {
        state.keeping.isRunning = false
        defer { state.keeping.waiting = [] }
        return (nil, state.keeping.waiting)
      }
      let (dirty, removed) = state.keeping.take()
      let saves = dirty.sorted().compactMap { id in
        state.records.index(forKey: id).map { state.records.values[$0].takeWrite() }
      }
      return (removed.map(PhoneWrite.remove) + saves, [])
    }
    waiting.forEach { $0.resume() }
    return writes
  }

  private func putBack(_ writes: [PhoneWrite]) {
    state.withLock { state in
      for write in writes {
        switch write {
        case .remove(let id): state.keeping.markRemoved(id)
        case .save(let phone, let notifications, let removed):
          guard let index = state.records.index(forKey: phone.id) else { continue }
          state.records.values[index].putBack(notifications, removed: removed)
          state.keeping.mark(phone.id)
        }
      }
    }
  }
}
