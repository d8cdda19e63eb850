import CEpoll
import Foundation
import Glibc

/// Non-blocking TCP sockets as plain descriptors: whoever opens one closes it.
package enum Socket {
  /// - Throws: ``SystemError``, for instance `bind: Address already in use`.
  package static func listen(on address: SocketAddress, backlog: Int32 = 1024) throws -> Int32 {
    let descriptor = try open(for: address)
    do {
      var one: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      guard address.withSockaddr({ pointer, size, _ in bind(descriptor, pointer, size) }) == 0 else {
        throw SystemError("bind \(address)")
      }
      guard Glibc.listen(descriptor, backlog) == 0 else { throw SystemError("listen \(address)") }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Takes over a socket that listens already.
  ///
  /// - Returns: the address at which it listens.
  /// - Throws: ``SystemError`` if it is no such socket.
  package static func adopt(_ listener: Int32) throws -> SocketAddress {
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 else { throw SystemError("getsockopt") }
    guard listens != 0 else { throw SystemError("accept", number: EINVAL) }
    let flags = fcntl(listener, F_GETFL)
    guard flags >= 0, fcntl(listener, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(listener, F_SETFD, FD_CLOEXEC) == 0
    else { throw SystemError("fcntl") }
    return try localAddress(of: listener)
  }

  /// Accepts one waiting connection.
  ///
  /// - Returns: nil if none is waiting or the peer gave up.
  /// - Throws: ``SystemError`` if the process or the machine has no descriptors left (`EMFILE`, `ENFILE`).
  package static func accept(_ listener: Int32) throws -> (descriptor: Int32, peer: SocketAddress?)? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        accept4(listener, $0, &size, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
      }
    }
    guard descriptor >= 0 else {
      switch errno {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw SystemError("accept4")
      default: return nil
      }
    }
    disableNagle(descriptor)
    return (descriptor, SocketAddress(storage: storage))
  }

  /// Starts a connection. It is established once the descriptor is writable and ``pendingError(of:)`` is nil.
  package static func connect(to address: SocketAddress) throws -> Int32 {
    let descriptor = try open(for: address)
    disableNagle(descriptor)
    let result = address.withSockaddr { pointer, size, _ in Glibc.connect(descriptor, pointer, size) }
    guard result == 0 || errno == EINPROGRESS else {
      let error = SystemError("connect \(address)")
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Returns and clears the error of a connection attempt.
  package static func pendingError(of descriptor: Int32) -> SystemError? {
    var number: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else { return SystemError("getsockopt") }
    return number == 0 ? nil : SystemError("connect", number: number)
  }

  package static func localAddress(of descriptor: Int32) throws -> SocketAddress {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard result == 0, let address = SocketAddress(storage: storage) else { throw SystemError("getsockname") }
    return address
  }

  /// Resolves a host name. Blocks; run it on a ``BlockingPool``.
  ///
  /// `localhost` and names below it are this machine also where the system does not know them, as in a container without
  /// `/etc/hosts` (RFC 6761 §6.3).
  ///
  /// - Returns: its addresses in the system's order, at least one.
  /// - Throws: ``LookupError``.
  package static func resolve(host: String, port: UInt16) throws -> [SocketAddress] {
    if let address = SocketAddress(host: host, port: port) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else {
      let name = host.lowercased()
      let own = ["127.0.0.1", "::1"].compactMap { SocketAddress(host: $0, port: port) }
      if name == "localhost" || name.hasSuffix(".localhost") { return own }
      throw LookupError(host: host, message: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let info = next?.pointee {
      var storage = sockaddr_storage()
      memcpy(&storage, info.ai_addr, min(Int(info.ai_addrlen), MemoryLayout<sockaddr_storage>.size))
      if let found = SocketAddress(storage: storage), let address = SocketAddress(host: found.host, port: port) {
        addresses.append(address)
      }
      next = info.ai_next
    }
    guard !addresses.isEmpty else { throw LookupError(host: host, message: "no address") }
    return addresses
  }

  /// Turns writes to a closed peer into errors, in place of a signal that ends the process.
  package static func ignoreBrokenPipeSignal() { signal(SIGPIPE, SIG_IGN) }

  private static func open(for address: SocketAddress) throws -> Int32 {
    let family = address.withSockaddr { _, _, family in family }
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    return descriptor
  }

  private static func disableNagle(_ descriptor: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }
}

package struct LookupError: Error, Equatable, CustomStringConvertible, Sendable {
  package let host: String
  /// The resolver's message.
  package let message: String
  package init(host: String, message: String) {
    self.host = host
    self.message = message
  }

  /// As `example.invalid: Name or service not known`.
  package var description: String { "\(host): \(message)" }
}

/// Writes to files, pipes and terminals on threads that may block.
package enum WaitingWriter {
  /// Writes all bytes to a blocking or non-blocking descriptor.
  ///
  /// - Returns: how many were written, and why not all.
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, failure: SystemError?) {
    var start = 0
    while start < bytes.count {
      let written = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        start += written
      } else if errno == EAGAIN {
        // Another program made it non-blocking: programs share a terminal's settings.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else if errno != EINTR {
        return (start, SystemError("write"))
      }
    }
    return (start, nil)
  }
}
