internal import Glibc
package import Reactor
import Synchronization

/// A client's socket whose calls wait, so that a test sends and receives byte by byte. Whoever opens one closes it.
package final class PlainSocket: Sendable {
  package let descriptor: Int32
  private let isClosed = Atomic(false)

  /// Connects.
  ///
  /// - Parameters:
  ///   - source: an address of this machine; nil: as the system chooses.
  ///   - seconds: how long a call waits at most.
  /// - Throws: ``SystemError``.
  package init(
    _ address: SocketAddress, from source: SocketAddress? = nil, receiveBuffer: Int32? = nil, seconds: Int = 20
  ) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    let isBound = source.map { Self.call(bind, descriptor, $0) } ?? true
    guard isBound, Self.call(connect, descriptor, address) else {
      let error = SystemError(isBound ? "connect" : "bind")
      Glibc.close(descriptor)
      throw error
    }
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ address: SocketAddress
  ) -> Bool {
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = address.port.bigEndian
    inet_pton(AF_INET, address.host, &four.sin_addr)
    return withUnsafePointer(to: &four) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// False once the server has closed or reset.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Some bytes; nil at the end, after a reset, or when the time is over.
  package func receive() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  /// Everything until `end` has come, or the server closes.
  package func bytes(until end: String? = nil) -> [UInt8] {
    var all: [UInt8] = []
    while end.map({ !String(decoding: all, as: UTF8.self).contains($0) }) ?? true, let bytes = receive() {
      all += bytes
    }
    return all
  }

  /// ``bytes(until:)`` as text.
  package func text(until end: String? = nil) -> String { String(decoding: bytes(until: end), as: UTF8.self) }

  /// Closing twice does nothing: by then the number may be that of another test's socket.
  package func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    _ = Glibc.close(descriptor)
  }
}
