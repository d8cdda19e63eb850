import Foundation
import Glibc
import Reactor

/// A plain socket that waits, on a thread of its own.
enum EventClient {
  /// Sends a request and reads until the server closes.
  ///
  /// - Parameter begun: called once, when the first event is there.
  static func read(
    _ address: SocketAddress, _ request: String, begun: @escaping @Sendable () -> Void
  ) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try exchange(address, request, begun) }) }.start()
    }
  }

  private static func exchange(_ address: SocketAddress, _ request: String, _ begun: () -> Void) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { Glibc.close(descriptor) }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = address.port.bigEndian
    inet_pton(AF_INET, address.host, &four.sin_addr)
    let connected = withUnsafePointer(to: &four) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw SceneError.noConnection }
    let bytes = Array(request.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw SceneError.noConnection
    }
    var all: [UInt8] = []
    var isBegun = false
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      all += buffer.prefix(count)
      if !isBegun, String(decoding: all, as: UTF8.self).contains("data: ") {
        isBegun = true
        begun()
      }
    }
    return String(decoding: all, as: UTF8.self)
  }
}
