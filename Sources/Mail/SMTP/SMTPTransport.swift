internal import CCurl
internal import Foundation
internal import OpenSSL
package import Reactor

/// Sends mails with libcurl. Blocks: call it on a thread that may block.
package struct SMTPTransport: Sendable {
  /// Those of Mozilla's "intermediate" settings: forward secrecy and authenticated encryption as everywhere, and also
  /// with DHE, because older mail servers have nothing better.
  private static let ciphers = TLSContext.ciphers + ":DHE+AESGCM:DHE+CHACHA20"

  package let server: SMTPServer
  private let rules: ProxyRules

  /// - Parameter rules: where connections may go, and whom they trust. Mail goes through no proxy.
  package init(_ server: SMTPServer, rules: ProxyRules = .none) { (self.server, self.rules) = (server, rules) }

  /// Delivers one mail to the server.
  ///
  /// - Returns: the server's confirmation, such as `250 2.0.0 queued as 4XyZ`.
  /// - Throws: `MailError`, with the server's message if there is one.
  @discardableResult
  package func send(_ message: MailMessage) throws(MailError) -> String {
    guard SMTPServer.isHost(server.host), (1...65_535).contains(server.port) else {
      throw MailError(.settings, "“\(server.host)” with port \(server.port) is not a valid server")
    }
    guard !server.isCareless else {
      throw MailError(.settings, "passwords are not sent without encryption; choose STARTTLS or TLS")
    }
    // The path is the name in EHLO: the sender's domain can be looked up.
    let domain = message.from.address.split(separator: "@").last.map(String.init) ?? "localhost"
    let curl = try CurlHandle(
      url: "\(server.url)/\(domain)", host: server.host, targets: rules.targets, timeout: server.timeout,
      ciphers: Self.ciphers)
    try curl.goDirectly(to: server.host)
    try curl.trust(server.trustPEM, and: rules.trustFile)
    let encryption =
      server.needsEncryption ? CURLUSESSL_ALL : server.security == .none ? CURLUSESSL_NONE : CURLUSESSL_TRY
    try curl.set(CURLOPT_USE_SSL, Int(encryption.rawValue))
    if let user = server.user {
      try curl.set(CURLOPT_USERNAME, user)
      try curl.set(CURLOPT_PASSWORD, server.password ?? "")
    }
    try curl.set(CURLOPT_MAIL_FROM, "<\(message.from.address)>")
    try curl.set(CURLOPT_MAIL_RCPT, ["<\(message.to.address)>"])
    try curl.set(CURLOPT_UPLOAD, 1)
    try curl.set(CURLOPT_VERBOSE, 1)

    let exchange = Exchange(message.bytes)
    if server.security != .tls { exchange.onSilence = { [self] in answersInTLS() } }
    let place = Unmanaged.passUnretained(exchange).toOpaque()
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_READDATA, place))
    try curl.check(ccurl_set_transfer(curl.handle, CURLOPT_READFUNCTION, Exchange.read))
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_DEBUGDATA, place))
    try curl.check(ccurl_set_debug(curl.handle, Exchange.note))
    try curl.set(CURLOPT_NOPROGRESS, 0)
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_XFERINFODATA, place))
    try curl.check(ccurl_set_progress(curl.handle, Exchange.progress))
    return try withExtendedLifetime(exchange) { () throws(MailError) -> String in
      let code = curl.perform()
      // Closing the handle sends QUIT; its answer does not matter.
      let dialogue = exchange.dialogue
      if code == CURLE_OK { return dialogue.words }
      if exchange.isSilent { throw MailError(.speaksTLS, "") }
      throw error(code, dialogue, curl)
    }
  }

  private func error(_ code: CURLcode, _ dialogue: SMTPDialogue, _ curl: CurlHandle) -> MailError {
    let library = curl.words(code)
    if let failure = dialogue.failure { return MailError(failure, hidden(dialogue.words)) }
    if code == CURLE_LOGIN_DENIED { return MailError(.authentication, hidden(library)) }
    let known = curl.failure(code) ?? .unreachable
    return MailError(known, hidden(library))
  }

  /// Whether the server answers a TLS handshake at once, as on port 465. Nothing is sent in it.
  private func answersInTLS() -> Bool {
    let name = server.host.contains(":") ? "[\(server.host)]" : server.host
    guard
      let curl = try? CurlHandle(
        url: "https://\(name):\(server.port)/", host: server.host, targets: rules.targets, timeout: 3,
        ciphers: Self.ciphers),
      (try? curl.goDirectly(to: server.host)) != nil, (try? curl.set(CURLOPT_SSL_VERIFYPEER, 0)) != nil,
      (try? curl.set(CURLOPT_SSL_VERIFYHOST, 0)) != nil, (try? curl.set(CURLOPT_CONNECT_ONLY, 1)) != nil
    else { return false }
    return curl.perform() == CURLE_OK
  }

  /// Removes the password from texts of a server that repeats its input.
  private func hidden(_ text: String) -> String {
    guard let password = server.password, !password.isEmpty else { return text }
    // RFC 4616: user and password in one text.
    let plain = "\0\(server.user ?? "")\0\(password)"
    let secrets = [Data(plain.utf8).base64EncodedString(), Data(password.utf8).base64EncodedString(), password]
    return secrets.reduce(text) { $0.replacing($1, with: "…") }
  }

  /// The outgoing mail, and the server's answers.
  private final class Exchange {
    private let bytes: [UInt8]
    private var position = 0
    var dialogue = SMTPDialogue()
    /// Asked once, if the server has not greeted a second after the transfer began; true stops the transfer.
    var onSilence: (() -> Bool)?
    private(set) var isSilent = false
    private let began = ContinuousClock.now

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// About once a second while nothing comes: https://curl.se/libcurl/c/CURLOPT_XFERINFOFUNCTION.html.
    static let progress: curl_xferinfo_callback = { place, _, _, _, _ in
      guard let place else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(place).takeUnretainedValue()
      guard let ask = exchange.onSilence, ContinuousClock.now - exchange.began > .seconds(1) else { return 0 }
      exchange.onSilence = nil
      exchange.isSilent = exchange.dialogue.isUnanswered && ask()
      return exchange.isSilent ? 1 : 0
    }

    /// Fills the buffer, 0 at the end: https://curl.se/libcurl/c/CURLOPT_READFUNCTION.html.
    static let read: curl_read_callback = { buffer, size, count, place in
      guard let buffer, let place else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(place).takeUnretainedValue()
      let room = min(size * count, exchange.bytes.count - exchange.position)
      exchange.bytes.withUnsafeBytes { all in
        guard let start = all.baseAddress, room > 0 else { return }
        UnsafeMutableRawPointer(buffer).copyMemory(from: start + exchange.position, byteCount: room)
      }
      exchange.position += room
      return room
    }

    /// The text has no terminating zero: https://curl.se/libcurl/c/CURLOPT_DEBUGFUNCTION.html.
    static let note: curl_debug_callback = { _, kind, text, count, place in
      guard let text, let place else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(place).takeUnretainedValue()
      guard kind == CURLINFO_HEADER_IN || kind == CURLINFO_HEADER_OUT else { return 0 }
      let line = String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
      if kind == CURLINFO_HEADER_IN { exchange.dialogue.received(line) } else { exchange.dialogue.sent(line) }
      return 0
    }
  }
}
