import Foundation
import Glibc
import HTTPServer
import Reactor

/// A range of addresses, as `10.0.0.0/8` or `::1`.
public struct AddressRange: Sendable, Hashable {
  private let bytes: [UInt8]
  private let length: Int

  /// Reads the CIDR notation (RFC 4632, RFC 4291); an address alone is a range of one.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let bytes = Self.bytes(String(parts[0])) else { return nil }
    let length = parts.count == 2 ? Int(parts[1]) ?? -1 : bytes.count * 8
    guard (0...bytes.count * 8).contains(length) else { return nil }
    self.bytes = bytes
    self.length = length
  }

  /// Whether an address, as text, is in it. An IPv4 address mapped into IPv6 is the IPv4 address.
  public func contains(_ host: String) -> Bool {
    guard let other = Self.bytes(host), other.count == bytes.count else { return false }
    return (0..<length).allSatisfy { bit in
      let mask = UInt8(0x80) >> (bit % 8)
      return bytes[bit / 8] & mask == other[bit / 8] & mask
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let plain = text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, plain, &bytes) == 1 { return bytes }
    }
    return nil
  }
}

/// Believes what a proxy that is ours says about where a request came from.
struct TrustedProxies: Sendable {
  let ranges: [AddressRange]

  /// The request as its client sent it.
  func restored(_ request: Request) -> Request {
    guard !ranges.isEmpty, let peer = request.remoteAddress, isTrusted(peer.host) else { return request }
    var request = request
    if let proto = request.header("X-Forwarded-Proto") { request.isSecure = proto.lowercased() == "https" }
    // Each proxy adds the address that it saw at the end; what stands before the last of ours may be made up.
    let hops = request.headers.values(of: "X-Forwarded-For").flatMap { $0.split(separator: ",") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
    if let client = hops.last(where: { !isTrusted($0) }) ?? hops.first,
      let address = SocketAddress(host: client, port: 0)
    {
      request.remoteAddress = address
    }
    return request
  }

  private func isTrusted(_ host: String) -> Bool { ranges.contains { $0.contains(host) } }
}
