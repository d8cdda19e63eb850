internal import CCurl
internal import Calendar
internal import Foundation
package import Reactor

/// Posts to webhooks, and asks providers of OpenID Connect, with libcurl. Blocks: call it on a thread that may block.
/// Follows no redirect, and connects to no link-local address.
package struct WebTransport: Sendable {
  /// The rest of a longer answer is not read.
  package static let bodyLimit = 64 * 1024

  /// Trusted roots in place of the system's.
  package var trustPEM: String?
  /// Seconds.
  package var timeout: Int
  /// Which hosts are reached, and which of them through a proxy.
  package var proxies: ProxyRules
  /// Asks this installation's own server, at whatever address it listens: its certificate names another host, and no
  /// secret is sent.
  package var isOwnServer = false
  package init(trustPEM: String? = nil, timeout: Int = 20, proxies: ProxyRules = .none) {
    self.trustPEM = trustPEM
    self.timeout = timeout
    self.proxies = proxies
  }

  /// - Throws: `MailError` if no answer came.
  package func post(_ request: WebRequest) throws(MailError) -> WebAnswer { try send(request, isPost: true) }

  /// Reads what is at an address; a body is not sent.
  ///
  /// - Throws: `MailError` if no answer came.
  package func get(_ request: WebRequest) throws(MailError) -> WebAnswer { try send(request, isPost: false) }

  private func send(_ request: WebRequest, isPost: Bool) throws(MailError) -> WebAnswer {
    guard isOwnServer || WebAddress.isUsable(request.url, plain: proxies.plainHosts) else {
      throw MailError(.settings, "the URL must start with https:// or point to this machine")
    }
    let (host, port) = (WebAddress.host(request.url), WebAddress.port(request.url))
    let curl = try CurlHandle(url: request.url, host: host, targets: proxies.targets, timeout: timeout)
    let proxy = Loopback.isLoopback(host) ? nil : proxies.server(for: host, port: port)
    try curl.go(through: proxy)
    try curl.trust(trustPEM, and: proxies.trustFile)
    if isOwnServer {
      try curl.set(CURLOPT_SSL_VERIFYPEER, 0)
      try curl.set(CURLOPT_SSL_VERIFYHOST, 0)
    }
    let lines = request.headers.map { "\($0.name): \(MailError.line($0.value))" }
    // Without "Expect", for which some servers would make us wait.
    try curl.set(CURLOPT_HTTPHEADER, (isPost ? ["Content-Type: \(request.type)", "Expect:"] : []) + lines)
    try curl.set(CURLOPT_USERAGENT, "Signalbox")
    if isPost {
      try curl.set(CURLOPT_POST, 1)
      try curl.set(CURLOPT_POSTFIELDSIZE, request.body.count)
    }
    let exchange = Exchange()
    let place = Unmanaged.passUnretained(exchange).toOpaque()
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_WRITEDATA, place))
    try curl.check(ccurl_set_transfer(curl.handle, CURLOPT_WRITEFUNCTION, Exchange.body))
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_HEADERDATA, place))
    try curl.check(ccurl_set_transfer(curl.handle, CURLOPT_HEADERFUNCTION, Exchange.header))
    // libcurl does not copy the body: https://curl.se/libcurl/c/CURLOPT_POSTFIELDS.html.
    var body = request.body + [0]
    let code = withExtendedLifetime(exchange) {
      body.withUnsafeMutableBytes { bytes in
        let code = isPost ? ccurl_set_pointer(curl.handle, CURLOPT_POSTFIELDS, bytes.baseAddress) : CURLE_OK
        return code == CURLE_OK ? curl.perform() : code
      }
    }
    // We stop an answer that is too long: its beginning is enough.
    if code != CURLE_OK, !(code == CURLE_WRITE_ERROR && exchange.isFull) {
      if let proxy, let problem = curl.proxyProblem(code, proxy, target: "\(host):\(port)") {
        throw MailError(.unreachable, problem.description)
      }
      throw MailError(curl.failure(code) ?? .unreachable, curl.words(code))
    }
    return WebAnswer(
      status: curl.long(CURLINFO_RESPONSE_CODE), body: exchange.bytes, retryAfter: exchange.retryAfter)
  }

  /// Collects the answer.
  private final class Exchange {
    var bytes: [UInt8] = []
    var isFull = false
    var retryAfter: Int?

    static let body: curl_read_callback = { buffer, size, count, place in
      guard let buffer, let place else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(place).takeUnretainedValue()
      let room = min(size * count, WebTransport.bodyLimit - exchange.bytes.count)
      exchange.bytes += UnsafeRawBufferPointer(start: buffer, count: room)
      exchange.isFull = room < size * count
      return room
    }

    static let header: curl_read_callback = { buffer, size, count, place in
      guard let buffer, let place else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(place).takeUnretainedValue()
      let line = String(decoding: UnsafeRawBufferPointer(start: buffer, count: size * count), as: UTF8.self)
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == "retry-after" {
        let text = parts[1].trimmingCharacters(in: .whitespacesAndNewlines)
        exchange.retryAfter = (Int(text) ?? HTTPDate.parse(text).map { $0 - Int(Date().timeIntervalSince1970) })
          .map { max(0, $0) }
      }
      return size * count
    }
  }
}

