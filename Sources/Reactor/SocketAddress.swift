import CEpoll
import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address in figures: `127.0.0.1`, `::1`.
  package let host: String
  /// 0 asks the system for a free port when listening.
  package let port: UInt16

  /// Creates an address from figures; names are not looked up.
  ///
  /// - Returns: nil if `host` is neither an IPv4 nor an IPv6 address.
  package init?(host: String, port: UInt16) {
    var four = in_addr()
    var six = in6_addr()
    guard inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1 else { return nil }
    self.host = host
    self.port = port
  }

  /// Parses `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080` (which is 127.0.0.1).
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("[") {
      guard host.hasSuffix("]") else { return nil }
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    self.init(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
  }

  /// Whether only this machine can reach the address.
  package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.") }

  /// As ``init(_:)`` reads it.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Reads what the kernel filled in.
  init?(storage: sockaddr_storage) {
    var storage = storage
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch Int32(storage.ss_family) {
    case AF_INET:
      port = withUnsafePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
          var address = four.pointee.sin_addr
          inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
          return UInt16(bigEndian: four.pointee.sin_port)
        }
      }
    case AF_INET6:
      port = withUnsafePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
          var address = six.pointee.sin6_addr
          inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
          return UInt16(bigEndian: six.pointee.sin6_port)
        }
      }
    default: return nil
    }
    host = text.withUnsafeBufferPointer { String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) }
  }

  /// Calls `body` with the address as the kernel wants it.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t, Int32) -> Result) -> Result {
    if host.contains(":") {
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &six.sin6_addr)
      return withUnsafePointer(to: &six) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in6>.size), AF_INET6)
        }
      }
    }
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &four.sin_addr)
    return withUnsafePointer(to: &four) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size), AF_INET)
      }
    }
  }
}
