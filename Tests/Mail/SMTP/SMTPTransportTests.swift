import Foundation
import Mail
import TestSupport
import Testing

@Suite("SMTP: against a real server")
struct SMTPTransportTests {
  private static func mail(to: String = "ops@example.org") throws -> MailMessage {
    MailMessage(
      from: try #require(MailAddress("box@example.com", name: "信号箱")), to: try #require(MailAddress(to)),
      subject: "证书将在 30 天后过期", text: ".dot\n证书\n", html: "<p>证书</p>", identifier: "m-1",
      date: Date(timeIntervalSince1970: 1_795_176_000), language: "zh-Hans")
  }

  private static func error(_ server: SMTPServer, to: String = "ops@example.org") throws -> MailError {
    let mail = try mail(to: to)
    do throws(MailError) {
      let answer = try SMTPTransport(server).send(mail)
      throw MailError(.settings, "it was taken: \(answer)")
    } catch {
      return error
    }
  }

  @Test("a mail arrives whole, and the server's answer comes back")
  func plain() throws {
    let server = try SMTPTestServer()
    let answer = try SMTPTransport(SMTPServer(host: "127.0.0.1", port: server.port, security: .none)).send(Self.mail())
    #expect(answer == "250 2.0.0 queued as 1")
    let mail = try #require(try server.mails().first)
    #expect(mail.from == "box@example.com" && mail.to == ["ops@example.org"])
    #expect(mail.headers["subject"] == "证书将在 30 天后过期")
    #expect(mail.text == ".dot\n证书\n" && mail.html?.contains("<p>证书</p>") == true)
    #expect(mail.headers["message-id"] == "<m-1@example.com>")
  }

  @Test("STARTTLS and TLS, signed in; only with a certificate that is trusted", arguments: ["starttls", "tls"])
  func encrypted(security: String) throws {
    let identity = try OpenSSLCommand()
    try identity.makeIdentity(subject: "/CN=localhost")
    var mode = SMTPTestServer.Mode()
    (mode.security, mode.identity) = (security, identity.folder)
    (mode.user, mode.password) = ("box", "p4ss\"wörd")
    let server = try SMTPTestServer(mode)
    var settings = SMTPServer(
      host: "127.0.0.1", port: server.port, security: try #require(.init(rawValue: security)), user: "box",
      password: "p4ss\"wörd", trustPEM: try identity.text("cert.pem"))
    #expect(try SMTPTransport(settings).send(Self.mail()).hasPrefix("250 "))
    settings.password = "wrong-secret"
    let refused = try Self.error(settings)
    #expect(refused.code == .authentication)
    #expect(refused.words.contains("535 5.7.8 these are not the right words"))
    #expect(!"\(refused)".contains("wrong-secret"))
    #expect(!"\(refused)".contains(Data("\0box\0wrong-secret".utf8).base64EncodedString()))
    settings.trustPEM = nil
    #expect(try Self.error(settings).code == .tls)
    let other = try OpenSSLCommand()
    try other.makeIdentity(subject: "/CN=localhost")
    settings.trustPEM = try other.text("cert.pem")
    #expect(try Self.error(settings).code == .tls)
    #expect(try server.mails().count == 1)
  }

  @Test("a certificate for another name is not taken")
  func otherName() throws {
    let identity = try OpenSSLCommand()
    try identity(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
      "-out", "cert.pem", "-days", "2", "-subj", "/CN=mail.example.net", "-addext",
      "subjectAltName=DNS:mail.example.net")
    var mode = SMTPTestServer.Mode()
    (mode.security, mode.identity) = ("tls", identity.folder)
    let server = try SMTPTestServer(mode)
    let settings = SMTPServer(
      host: "127.0.0.1", port: server.port, security: .tls, trustPEM: try identity.text("cert.pem"))
    #expect(try Self.error(settings).code == .tls)
  }