/// The allowed addresses of webhooks.
package enum WebAddress {
  /// Why an address is not usable.
  package enum Trouble: Sendable, Hashable {
    /// Not https://, nor http:// to a host that may be reached without TLS; or no URL at all.
    case scheme
    /// More than 2048 bytes.
    case length
    /// A blank or a control character.
    case blank
    case user
    case fragment
    case port
    /// A letter beyond ASCII; `ascii` is the same URL as it goes over the wire.
    case letters(ascii: String)
  }

  /// What is wrong with an address; nil: it is https, or http to this machine or to a plain host; with a host, and
  /// without user, password, fragment, blanks and control characters.
  ///
  /// - Parameter plain: hosts that may be reached without TLS; ``TargetList/any``: none but this machine.
  package static func trouble(_ text: String, plain: TargetList = .any) -> Trouble? {
    guard text.utf8.count <= 2048 else { return .length }
    guard !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x21 || $0.value == 0x7f })
    else { return .blank }
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
      !host.isEmpty, scheme == "https" || (scheme == "http" && (Loopback.isLoopback(host) || plain.names(host)))
    else { return .scheme }
    if parts.user != nil || parts.password != nil { return .user }
    if parts.fragment != nil { return .fragment }
    if let port = parts.port, !(1...65_535).contains(port) { return .port }
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return .letters(ascii: URL(string: text)?.absoluteString ?? "") }
    return nil
  }

  /// Whether an address has no ``trouble(_:plain:)``.
  package static func isUsable(_ text: String, plain: TargetList = .any) -> Bool { trouble(text, plain: plain) == nil }

  /// Such as `hooks.slack.com`: the part of a secret address that may be shown.
  package static func host(_ text: String) -> String { URLComponents(string: text)?.host ?? "" }

  /// 443 unless the address names one.
  static func port(_ text: String) -> UInt16 { URLComponents(string: text)?.port.flatMap(UInt16.init(exactly:)) ?? 443 }

  /// Adds items to the query.
  static func adding(_ items: [(name: String, value: String)], to url: String) -> String {
    let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let query = items.map { "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
    return url + (url.contains("?") ? "&" : "?") + query.joined(separator: "&")
  }
}

/// A POST to a webhook, or a question to a provider of OpenID Connect.
package struct WebRequest: Sendable, Hashable {
  package static let json = "application/json; charset=utf-8"

  package var url: String
  /// In addition to the fields of every request.
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8]
  /// The media type of the body.
  package var type: String
  package init(
    url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [], type: String = Self.json
  ) {
    self.url = url
    self.headers = headers
    self.body = body
    self.type = type
  }

  package static func == (one: WebRequest, other: WebRequest) -> Bool {
    one.url == other.url && one.body == other.body && one.type == other.type
      && one.headers.map { "\($0.name): \($0.value)" } == other.headers.map { "\($0.name): \($0.value)" }
  }

  /// Fits ``==(_:_:)``.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}

/// A webhook's answer.
package struct WebAnswer: Sendable, Hashable {
  package var status: Int
  /// At most ``WebTransport/bodyLimit`` bytes.
  package var body: [UInt8]
  /// `Retry-After` in seconds.
  package var retryAfter: Int?

  /// Status and the beginning of the body on one line.
  package var words: String {
    MailError.line("\(status) \(String(decoding: body.prefix(600), as: UTF8.self))")
  }
}
