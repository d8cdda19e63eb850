internal import CCurl
import OpenSSL
import Reactor

/// One libcurl transfer. Blocks; used by one thread.
final class CurlHandle {
  private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  let handle: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = []
  /// Must live as long as the handle: https://curl.se/libcurl/c/CURLOPT_ERRORBUFFER.html.
  private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  private let door: Door

  /// Decides which addresses are connected to.
  private final class Door {
    let (targets, host): (TargetList, String)
    /// Whether a proxy looks the host up; then the address is the proxy's.
    var isProxied = false
    var isOpened = false
    var refusal: RefusedTarget?

    init(_ targets: TargetList, _ host: String) { (self.targets, self.host) = (targets, host) }

    func admits(_ address: SocketAddress) -> Bool {
      do throws(RefusedTarget) {
        _ = try (isProxied ? .any : targets).permitted([address], of: host)
        isOpened = true
        return true
      } catch {
        refusal = error
        return false
      }
    }

    static let open: curl_opensocket_callback = { place, _, address in
      guard let place, let address,
        let target = SocketAddress(sockaddr: ccurl_address(address), length: Int(address.pointee.addrlen)),
        Unmanaged<Door>.fromOpaque(place).takeUnretainedValue().admits(target)
      else { return CURL_SOCKET_BAD }
      return ccurl_open_socket(address)
    }
  }

  /// - Parameters:
  ///   - host: of the URL.
  ///   - targets: where the connection may go.
  ///   - ciphers: below TLS 1.3.
  init(
    url: String, host: String, targets: TargetList, timeout: Int, ciphers: String = TLSContext.ciphers
  ) throws(MailError) {
    door = Door(targets, host)
    guard Self.isReady, let handle = curl_easy_init() else { throw MailError(.settings, "libcurl failed to start") }
    self.handle = handle
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    // Signals belong to the process: https://curl.se/libcurl/c/threadsafe.html.
    try set(CURLOPT_NOSIGNAL, 1)
    try check(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message))
    try check(ccurl_set_open_socket(handle, Door.open))
    // Not retained: the handle is cleaned up first.
    try check(ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(door).toOpaque()))
    try set(CURLOPT_URL, url)
    try set(CURLOPT_CONNECTTIMEOUT, min(timeout, 15))
    try set(CURLOPT_TIMEOUT, timeout)
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try set(CURLOPT_SSL_CIPHER_LIST, ciphers)
  }

  deinit {
    curl_easy_cleanup(handle)
    for list in lists { curl_slist_free_all(list) }
    message.deallocate()
  }

  func set(_ option: CURLoption, _ value: Int) throws(MailError) { try check(ccurl_set_long(handle, option, value)) }

  /// libcurl copies the text.
  func set(_ option: CURLoption, _ text: String) throws(MailError) {
    guard !text.utf8.contains(0) else { throw MailError(.settings, "a value contains a NUL byte") }
    try check(ccurl_set_text(handle, option, text))
  }

  /// Sets a list, such as header lines.
  func set(_ option: CURLoption, _ texts: [String]) throws(MailError) {
    var list: UnsafeMutablePointer<curl_slist>?
    for text in texts {
      guard let longer = curl_slist_append(list, text) else {
        curl_slist_free_all(list)
        throw MailError(.settings, "out of memory")
      }
      list = longer
    }
    guard let list else { return }
    lists.append(list)
    try check(ccurl_set_list(handle, option, list))
  }

  /// - Parameters:
  ///   - pem: trusted roots in place of the system's; nil: the system's.
  ///   - file: a PEM file with roots that count beside the system's; nil: none.
  func trust(_ pem: String?, and file: String?) throws(MailError) {
    if let pem, !pem.isEmpty {
      let bytes = Array(pem.utf8)
      try check(ccurl_set_copy(handle, CURLOPT_CAINFO_BLOB, bytes, bytes.count))
    } else if let file {
      try set(CURLOPT_CAINFO, file)
      // The file replaces the system's bundle; the same roots stand in this folder.
      try set(CURLOPT_CAPATH, "/etc/ssl/certs")
    }
  }

  /// Bypasses proxies for loopback hosts.
  func goDirectly(to host: String) throws(MailError) {
    if Loopback.isLoopback(host) { try set(CURLOPT_NOPROXY, "*") }
  }

  /// Goes through a proxy, or directly; what libcurl reads from the environment does not count.
  func go(through proxy: ProxyServer?) throws(MailError) {
    try set(CURLOPT_NOPROXY, proxy == nil ? "*" : "")
    guard let proxy else { return }
    do { try door.targets.check(door.host) } catch { throw MailError(.settings, error.description) }
    door.isProxied = true
    try set(CURLOPT_PROXY, "http://\(proxy.authority)")
    try set(CURLOPT_HTTPPROXYTUNNEL, 1)
    guard let user = proxy.user else { return }
    try set(CURLOPT_PROXYUSERNAME, user)
    try set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
  }

  /// Why a transfer through a proxy failed, if it failed there.
  func proxyProblem(_ code: CURLcode, _ proxy: ProxyServer, target: String) -> ProxyProblem? {
    let status = long(CURLINFO_HTTP_CONNECTCODE)
    guard status == 0 else {
      return (200..<300).contains(status)
        ? nil : ProxyProblem(status: status, detail: "", proxy: proxy, target: target)
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
      return ProxyProblem(.unreachable, "the proxy \(proxy.authority) cannot be reached: \(words(code))")
    // Without an answer to CONNECT.
    case CURLE_OPERATION_TIMEDOUT:
      return ProxyProblem(.timedOut, "the proxy \(proxy.authority) did not answer in time")
    case CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL,
      CURLE_PROXY:
      return ProxyProblem(.badAnswer, "the answer of the proxy \(proxy.authority) cannot be read: \(words(code))")
    default: return nil
    }
  }

  func perform() -> CURLcode { curl_easy_perform(handle) }

  /// Why no address of the host was connected to, if it was ours to refuse them.
  var refusal: RefusedTarget? { door.isOpened ? nil : door.refusal }

  /// libcurl's description of a failure.
  func words(_ code: CURLcode) -> String {
    if let refusal { return refusal.description }
    return message[0] == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: message)
  }

  /// The meaning of a failed transfer.
  func failure(_ code: CURLcode) -> MailError.Code? {
    // What OpenSSL says about an answer that is not TLS.
    if code == CURLE_SSL_CONNECT_ERROR, words(code).contains("wrong version number") { return .speaksPlain }
    return Self.failure(code)
  }

  func long(_ info: CURLINFO) -> Int {
    var value = 0
    return ccurl_get_long(handle, info, &value) == CURLE_OK ? value : 0
  }

  func check(_ code: CURLcode) throws(MailError) {
    guard code == CURLE_OK else { throw MailError(.settings, String(cString: curl_easy_strerror(code))) }
  }

  /// The meaning of a failed connection; nil for other failures.
  private static func failure(_ code: CURLcode) -> MailError.Code? {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
      CURLE_GOT_NOTHING:
      .unreachable
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      .tls
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .settings
    default: nil
    }
  }
}
