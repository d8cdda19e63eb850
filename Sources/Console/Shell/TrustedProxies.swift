import Foundation
import HTTPServer
import Logging
import Reactor
import Synchronization

/// A range of addresses such as `10.0.0.0/8` or `::1`.
package struct AddressRange: Sendable, Hashable {
  private let bytes: [UInt8]
  private let length: Int

  /// Reads CIDR notation (RFC 4632, RFC 4291); a single address is a range of one.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let bytes = SocketAddress(host: String(parts[0]), port: 0)?.bytes
    else { return nil }
    let length = parts.count == 2 ? Int(parts[1]) ?? -1 : bytes.count * 8
    guard (0...bytes.count * 8).contains(length) else { return nil }
    self.bytes = bytes
    self.length = length
  }

  /// An IPv4 address mapped into IPv6 counts as the IPv4 address.
  package func contains(_ host: String) -> Bool {
    guard let other = SocketAddress(host: host, port: 0)?.bytes, other.count == bytes.count else { return false }
    return (0..<length).allSatisfy { bit in
      let mask = UInt8(0x80) >> (bit % 8)
      return bytes[bit / 8] & mask == other[bit / 8] & mask
    }
  }
}

/// Applies the forwarding headers of trusted proxies.
struct TrustedProxies: Sendable {
  let ranges: [AddressRange]
  /// Told about senders of forwarding headers that are not trusted.
  var undeclared: UndeclaredProxies?

  /// Refuses other machines that come without TLS and past the proxies: their passwords would be sent unencrypted.
  ///
  /// - Throws: 403.
  func checkClear(_ request: Request) throws {
    guard !request.isSecure, let peer = request.remoteAddress, !peer.isLoopback, !isTrusted(peer),
      ![["healthz"], ["readyz"]].contains(request.pathSegments)
    else { return }
    throw HTTPError(.forbidden, "This address is for the TLS proxy in front. Use the address of the proxy.")
  }

  /// Gives the request the client's own address and scheme, and the host that the client asked for.
  func restore(_ request: inout Request) {
    guard let peer = request.remoteAddress else { return }
    guard isTrusted(peer) else {
      guard request.mayHave(any: UndeclaredProxies.names),
        UndeclaredProxies.headers.contains(where: { request.header($0) != nil })
      else { return }
      undeclared?.note(peer)
      request.context[UndeclaredProxies.Peer.self] = peer
      return
    }
    if let proto = request.header("X-Forwarded-Proto") { request.isSecure = proto.lowercased() == "https" }
    if let host = request.headers.values(of: "X-Forwarded-Host").last?.split(separator: ",").last {
      request.context[ForwardedHost.self] = host.trimmingCharacters(in: .whitespaces)
    }
    // Each proxy appends the address that it saw; entries before the last trusted proxy may be forged.
    let hops = request.headers.values(of: "X-Forwarded-For").flatMap { $0.split(separator: ",") }.map(Self.address)
    let stranger = hops.lastIndex { hop in hop.map { !isTrusted($0) } ?? true } ?? 0
    if stranger < hops.count, let client = hops[stranger] { request.remoteAddress = client }
  }

  private func isTrusted(_ address: SocketAddress) -> Bool { ranges.contains { $0.contains(address.host) } }

  /// A hop is an address, or an IPv6 address in brackets, either with an optional port. Nil for anything else, such as
  /// `unknown`.
  private static func address(_ hop: Substring) -> SocketAddress? {
    let text = hop.trimmingCharacters(in: .whitespaces)
    if let address = SocketAddress(host: text, port: 0) { return address }
    if text.hasPrefix("["), text.hasSuffix("]") {
      return SocketAddress(host: String(text.dropFirst().dropLast()), port: 0)
    }
    return SocketAddress(text).flatMap { SocketAddress(host: $0.host, port: 0) }
  }
}

/// The host that a trusted proxy was asked for.
private enum ForwardedHost: RequestContextKey { typealias Value = String }

extension Request {
  /// The host that the client asked for, also through a trusted proxy that calls the console by another name.
  var askedHost: String? { context[ForwardedHost.self] ?? host }
}

/// Warns about undeclared proxies: all people behind one share a single address, and so its limits.
final class UndeclaredProxies: Sendable {
  static let headers = ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP"]
  static let names = NameSet(headers)
  /// Anybody can send these headers: limit the lines in the log.
  private static let most = 16

  /// The address that sent forwarding headers without being trusted.
  enum Peer: RequestContextKey { typealias Value = SocketAddress }

  private let known = Mutex<Set<String>>([])
  private let log: Logger

  init(log: Logger) { self.log = log }

  /// Logs each address once.
  func note(_ peer: SocketAddress) {
    let isNew = known.withLock { $0.count < Self.most && $0.insert(peer.host).inserted }
    guard isNew else { return }
    log.warning(
      "ignoring forwarding headers from an address that is not a trusted proxy; if it is your proxy, start "
        + "with --trusted-proxy, or all users behind it share one sign-in limit", ["from": peer.host])
  }
}
