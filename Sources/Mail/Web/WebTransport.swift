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
    guard WebAddress.isUsable(request.url) else {
      throw MailError(.settings, "the URL must start with https:// or point to this machine")
    }
    let (host, port) = (WebAddress.host(request.url), WebAddress.port(request.url))
    let curl = try CurlHandle(url: request.url, host: host, targets: proxies.targets, timeout: timeout)
    let proxy = Loopback.isLoopback(host) ? nil : proxies.server(for: host, port: port)
    try curl.go(through: proxy)
    try curl.trust(trustPEM)
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
      throw MailError(CurlHandle.failure(code) ?? .unreachable, curl.words(code))
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
  /// Whether an address is usable: https, or http to this machine; with a host, without user and password, blanks and
  /// control characters.
  package static func isUsable(_ text: String) -> Bool {
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
      !host.isEmpty, parts.user == nil, parts.password == nil, parts.fragment == nil
    else { return false }
    return scheme == "https" || (scheme == "http" && Loopback.isLoopback(host))
  }

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
