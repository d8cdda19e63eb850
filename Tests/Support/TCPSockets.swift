import Foundation

/// The TCP sockets of this machine over IPv4, as the kernel lists them.
package enum TCPSockets {
  /// The columns of each line: local address and port are the second in hexadecimal, the state is the fourth (`0A`
  /// listens), the inode is the tenth, 0 if no process holds it.
  package static func all() throws -> [[Substring]] {
    // In one piece Foundation reads only what the kernel gives at once: 26 sockets.
    let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp"))
    defer { try? file.close() }  // only read from
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }.filter { $0.count > 9 }
  }
}
