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
  private let targets: TargetList

  /// - Parameter targets: where connections may go.
  package init(_ server: SMTPServer, targets: TargetList = .any) { (self.server, self.targets) = (server, targets) }

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
      url: "\(server.url)/\(domain)", host: server.host, targets: targets, timeout: server.timeout,
      ciphers: Self.ciphers)
    try curl.goDirectly(to: server.host)
    try curl.trust(server.trustPEM)
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
    let place = Unmanaged.passUnretained(exchange).toOpaque()
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_READDATA, place))
    try curl.check(ccurl_set_transfer(curl.handle, CURLOPT_READFUNCTION, Exchange.read))
    try curl.check(ccurl_set_pointer(curl.handle, CURLOPT_DEBUGDATA, place))
    try curl.check(ccurl_set_debug(curl.handle, Exchange.note))
    return try withExtendedLifetime(exchange) { () throws(MailError) -> String in
      let code = curl.perform()
      // Closing the handle sends QUIT; its answer does not matter.
      let dialogue = exchange.dialogue
      if code == CURLE_OK { return dialogue.words }
      throw error(code, dialogue, curl)
    }
  }

  private func error(_ code: CURLcode, _ dialogue: SMTPDialogue, _ curl: CurlHandle) -> MailError {
    let library = curl.words(code)
    if let failure = dialogue.failure { return MailError(failure, hidden(dialogue.words)) }
    if code == CURLE_LOGIN_DENIED { return MailError(.authentication, hidden(library)) }
    let known = CurlHandle.failure(code) ?? .unreachable
    return MailError(known, hidden(library))
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

    init(_ bytes: [UInt8]) { self.bytes = bytes }

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
