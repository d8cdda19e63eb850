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
  private let configuration: ServerConfiguration
  private let count: ConnectionCount
  private let alarm: Alarm
  private var next = 0
  private var isOpen = false
  /// Held back for the moment when there is no other: with it a newcomer can be taken in and turned away.
  private var spare: Int32 = -1

  init(
    descriptor: Int32, workers: [Worker], configuration: ServerConfiguration, count: ConnectionCount, alarm: Alarm
  ) {
    self.descriptor = descriptor
    self.workers = workers
    self.configuration = configuration
    self.count = count
    self.alarm = alarm
  }

  func open() throws {
    isOpen = true
    holdSpare()
    try workers[0].loop.register(descriptor, for: .readable, handler: self)
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    workers[0].loop.deregister(descriptor)
    Glibc.close(descriptor)
    if spare >= 0 { Glibc.close(spare) }
    spare = -1
  }

  func ready(_ readiness: Readiness) {
    // Not all that wait: the loop has others to serve.
    for _ in 0..<64 {
      do {
        guard let (accepted, peer) = try Socket.accept(descriptor) else { return }
        hand(out: accepted, peer)
      } catch {
        // The system wants a descriptor before it looks whether anybody waits at all.
        guard somebodyWaits else { return }
        workers[0].touchClock()
        // The one that gives way leaves its descriptor to the newcomer.
        let cause = ServerWarning.Cause.descriptors(error as? SystemError ?? SystemError("accept4"))
        guard workers[0].makeRoom(cause) else {
          turnAway()
          return pause()
        }
      }
    }
  }

  private func hand(out accepted: Int32, _ address: SocketAddress?) {
    let present = count.current
    guard present < configuration.maximumConnections + Self.refusals else {
      Glibc.close(accepted)
      return
    }
    let peer = address.flatMap { configuration.isProxy($0) ? nil : PeerKey($0.host) }
    let ofPeer = count.add(peer)
    var shortage: ServerWarning.Cause?
    if let address, ofPeer > configuration.connectionsOfAddress {
      shortage = .address(address)
    } else if present >= configuration.maximumConnections {
      shortage = .full
    }
    let worker = workers[next]
    next = (next + 1) % workers.count
    if worker.loop.isCurrent {
      worker.add(accepted, from: address, peer: peer, shortage: shortage)
    } else {
      worker.loop.execute { [shortage] in worker.add(accepted, from: address, peer: peer, shortage: shortage) }
    }
  }

  // MARK: Without descriptors

  private var somebodyWaits: Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, 0) > 0
  }

  private func holdSpare() { spare = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }

  /// Answers the first of those who wait, with the descriptor that was held back. Under TLS there is nobody to tell.
  private func turnAway() {
    guard spare >= 0 else { return holdSpare() }
    Glibc.close(spare)
    defer { holdSpare() }
    // Without it even now, they wait until one comes free.
    guard let (accepted, _) = try? Socket.accept(descriptor) else { return }
    defer { Glibc.close(accepted) }
    guard configuration.tls == nil else { return }
    let answer = """
      HTTP/1.1 503 Service Unavailable\r\nRetry-After: \(ServerWarning.retryAfter)\r\nContent-Length: 0\r\n\
      Connection: close\r\n\r\n
      """
    _ = Array(answer.utf8).withUnsafeBytes { PlainTransport(descriptor: accepted).write(from: $0) }
    shutdown(accepted, Int32(SHUT_WR))
    // What has come is read, so that the close does not become a reset that takes the answer away.
    var rest = [UInt8](repeating: 0, count: Buffer.usualCapacity)
    _ = rest.withUnsafeMutableBytes { PlainTransport(descriptor: accepted).read(into: $0) }
  }

  /// The next one who waits would wake the loop at once again, so nobody is accepted for a moment.
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
