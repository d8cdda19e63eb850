import Foundation
import HTTPServer
import Reactor

/// The console's public address (`--address`).
struct PublicAddress: Sendable {
  /// Whether browsers use https, even if a proxy forwards plain http.
  let isSecure: Bool
  private let text: String
  /// In lower case; without the path that the console is served below.
  private let origin: String
  private let host: String?

  init(_ text: String?) {
    let components = text.flatMap { URLComponents(string: $0) }
    isSecure = components?.scheme?.lowercased() == "https"
    self.text = text ?? ""
    origin = String((text ?? "").lowercased().dropLast(components?.percentEncodedPath.count ?? 0))
    host = (components?.encodedHost ?? components?.host).flatMap(Self.name)
  }

  /// Refuses requests for another host, which protects against DNS rebinding: another domain that points to this
  /// address would share the console's origin. Loopback names and the monitoring paths are exempt.
  ///
  /// - Throws: 421.
  func check(_ request: Request) throws {
    guard let host, !Self.isForWatching(request), let asked = request.askedHost.flatMap(Self.name),
      asked != host, !Loopback.isLoopback(asked)
    else { return }
    throw HTTPError(
      .misdirectedRequest,
      "Signalbox is at \(text), but this request was for “\(asked)”. A proxy must pass on the Host header.")
  }

  /// Whether an `Origin` is this console's, as the request or `--address` names it.
  func isOrigin(_ origin: String, of request: Request) -> Bool {
    if origin.lowercased() == self.origin { return true }
    guard let scheme = origin.range(of: "://"), let asked = request.askedHost else { return false }
    return origin[scheme.upperBound...].lowercased() == asked.lowercased()
  }

  private static func isForWatching(_ request: Request) -> Bool {
    [["healthz"], ["readyz"], ["metrics"]].contains(request.pathSegments)
  }

  /// A lower-case host without port, brackets and final dot: proxies may or may not send the port.
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
