import Foundation

/// Asks a proxy for a tunnel to a host (RFC 9110 §9.3.6), as a state machine without I/O.
package struct ConnectTunnel: Sendable {
  /// Bytes; a longer answer is refused.
  package static let limit = 16_384

  private let proxy: ProxyServer
  private let target: String
  private var received: [UInt8] = []
  private var total = 0

  package init(to host: String, port: UInt16, through proxy: ProxyServer) {
    self.proxy = proxy
    target = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// What is sent first.
  package var request: [UInt8] {
    var lines = ["CONNECT \(target) HTTP/1.1", "Host: \(target)", "User-Agent: Signalbox"]
    if let authorization = proxy.authorization { lines.append("Proxy-Authorization: \(authorization)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Takes received bytes.
  ///
  /// - Returns: nil: more are needed. Otherwise the tunnel is open, and these bytes came through it already.
  package mutating func receive(_ bytes: some Sequence<UInt8>) throws(ProxyProblem) -> [UInt8]? {
    let before = received.count
    received += bytes
    total += received.count - before
    while let end = headEnd() {
      let (status, words) = try Self.status(received[..<end], proxy)
      let rest = Array(received[end...])
      switch status {
      case 100..<200: received = rest
      case 200..<300: return rest
      default: throw ProxyProblem(status: status, detail: words, proxy: proxy, target: target)
      }
    }
    guard total <= Self.limit else {
      throw ProxyProblem(.badAnswer, "the proxy \(proxy.authority) answered more than \(Self.limit) bytes")
    }
    return nil
  }

  /// The proxy closed the connection before the tunnel was open.
  package var closed: ProxyProblem {
    ProxyProblem(.badAnswer, "the proxy \(proxy.authority) closed the connection without a complete answer")
  }

  /// The proxy did not answer in time.
  package func overdue(_ limit: Duration) -> ProxyProblem {
    ProxyProblem(.timedOut, "the proxy \(proxy.authority) did not connect to \(target) within \(limit)")
  }

  /// The index after the empty line.
  private func headEnd() -> Int? {
    guard received.count >= 4 else { return nil }
    for index in 3..<received.count
    where received[index] == 10 && received[index - 1] == 13 && received[index - 2] == 10 && received[index - 3] == 13 {
      return index + 1
    }
    return nil
  }

  /// Reads `HTTP/1.1 200 Connection established` and checks the fields (RFC 9112 §4, §5).
  private static func status(
    _ head: ArraySlice<UInt8>, _ proxy: ProxyServer
  ) throws(ProxyProblem) -> (status: Int, words: String) {
    let bad = ProxyProblem(.badAnswer, "what answers at \(proxy.authority) is not an HTTP proxy")
    let isText = head.allSatisfy { $0 == 13 || $0 == 10 || $0 == 9 || ($0 >= 0x20 && $0 != 0x7f) }
    var lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    guard isText, lines.count > 2, lines.allSatisfy({ !$0.utf8.contains(13) && !$0.utf8.contains(10) })
    else { throw bad }
    let first = Array(lines.removeFirst().utf8)
    guard first.count >= 12, first.starts(with: "HTTP/1.".utf8), first[7] == 0x30 || first[7] == 0x31, first[8] == 0x20,
      first.count == 12 || first[12] == 0x20, let status = Int(String(decoding: first[9..<12], as: UTF8.self)),
      (100...599).contains(status)
    else { throw bad }
    for line in lines where !line.isEmpty {
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon != line.utf8.startIndex,
        !line[..<colon].utf8.contains(where: { $0 <= 0x20 })
      else { throw bad }
    }
    return (status, String(String(decoding: first.dropFirst(13), as: UTF8.self).prefix(80)))
  }
}