  @Test("without STARTTLS nothing is sent if it is wanted, and a password never")
  func noDowngrade() throws {
    let server = try SMTPTestServer()
    var settings = SMTPServer(host: "127.0.0.1", port: server.port, security: .startTLS)
    #expect(try Self.error(settings).code == .tls)
    settings.security = .optional
    #expect(try SMTPTransport(settings).send(Self.mail()).hasPrefix("250 "))
    let careless = SMTPServer(host: "mail.example.com", security: .none, user: "box", password: "secret")
    #expect(careless.isCareless)
    #expect(try Self.error(careless).code == .settings)
    #expect(try server.mails().count == 1)
  }

  @Test("refusals come with the server's own words")
  func refusals() throws {
    var mode = SMTPTestServer.Mode()
    mode.rejected = ["gone@example.org"]
    mode.failures = 1
    let server = try SMTPTestServer(mode)
    let settings = SMTPServer(host: "127.0.0.1", port: server.port, security: .none)
    let recipient = try Self.error(settings, to: "gone@example.org")
    #expect(recipient.code == .recipient)
    #expect(recipient.words == "550 5.1.1 <gone@example.org>: nobody of that name here")
    let later = try Self.error(settings)
    #expect(later.code == .busy && later.words.contains("451 4.3.0 come back later"))
    #expect(try SMTPTransport(settings).send(Self.mail()).hasPrefix("250 "))
  }

  @Test("STARTTLS to a port that speaks TLS from the start is named as that, long before the time-out")
  func speaksTLS() throws {
    let identity = try OpenSSLCommand()
    try identity.makeIdentity(subject: "/CN=localhost")
    var mode = SMTPTestServer.Mode()
    (mode.security, mode.identity) = ("tls", identity.folder)
    let server = try SMTPTestServer(mode)
    for security in [SMTPServer.Security.startTLS, .optional, .none] {
      let began = ContinuousClock.now
      let error = try Self.error(SMTPServer(host: "127.0.0.1", port: server.port, security: security))
      #expect(error.code == .speaksTLS && error.description.contains("choose TLS"), "\(error)")
      #expect(ContinuousClock.now - began < .seconds(14), "libcurl itself waits for 15 s")
    }
  }

  @Test("TLS to a port that speaks plain text is named as that")
  func speaksPlain() throws {
    let server = try SMTPTestServer()
    let error = try Self.error(SMTPServer(host: "127.0.0.1", port: server.port, security: .tls))
    #expect(error.code == .speaksPlain, "\(error)")
  }

  @Test(
    "a host is a name or an address, without scheme and port",
    arguments: [
      ("smtp.example.com", true), ("192.0.2.1", true), ("::1", true), ("2001:db8::7", true), ("mail_relay", true),
      ("smtp.example.com:587", false), ("localhost:18525", false), ("smtp://x", false), ("a b", false), ("", false),
      ("1:2", false), ("x:y:z", false),
    ])
  func hosts(text: String, isHost: Bool) { #expect(SMTPServer.isHost(text) == isHost) }

  @Test("host and port in one text are taken apart")
  func places() {
    #expect(SMTPServer.place("smtp.example.com:587").map { "\($0.host) \($0.port)" } == "smtp.example.com 587")
    #expect(SMTPServer.place("[::1]:25").map { "\($0.host) \($0.port)" } == "::1 25")
    for text in ["smtp.example.com", "::1", "a:0", "a:99999", "a b:25", "smtp://a:25"] {
      #expect(SMTPServer.place(text) == nil, "\(text)")
    }
  }

  @Test("no listener, no such name, no host, and a cloud's metadata service")
  func unreachable() throws {
    let port = try SMTPTestServer().port  // ended at once: nobody listens there any more
    #expect(try Self.error(SMTPServer(host: "127.0.0.1", port: port, security: .none)).code == .unreachable)
    #expect(try Self.error(SMTPServer(host: "nobody.invalid", security: .none)).code == .unreachable)
    #expect(try Self.error(SMTPServer(host: "a b", security: .none)).code == .settings)
    #expect(try Self.error(SMTPServer(host: "169.254.169.254", port: 80, security: .none)).code == .unreachable)
  }
}
