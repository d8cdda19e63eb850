import Glibc
import Reactor

/// Accepts connections on the first loop and hands them out in turn.
///
/// @unchecked Sendable because: after `init` it is used on the first worker's loop only.
final class Listener: EventHandler, @unchecked Sendable {
  /// Connections beyond the limit that are told so; still more are closed without a word.
  private static let refusals = 64

  private let descriptor: Int32
  private let workers: [Worker]
  private let count: ConnectionCount
  private let maximum: Int
  private var next = 0
  private var isOpen = false

  init(descriptor: Int32, workers: [Worker], count: ConnectionCount, maximum: Int) {
    self.descriptor = descriptor
    self.workers = workers
    self.count = count
    self.maximum = maximum
  }

  func open() throws {
    isOpen = true
    try workers[0].loop.register(descriptor, for: .readable, handler: self)
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    workers[0].loop.deregister(descriptor)
    Glibc.close(descriptor)
  }

  func ready(_ readiness: Readiness) {
    // Not all that wait: the loop has others to serve.
    for _ in 0..<64 {
      do {
        guard let (accepted, peer) = try Socket.accept(descriptor) else { return }
        hand(out: accepted, peer)
      } catch {
        return pause()
      }
    }
  }

  private func hand(out accepted: Int32, _ peer: SocketAddress?) {
    let present = count.current
    guard present < maximum + Self.refusals else {
      Glibc.close(accepted)
      return
    }
    count.add(1)
    let isRefused = present >= maximum
    let worker = workers[next]
    next = (next + 1) % workers.count
    if worker.loop.isCurrent {
      worker.add(accepted, from: peer, isRefused: isRefused)
    } else {
      worker.loop.execute { worker.add(accepted, from: peer, isRefused: isRefused) }
    }
  }

  /// No descriptors are left: the waiting connection would wake the loop at once again, so nobody is accepted for
  /// a moment.
  private func pause() {
    let loop = workers[0].loop
    do { try loop.update(descriptor, for: []) } catch { return }
    loop.schedule(after: .milliseconds(100)) { [self] in
      guard isOpen else { return }
      // It was registered a moment ago, and only `close` takes it out.
      try? loop.update(descriptor, for: .readable)
    }
  }
}
