internal import Glibc
package import Reactor

/// A port of this machine at which connections are refused. It is held, so that no server of another test gets it.
/// Whoever opens one closes it.
package struct RefusingPort: Sendable {
  package let address: SocketAddress
  private let descriptor: Int32

  package init() throws {
    // Bound, but nobody listens.
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var local = sockaddr_in()
    local.sin_family = sa_family_t(AF_INET)
    local.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafePointer(to: &local) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    do {
      guard bound == 0 else { throw SystemError("bind") }
      address = try Socket.localAddress(of: descriptor)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  package func close() { Glibc.close(descriptor) }
}
