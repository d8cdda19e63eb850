import Glibc

extension SocketAddress {
  /// The address in network order: 4 bytes, or 16. An IPv4 address that is mapped into IPv6 (RFC 4291 §2.5.5.2) is the
  /// IPv4 address.
  package var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: host.contains(":") ? 16 : 4)
    inet_pton(bytes.count == 16 ? AF_INET6 : AF_INET, host, &bytes)
    let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
    return isMapped ? Array(bytes[12...]) : bytes
  }

  /// The network of the address's first `length` bits, as `2001:db8:1::/48`.
  package func network(_ length: Int) -> String {
    let masked = bytes.enumerated().map { index, byte in
      byte & ~UInt8(truncatingIfNeeded: 0xff >> max(0, min(8, length - index * 8)))
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(masked.count == 16 ? AF_INET6 : AF_INET, masked, &text, socklen_t(text.count))
    return "\(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))/\(length)"
  }

  /// Whether the address is link-local (RFC 3927, RFC 4291), or one where a cloud machine finds its metadata service,
  /// which gives credentials to whoever asks.
  package var isLinkLocalOrMetadata: Bool {
    let bytes = bytes
    if bytes.count == 4 { return bytes.starts(with: [169, 254]) || bytes == [100, 100, 100, 200] }
    return bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 || Self.metadata.contains(bytes)
  }

  /// fd00:ec2::254 of Amazon, fd20:ce::254 of Google.
  private static let metadata: [[UInt8]] = [
    [0xfd, 0x00, 0x0e, 0xc2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
    [0xfd, 0x20, 0x00, 0xce] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
  ]
}
