import Foundation
import Glibc
import HTTPServer
import Reactor

/// Where people reach the console, as whoever runs it has said (`--address`).
struct PublicAddress: Sendable {
  /// Whether browsers speak https with it, whatever a proxy in between speaks with us.
  let isSecure: Bool
  private let text: String
  private let host: String?

  /// - Parameter text: nil: nobody has said.
  init(_ text: String?) {
    let components = text.flatMap { URLComponents(string: $0) }
    isSecure = components?.scheme?.lowercased() == "https"
    self.text = text ?? ""
    host = (components?.encodedHost ?? components?.host).flatMap(Self.name)
  }

  /// Refuses what was meant for another host: a name that somebody has pointed here, so that a page of his becomes of
  /// the same origin. This machine itself may call it as it likes, and what watches it by its number.
  ///
  /// - Throws: 421.
  func check(_ request: Request, through proxies: TrustedProxies) throws {
    guard let host, !Self.isForWatching(request), let asked = Self.asked(request, proxies).flatMap(Self.name),
      asked != host, !Self.isLoopback(asked)
    else { return }
    throw HTTPError(
      .misdirectedRequest,
      "Signalbox is at \(text), but this request was for “\(asked)”. A proxy must pass on the Host header.")
  }

  /// The host that the client asked: a proxy of ours may tell it beside the name by which it calls us.
  private static func asked(_ request: Request, _ proxies: TrustedProxies) -> String? {
    if let peer = request.remoteAddress, proxies.ranges.contains(where: { $0.contains(peer.host) }),
      let forwarded = request.headers.values(of: "X-Forwarded-Host").last?.split(separator: ",").last
    {
      return forwarded.trimmingCharacters(in: .whitespaces)
    }
    return request.host
  }

  private static func isForWatching(_ request: Request) -> Bool {
    [["healthz"], ["readyz"], ["metrics"]].contains(request.pathSegments)
  }

  private static func isLoopback(_ name: String) -> Bool {
    if name == "localhost" || name == "::1" { return true }
    var four = in_addr()
    return inet_pton(AF_INET, name, &four) == 1 && name.hasPrefix("127.")
  }

  /// A host without its port, brackets and last dot, in small letters: proxies write the port, or not.
  private static func name(_ host: String) -> String? {
    var name = host.lowercased()[...]
    if name.hasPrefix("[") {
      name = name.dropFirst().prefix { $0 != "]" }
    } else if let colon = name.firstIndex(of: ":"), name.lastIndex(of: ":") == colon {
      name = name[..<colon]
    }
    if name.hasSuffix(".") { name = name.dropLast() }
    return name.isEmpty ? nil : String(name)
  }
}
