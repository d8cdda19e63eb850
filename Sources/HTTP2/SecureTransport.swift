import Glibc
import OpenSSL
import Reactor

/// The user of a ``SecureTransport``: the client's or the server's end of an HTTP/2 session.
protocol SecureTransportOwner: AnyObject {
  func transportOpened()
  /// Bytes arrived. False: stop reading; the owner closes the transport.
  func transport(received bytes: UnsafeRawBufferPointer) -> Bool
  /// All available bytes were handed in, or writing made room: time to act and to write.
  func transportReady()
  /// The connection is over; nil: the peer closed it in good order.
  func transportFailed(_ error: HTTP2Error?)
}

/// One socket with TLS on an event loop: handshake, reading until nothing is left, writing in whole TLS records. Loop
/// thread only.
final class SecureTransport: EventHandler, @unchecked Sendable {
  // @unchecked Sendable because every entry point is on the loop's thread; it is sent to the loop only to be called
  // there.

  private enum Phase {
    case handshake, open, closed
  }

  let tls: TLSConnection
  private let loop: EventLoop
  private let descriptor: Int32
  /// Retained until the transport is closed.
  private var owner: (any SecureTransportOwner)?
  private let readBuffer: UnsafeMutableRawBufferPointer
  private var phase = Phase.handshake
  private var interest: Readiness = []
  private let output: OutputBuffer
  private var isReading = false
  private var isBlocked = false
  /// Reading is paused because the peer does not read its answers.
  private var isPaused = false

  /// How many bytes may wait before the owner should stop writing.
  static let highWater = 65_536
  /// How many bytes may wait before reading stops.
  private static let pauseWater = 1 << 20

  /// Takes over a connected socket; closes it in the end.
  ///
  /// - Parameter output: may be appended to by its holders; ``flush()`` sends it.
  init(
    loop: EventLoop, descriptor: Int32, context: TLSContext, serverName: String?,
    output: OutputBuffer = OutputBuffer(capacity: 81_920), owner: any SecureTransportOwner
  ) throws(TLSError) {
    self.loop = loop
    self.output = output
    self.descriptor = descriptor
    self.owner = owner
    do {
      tls = try TLSConnection(context, descriptor: descriptor, serverName: serverName)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    readBuffer = .allocate(byteCount: 16_384, alignment: 16)
  }

  deinit { readBuffer.deallocate() }

  var isOpen: Bool { phase == .open }
  var waiting: Int { output.count }
  var hasRoom: Bool { output.count < Self.highWater }
  /// Bytes that left this process: the peer has never seen a byte after them.
  var written: UInt64 { output.taken }

  /// Watches the socket and begins the handshake.
  func start() throws(SystemError) {
    interest = [.readable]
    do {
      try loop.register(descriptor, for: interest, handler: self)
    } catch let error as SystemError {
      throw error
    } catch {
      throw SystemError("epoll_ctl")
    }
    shakeHands()
  }

  /// Closes the socket at once; what was not written is lost.
  func close(saying goodbye: Bool) {
    guard phase != .closed else { return }
    if goodbye, phase == .open { tls.shutdown() }
    phase = .closed
    owner = nil
    loop.deregister(descriptor)
    Glibc.close(descriptor)
  }

  func ready(_ readiness: Readiness) {
    switch phase {
    case .closed: return
    case .handshake: shakeHands()
    case .open:
      if readiness.contains(.writable) {
        isBlocked = false
        flush()
      }
      // Reading reports an error or a hang-up; the peer's last bytes may come before it.
      if !readiness.isDisjoint(with: [.readable, .failed]) || isPaused { readAll() }
      if phase == .open { owner?.transportReady() }
    }
  }

  private func shakeHands() {
    do {
      switch try tls.handshake() {
      case .wantsRead:
        isBlocked = false
        watch()
      case .wantsWrite:
        isBlocked = true
        watch()
      case .done:
        phase = .open
        isBlocked = false
        watch()
        owner?.transportOpened()
        // The peer's first bytes may have come with the handshake, without an event of their own.
        if phase == .open { readAll() }
        if phase == .open { owner?.transportReady() }
      }
    } catch {
      owner?.transportFailed(HTTP2Error(error))
    }
  }

  /// Reads what has arrived, also bytes without an event yet.
  ///
  /// - Returns: whether nothing is left; otherwise the rest is read soon.
  func readWhatCame() -> Bool {
    guard phase == .open else { return true }
    let isDry = readAll()
    if phase == .open { owner?.transportReady() }
    return isDry
  }

  /// - Returns: whether nothing is left to be read.
  @discardableResult
  private func readAll() -> Bool {
    guard !isReading else { return false }
    isReading = true
    defer { isReading = false }
    var rounds = 0
    do {
      while phase == .open {
        isPaused = output.count > Self.pauseWater
        if isPaused {
          watch()
          return false
        }
        switch try tls.read(into: readBuffer) {
        case .bytes(let count):
          guard owner?.transport(received: UnsafeRawBufferPointer(rebasing: readBuffer[..<count])) == true else {
            return true
          }
          rounds += 1
          // Answers must leave before everything is read, so that both sides work at the same time.
          if rounds % 4 == 0 { owner?.transportReady() }
          // Yield to the other connections of this loop. Bytes inside OpenSSL cause no event, so come back for them.
          if rounds == 64, phase == .open {
            loop.execute { [self] in if phase == .open { ready(.readable) } }
            return false
          }
        case .wantsRead:
          watch()
          return true
        case .wantsWrite:
          isBlocked = true
          watch()
          return true
        case .end:
          owner?.transportFailed(nil)
          return true
        }
      }
    } catch {
      owner?.transportFailed(HTTP2Error(error))
    }
    return true
  }

  func append(_ bytes: UnsafeRawPointer, _ count: Int) { output.append(bytes, count) }

  /// Writes whole TLS records only.
  func flushRecords() { write(downTo: 16_384) }

  /// Writes all that the socket takes, and continues when it takes more.
  func flush() { write(downTo: 1) }

  private func write(downTo least: Int) {
    guard phase == .open, !isBlocked else { return }
    do {
      while output.count >= least {
        switch try tls.write(from: output.front) {
        case .bytes(let count): output.take(count)
        case .wantsWrite, .wantsRead:
          isBlocked = true
          return resume()
        case .end:
          // Our side is closed; reading tells how the connection ended.
          return
        }
      }
      resume()
    } catch {
      // A write fails first while the peer's alert or GOAWAY is still unread; its reason is the better one. A read in
      // progress finds it by itself.
      guard !isReading else { return }
      readAll()
      if phase == .open { owner?.transportFailed(HTTP2Error(error)) }
    }
  }

  /// Resumes reading if only the peer's slowness prevented it.
  private func resume() {
    if isPaused, output.count <= Self.highWater {
      isPaused = false
      // Bytes inside OpenSSL cause no event.
      loop.execute { [self] in if phase == .open { ready(.readable) } }
    }
    watch()
  }

  private func watch() {
    var wanted: Readiness = isPaused ? [] : [.readable]
    if isBlocked { wanted.insert(.writable) }
    guard wanted != interest, phase != .closed else { return }
    interest = wanted
    do {
      try loop.update(descriptor, for: wanted)
    } catch {
      owner?.transportFailed(HTTP2Error(.connection, "\(error)"))
    }
  }
}
