import Foundation
import Glibc
import Reactor
import Store

/// A blocking connection with a deadline for everything together.
final class ProbeLine {
  private(set) var descriptor: Int32 = -1
  private let deadline: ContinuousClock.Instant

  init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Connects to the first address that accepts. Each attempt gets only a share of the time, so that one address cannot
  /// use up the time of the next.
  func connect(_ addresses: [SocketAddress]) throws(HostFailure) -> SocketAddress {
    var failure = HostFailure(.unreachable, detail: "no address")
    for (index, address) in addresses.enumerated() {
      let share = (deadline - ContinuousClock.now) / (addresses.count - index)
      do {
        try connect(address, until: ContinuousClock.now + share)
        return address
      } catch {
        failure = error
        close()
      }
    }
    throw failure
  }

  /// Connects to a proxy, and through it to a host.
  ///
  /// - Returns: what the host has sent already.
  func tunnel(
    to host: HostAddress, through proxy: ProxyServer, at addresses: [SocketAddress]
  ) throws(HostFailure) -> [UInt8] {
    do throws(HostFailure) {
      _ = try connect(addresses)
    } catch {
      throw HostFailure(
        ProxyProblem(
          error.code == .timeout ? .timedOut : .unreachable,
          "the proxy \(proxy.authority) cannot be reached: \(error.detail)"))
    }
    var tunnel = ConnectTunnel(to: host.host, port: host.port, through: proxy)
    do throws(HostFailure) {
      try send(tunnel.request)
      while true {
        let bytes = try receive()
        do throws(ProxyProblem) {
          if let rest = try tunnel.receive(bytes) { return rest }
        } catch { throw HostFailure(error) }
      }
    } catch {
      switch error.code {
      case .timeout: throw HostFailure(ProxyProblem(.timedOut, "the proxy \(proxy.authority) did not answer in time"))
      case .closed: throw HostFailure(tunnel.closed)
      default: throw error
      }
    }
  }

  private func connect(_ address: SocketAddress, until limit: ContinuousClock.Instant) throws(HostFailure) {
    do {
      descriptor = try Socket.connect(to: address)
    } catch { throw Self.failure(error, address) }
    try wait(Int16(POLLOUT), until: limit, "connecting to \(address)")
    if let error = Socket.pendingError(of: descriptor) { throw Self.failure(error, address) }
  }

  private static func failure(_ error: any Error, _ address: SocketAddress) -> HostFailure {
    let number = (error as? SystemError)?.number ?? 0
    let code: HostFailure.Code =
      switch number {
      case ECONNREFUSED: .refused
      case ETIMEDOUT: .timeout
      case ECONNRESET: .closed
      default: .unreachable
      }
    return HostFailure(code, detail: "\(address): \(String(cString: strerror(number)))")
  }

  /// Waits until the socket is ready for the events.
  func wait(
    _ events: Int16, until limit: ContinuousClock.Instant? = nil, _ doing: String = "waiting for an answer"
  ) throws(HostFailure) {
    while true {
      let left = (limit ?? deadline) - ContinuousClock.now
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      guard left > .zero else { throw HostFailure(.timeout, detail: doing) }
      var waiting = pollfd(fd: descriptor, events: events, revents: 0)
      let count = poll(&waiting, 1, Int32(clamping: milliseconds + 1))
      if count > 0 { return }
      if count < 0, errno != EINTR { throw HostFailure(.closed, detail: String(cString: strerror(errno))) }
    }
  }

  func send(_ bytes: [UInt8]) throws(HostFailure) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN || errno == EINTR {
        try wait(Int16(POLLOUT))
      } else {
        throw HostFailure(.closed, detail: String(cString: strerror(errno)))
      }
    }
  }

  /// Receives at least one byte, up to the deadline.
  func receive() throws(HostFailure) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 2048)
    while true {
      // Also if there is something to read: a host that never stops talking must not outlast the deadline.
      try wait(Int16(POLLIN))
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 { return Array(buffer[..<count]) }
      guard count < 0 else { throw HostFailure(.closed, detail: "before TLS began") }
      guard errno == EAGAIN || errno == EINTR else {
        throw HostFailure(.closed, detail: String(cString: strerror(errno)))
      }
    }
  }
}
