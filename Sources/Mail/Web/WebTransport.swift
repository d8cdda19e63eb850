internal import CCurl
internal import Foundation

/// Posts to webhooks, over libcurl. Blocks: call it on a thread that may wait. Follows no redirect, and connects to no
/// link-local address.
package struct WebTransport: Sendable {
  /// More of an answer is not read.
  package static let bodyLimit = 64 * 1024

  /// Roots that are trusted in place of the system's.
  package var trustPEM: String?
  /// Seconds after which an attempt is given up.
  package var timeout: Int
  package init(trustPEM: String? = nil, timeout: Int = 20) {
    self.trustPEM = trustPEM
    self.timeout = timeout
  }

  /// Posts, and reads the answer.
  ///
  /// - Throws: `MailError` if no answer came.
  package func post(_ request: WebRequest) throws(MailError) -> WebAnswer {
    guard WebAddress.isUsable(request.url) else {
      throw MailError(.settings, "the URL must start with https:// or point to this machine")
    }
    let curl = try CurlHandle(url: request.url, timeout: timeout)
    try curl.goDirectly(to: WebAddress.host(request.url))
    try curl.trust(trustPEM)
    let lines = request.headers.map { "\($0.name): \(MailError.line($0.value))" }
    // Without "Expect": a server that does not know it would keep us waiting.
    try curl.set(CURLOPT_HTTPHEADER, ["Content-Type: application/json; charset=utf-8", "Expect:"] + lines)
    try curl.set(CURLOPT_USERAGENT, "Signalbox")
    try curl.set(CURLOPT_POST, 1)
    try curl.set(CURLOPT_POSTFIELDSIZE, request.body.count)
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
        let code = ccurl_set_pointer(curl.handle, CURLOPT_POSTFIELDS, bytes.baseAddress)
        return code == CURLE_OK ? curl.perform() : code
      }
    }
    // An answer that is too long was stopped by us: its beginning says enough.
    if code != CURLE_OK, !(code == CURLE_WRITE_ERROR && exchange.isFull) {
      throw MailError(CurlHandle.failure(code) ?? .unreachable, curl.words(code))
    }
    return WebAnswer(
      status: curl.long(CURLINFO_RESPONSE_CODE), body: exchange.bytes, retryAfter: exchange.retryAfter)
  }

  /// What comes in.
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
        exchange.retryAfter = Int(parts[1].trimmingCharacters(in: .whitespacesAndNewlines)).map { max(0, $0) }
      }
      return size * count
    }
  }
}
