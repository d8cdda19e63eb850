import CEpoll
import Glibc

/// What became of a read or a write that does not wait.
enum TransferResult: Equatable {
  /// So many bytes went over, at least one.
  case bytes(Int)
  /// Nothing now. `needsWrite` says that the descriptor must become writable first (TLS may need that to read).
  case wouldBlock
  /// The peer has ended its side.
  case end
  case failed
}

/// The bytes of one connection.
struct PlainTransport {
  let descriptor: Int32

  func read(into bytes: UnsafeMutableRawBufferPointer) -> TransferResult {
    result(recv(descriptor, bytes.baseAddress, bytes.count, 0), zero: .end)
  }

  func write(from bytes: UnsafeRawBufferPointer) -> TransferResult {
    // MSG_NOSIGNAL: a closed peer is an error of this call, not a signal to the process.
    result(send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)), zero: .wouldBlock)
  }

  /// Lets the kernel copy from a file. `.end` if the file is shorter than it was.
  func write(file: Int32, at offset: Int, count: Int) -> TransferResult {
    var position = off_t(offset)
    return result(sendfile(descriptor, file, &position, count), zero: .end)
  }

  /// Says that nothing more will be written.
  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() { _ = Glibc.close(descriptor) }

  private func result(_ count: Int, zero: TransferResult) -> TransferResult {
    if count > 0 { return .bytes(count) }
    if count == 0 { return zero }
    return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
  }
}
