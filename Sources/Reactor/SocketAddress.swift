import CEpoll
import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// Numeric: `127.0.0.1`, `::1`.
  package let host: String
  /// 0 asks the system for a free port when listening.
  package let port: UInt16

  /// A free port of this machine, for listening.
  package static let anyLocalPort = SocketAddress(numeric: "127.0.0.1", port: 0)

  private init(numeric host: String, port: UInt16) { (self.host, self.port) = (host, port) }

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

  /// As accepted by ``init(_:)``.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Reads an address that a library is about to connect to; nil if it is neither IPv4 nor IPv6.
  ///
  /// - Parameter sockaddr: the library's `struct sockaddr`, with so many bytes.
  package init?(sockaddr: UnsafeRawPointer, length: Int) {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: sockaddr, count: min(length, bytes.count)))
    }
    self.init(storage: storage)
  }

  /// Reads an address filled in by the kernel.
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

  /// Passes the address in the kernel's form.
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

extension SocketAddress {
  /// The address in network order, 4 or 16 bytes. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes the IPv4
  /// address.
  package var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: host.contains(":") ? 16 : 4)
    inet_pton(bytes.count == 16 ? AF_INET6 : AF_INET, host, &bytes)
    let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
    return isMapped ? Array(bytes[12...]) : bytes
  }

  /// The network of the first `length` bits, such as `2001:db8:1::/48`.
  package func network(_ length: Int) -> String {
    let masked = bytes.enumerated().map { index, byte in
      byte & ~UInt8(truncatingIfNeeded: 0xff >> max(0, min(8, length - index * 8)))
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(masked.count == 16 ? AF_INET6 : AF_INET, masked, &text, socklen_t(text.count))
    return "\(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))/\(length)"
  }

  /// Whether the address is link-local (RFC 3927, RFC 4291), or a cloud's metadata service, which gives credentials to
  /// anyone.
  package var isLinkLocalOrMetadata: Bool {
    let bytes = embedded ?? bytes
    if bytes.count == 4 { return bytes.starts(with: [169, 254]) || bytes == [100, 100, 100, 200] }
    return bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 || Self.metadata.contains(bytes)
  }

  /// The IPv4 address that a gateway would connect to: NAT64 (RFC 6052 section 2.1, RFC 8215) or 6to4 (RFC 3056).
  private var embedded: [UInt8]? {
    let bytes = bytes
    guard bytes.count == 16 else { return nil }
    if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b]) { return Array(bytes[12...]) }
    return bytes.starts(with: [0x20, 0x02]) ? Array(bytes[2..<6]) : nil
  }

  /// fd00:ec2::254 of Amazon, fd20:ce::254 of Google.
  private static let metadata: [[UInt8]] = [
    [0xfd, 0x00, 0x0e, 0xc2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
    [0xfd, 0x20, 0x00, 0xce] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
  ]
}

/// Whether a host is this machine.
package enum Loopback {
  /// Such as `localhost`, `127.0.0.1`, `::1` or `[::1]`.
  package static func isLoopback(_ host: String) -> Bool {
    let host = host.lowercased()
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
