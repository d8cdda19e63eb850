package import OpenSSL

/// Where a client connects to, and how it knows that it is the right place.
package struct Endpoint: Sendable {
  /// Host name or IP address; the server's certificate must be for it.
  package let host: String
  /// TCP port.
  package let port: UInt16
  /// Trust, and the client's certificate if it has one.
  package let tls: TLSContext

  /// Creates an endpoint. The context should offer `h2` (ALPN).
  package init(host: String, port: UInt16, tls: TLSContext) {
    self.host = host
    self.port = port
    self.tls = tls
  }

  /// `host`, or `host:port` where the port is not 443; an IPv6 address in brackets.
  package var authority: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }
}
