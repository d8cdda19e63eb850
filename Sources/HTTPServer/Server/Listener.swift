import Glibc
import Reactor

/// Accepts connections on the first loop and distributes them over the loops in turn.
///
/// @unchecked Sendable because after `init` it is used on the first worker's loop only.
final class Listener: EventHandler, @unchecked Sendable {
  /// Connections beyond the limit that get a 503 at the same time; more are closed without an answer.
  private static let refusals = 64

  private let descriptor: Int32
  private let workers: [Worker]
  private let configuration: ServerConfiguration
  private let count: ConnectionCount
  private let alarm: Alarm
  private var next = 0
  private var isOpen = false
  /// Held in reserve: when descriptors run out, it lets the server accept one client and refuse it properly.
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
    // Bounded, because the loop has other connections to serve.
    for _ in 0..<64 {
      do {
        guard let (accepted, peer) = try Socket.accept(descriptor) else { return }
        hand(out: accepted, peer)
      } catch {
        // accept4 fails for lack of descriptors even if no client waits.
        guard somebodyWaits else { return }
        workers[0].touchClock()
        // The connection that is closed leaves its descriptor to the new one.
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

  private var somebodyWaits: Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, 0) > 0
  }

  private func holdSpare() { spare = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }

  /// Refuses a waiting client with the reserved descriptor. Under TLS no answer is possible.
  private func turnAway() {
    guard spare >= 0 else { return holdSpare() }
    Glibc.close(spare)
    defer { holdSpare() }
    // Without a descriptor even now, the clients wait until one becomes free.
    guard let (accepted, _) = try? Socket.accept(descriptor) else { return }
    defer { Glibc.close(accepted) }
    guard configuration.tls == nil else { return }
    let answer = """
      HTTP/1.1 503 Service Unavailable\r\nRetry-After: \(ServerWarning.retryAfter)\r\nContent-Length: 0\r\n\
      Connection: close\r\n\r\n
      """
    _ = Array(answer.utf8).withUnsafeBytes { PlainTransport(descriptor: accepted).write(from: $0) }
    shutdown(accepted, Int32(SHUT_WR))
    // Read what has come, because closing with unread input would reset the connection and lose the answer.
    var rest = [UInt8](repeating: 0, count: Buffer.usualCapacity)
    _ = rest.withUnsafeMutableBytes { PlainTransport(descriptor: accepted).read(into: $0) }
  }

  /// Stops accepting for a moment: the next waiting client would wake the loop again at once.
  private func pause() {
    let loop = workers[0].loop
    do { try loop.update(descriptor, for: []) } catch { return }
    loop.schedule(after: .milliseconds(100)) { [self] in
      guard isOpen else { return }
      // Registered before, and only `close` removes it.
      try? loop.update(descriptor, for: .readable)
    }
  }
}
