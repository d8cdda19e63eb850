import Glibc
import HTTP2
import OpenSSL
import Reactor

/// A client that sends what no well-behaved one would: frames byte by byte, over real TLS.
final class RawClient {
  struct Frame {
    let type: UInt8
    let flags: UInt8
    let stream: UInt32
    let payload: [UInt8]
  }

  private let descriptor: Int32
  private let tls: TLSConnection
  private var received: [UInt8] = []

  init(_ running: Running, alpn: [String]) throws {
    descriptor = try Socket.connect(to: running.address)
    let context = try TLSContext.client(trust: .pem(running.authority.pem), alpn: alpn)
    tls = try TLSConnection(context, descriptor: descriptor, serverName: "localhost")
    while true {
      switch try tls.handshake() {
      case .done: return
      case .wantsRead: try wait(POLLIN)
      case .wantsWrite: try wait(POLLOUT)
      }
    }
  }

  deinit { close(descriptor) }

  /// What the two sides agreed on.
  var alpn: String? { tls.alpn }

  private func wait(_ events: Int32) throws {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // Bounded, so that a server that does not answer fails the test instead of stopping it.
    guard poll(&entry, 1, 10_000) == 1 else { throw SystemError("poll", number: ETIMEDOUT) }
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch try rest.withUnsafeBytes({ try tls.write(from: $0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wantsRead: try wait(POLLIN)
      case .wantsWrite: try wait(POLLOUT)
      case .end: throw SystemError("write", number: EPIPE)
      }
    }
  }

  /// The preface of RFC 9113 §3.4 with empty SETTINGS.
  func begin() throws { try send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, [])) }

  static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let size = UInt32(payload.count)
    return [UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255), type, flags]
      + (0..<4).map { UInt8(stream >> (24 - 8 * $0) & 255) } + payload
  }

  /// HEADERS with literal fields, nothing indexed and nothing Huffman coded (RFC 7541 §6.2.2).
  static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = true) -> [UInt8] {
    let block = fields.flatMap { name, value in
      [UInt8(0), UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
    }
    return frame(1, end ? 5 : 4, stream, block)
  }

  /// The next frame, nil when the server has closed.
  func frame() throws -> Frame? {
    while true {
      if received.count >= 9 {
        let size = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        if received.count >= 9 + size {
          defer { received.removeFirst(9 + size) }
          let stream = received[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
          return Frame(
            type: received[3], flags: received[4], stream: stream, payload: Array(received[9..<9 + size]))
        }
      }
      guard try read() else { return nil }
    }
  }

  /// - Returns: false if the server has closed.
  private func read() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    switch try buffer.withUnsafeMutableBytes({ try tls.read(into: $0) }) {
    case .bytes(let count): received += buffer[..<count]
    case .wantsRead: try wait(POLLIN)
    case .wantsWrite: try wait(POLLOUT)
    case .end: return false
    }
    return true
  }

  /// All bytes up to a text, for what is not HTTP/2.
  func text(endingWith end: String) throws -> String {
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if text.hasSuffix(end) { return text }
      guard try read() else { return text }
    }
  }

  /// The frames of one stream up to its end.
  func answer(_ stream: UInt32) throws -> [Frame] {
    var frames: [Frame] = []
    while let frame = try frame() {
      guard frame.stream == stream else { continue }
      frames.append(frame)
      if frame.type == 3 || frame.flags & 1 == 1 { break }
    }
    return frames
  }
}
