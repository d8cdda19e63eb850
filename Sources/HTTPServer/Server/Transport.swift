import CEpoll
import Glibc
import OpenSSL
import Reactor

/// What became of a read or a write that does not wait.
enum TransferResult: Equatable {
  /// So many bytes went over, at least one.
  case bytes(Int)
  /// Nothing now: see ``Transport/readWaits`` and ``Transport/writeWaits``.
  case wouldBlock
  /// The peer has ended its side.
  case end
  case failed
}

/// The bytes of one connection, plain or under TLS.
enum Transport {
  case plain(PlainTransport)
  case tls(TLSTransport)

  var descriptor: Int32 {
    switch self {
    case .plain(let plain): plain.descriptor
    case .tls(let tls): tls.descriptor
    }
  }

  var isSecure: Bool { if case .tls = self { true } else { false } }

  /// What the descriptor must be ready for, so that a read that would block goes on.
  var readWaits: Readiness { if case .tls(let tls) = self { tls.readWaits } else { .readable } }

  /// The same for a write.
  var writeWaits: Readiness { if case .tls(let tls) = self { tls.writeWaits } else { .writable } }

  /// Whether there is something to read that epoll does not know of.
  var hasPending: Bool { if case .tls(let tls) = self { tls.hasPending } else { false } }

  func read(into bytes: UnsafeMutableRawBufferPointer) -> TransferResult {
    switch self {
    case .plain(let plain): plain.read(into: bytes)
    case .tls(let tls): tls.read(into: bytes)
    }
  }

  func write(from bytes: UnsafeRawBufferPointer) -> TransferResult {
    switch self {
    case .plain(let plain): plain.write(from: bytes)
    case .tls(let tls): tls.write(from: bytes)
    }
  }

  /// Says that nothing more will be written.
  func endWriting() {
    if case .tls(let tls) = self { tls.endWriting() }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  func close() {
    if case .tls(let tls) = self { tls.endWriting() }
    _ = Glibc.close(descriptor)
  }
}

/// A socket.
struct PlainTransport {
  let descriptor: Int32

  func read(into bytes: UnsafeMutableRawBufferPointer) -> TransferResult {
    result(recv(descriptor, bytes.baseAddress, bytes.count, 0), zero: .end)
  }

  /// - Parameter moreFollows: others follow at once, so that the kernel waits with a packet that is not full.
  func write(from bytes: UnsafeRawBufferPointer, moreFollows: Bool = false) -> TransferResult {
    // MSG_NOSIGNAL: a closed peer is an error of this call, not a signal to the process.
    let flags = moreFollows ? Int32(MSG_NOSIGNAL) | Int32(MSG_MORE) : Int32(MSG_NOSIGNAL)
    return result(send(descriptor, bytes.baseAddress, bytes.count, flags), zero: .wouldBlock)
  }

  /// Sends two runs of bytes in one call.
  func write(from first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> TransferResult {
    // sendmsg only reads from what it is given.
    var runs = (
      iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
    )
    return withUnsafeMutablePointer(to: &runs) { runs in
      runs.withMemoryRebound(to: iovec.self, capacity: 2) { runs in
        var message = msghdr()
        message.msg_iov = runs
        message.msg_iovlen = 2
        return result(sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)), zero: .wouldBlock)
      }
    }
  }

  /// Lets the kernel copy from a file. `.end` if the file is shorter than it was.
  func write(file: Int32, at offset: Int, count: Int) -> TransferResult {
    var position = off_t(offset)
    return result(sendfile(descriptor, file, &position, count), zero: .end)
  }

  private func result(_ count: Int, zero: TransferResult) -> TransferResult {
    if count > 0 { return .bytes(count) }
    if count == 0 { return zero }
    return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
  }
}

/// A socket under TLS. The handshake is taken further by whoever reads or writes first.
final class TLSTransport {
  let descriptor: Int32
  private(set) var readWaits: Readiness = .readable
  private(set) var writeWaits: Readiness = .writable
  private let connection: TLSConnection
  private var isReady = false

  init(_ context: TLSContext, descriptor: Int32) throws(TLSError) {
    self.descriptor = descriptor
    connection = try TLSConnection(context, descriptor: descriptor)
  }

  var hasPending: Bool { isReady && connection.hasPending }

  func read(into bytes: UnsafeMutableRawBufferPointer) -> TransferResult {
    do {
      if let waits = try shakeHands() {
        readWaits = waits
        return .wouldBlock
      }
      switch try connection.read(into: bytes) {
      case .bytes(let count): return .bytes(count)
      case .wantsRead: readWaits = .readable
      case .wantsWrite: readWaits = .writable
      case .end: return .end
      }
      return .wouldBlock
    } catch {
      // A peer that speaks no TLS, or broke off: there is nobody to tell.
      return .failed
    }
  }

  func write(from bytes: UnsafeRawBufferPointer) -> TransferResult {
    do {
      if let waits = try shakeHands() {
        writeWaits = waits
        return .wouldBlock
      }
      switch try connection.write(from: bytes) {
      case .bytes(let count): return .bytes(count)
      case .wantsRead: writeWaits = .readable
      case .wantsWrite: writeWaits = .writable
      case .end: return .failed
      }
      return .wouldBlock
    } catch {
      return .failed
    }
  }

  func endWriting() { connection.shutdown() }

  /// - Returns: what the handshake waits for; nil when it is done.
  private func shakeHands() throws(TLSError) -> Readiness? {
    if isReady { return nil }
    switch try connection.handshake() {
    case .done:
      isReady = true
      return nil
    case .wantsRead: return .readable
    case .wantsWrite: return .writable
    }
  }
}
