import CEpoll
import Glibc
import OpenSSL
import Reactor

/// The result of a non-blocking read or write.
enum TransferResult: Equatable {
  /// At least one.
  case bytes(Int)
  /// Wait for ``Transport/readWaits`` or ``Transport/writeWaits``.
  case wouldBlock
  case end
  case failed
}

/// The byte stream of one connection, plain or over TLS.
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

  /// The readiness that lets a blocked read continue.
  var readWaits: Readiness { if case .tls(let tls) = self { tls.readWaits } else { .readable } }

  /// The readiness that lets a blocked write continue.
  var writeWaits: Readiness { if case .tls(let tls) = self { tls.writeWaits } else { .writable } }

  /// Whether readable bytes exist that epoll does not report.
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

  /// Shuts down writing.
  func endWriting() {
    if case .tls(let tls) = self { tls.endWriting() }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  func close() {
    if case .tls(let tls) = self { tls.endWriting() }
    _ = Glibc.close(descriptor)
  }
}

struct PlainTransport {
  let descriptor: Int32

  func read(into bytes: UnsafeMutableRawBufferPointer) -> TransferResult {
    result(recv(descriptor, bytes.baseAddress, bytes.count, 0), zero: .end)
  }

  /// - Parameter moreFollows: tells the kernel to wait with an incomplete packet.
  func write(from bytes: UnsafeRawBufferPointer, moreFollows: Bool = false) -> TransferResult {
    // MSG_NOSIGNAL: a closed peer is an error of this call, not a signal.
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

  /// Lets the kernel copy from a file. `.end` if the file has become shorter.
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

/// A socket over TLS. The first read or write continues the handshake.
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
      // The peer speaks no TLS, or closed: there is no one to answer.
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

  /// - Returns: the readiness that the handshake waits for; nil when it is done.
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
