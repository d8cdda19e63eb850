import Glibc

nonisolated(unsafe) private var count = 0

/// Counts in one place from two threads that nothing keeps apart: a race, which the thread sanitizer must report.
private func race() {
  let threads = (0..<2).map { _ in
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        for _ in 0..<1000 { count += 1 }
        return nil
      }, nil)
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

@main enum Control {
  static func main() { race() }
}
