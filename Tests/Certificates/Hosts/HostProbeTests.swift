import Certificates
import Foundation
import Glibc
import JSON
import OpenSSL
import Reactor
import Store
import TestSupport
import Testing

@Suite("Host probe")
struct HostProbeTests {
  private func probe(
    _ certificates: HostCertificates, _ host: ScriptedHost, _ start: HostAddress.StartProtocol = .tls,
    name: String? = nil, timeout: Duration = .seconds(5)
  ) throws -> HostOutcome {
    defer { host.stop() }
    return try HostProbe(trust: certificates.trust, timeout: timeout).look(at: host.asked(start, name: name))
  }

  @Test("the name that is asked for decides which certificate is seen")
  func serverName() throws {
    let certificates = try HostCertificates()
    let (one, two) = (try certificates.context(["one.example"]), try certificates.context(["two.example"], days: 5))
    let host = try ScriptedHost { $0.shakeHands(named: ["two.example": two], other: one) }
    defer { host.stop() }
    let probe = try HostProbe(trust: certificates.trust)
    let first = try probe.look(at: host.asked(name: "one.example")).get()
    #expect(first.names == ["one.example"] && first.nameMatches && first.trust == "trusted")
    #expect(first.notAfter == noon + 90 * day && first.tlsVersion == "TLSv1.3")
    #expect(first.address == "\(host.address)" && first.sha256.utf8.count == 95 && !first.serial.isEmpty)
    let second = try probe.look(at: host.asked(name: "two.example")).get()
    #expect(second.names == ["two.example"] && second.nameMatches && second.notAfter == noon + 5 * day)
    let figures = try probe.look(at: host.asked()).get()
    #expect(figures.names == ["one.example"] && !figures.nameMatches, "an address in figures is asked for no name")
  }

  @Test("a host that is reached by IPv6 only is seen as well")
  func six() throws {
    let certificates = try HostCertificates()
    let context = try certificates.context(["::1"])
    guard let host = try? ScriptedHost(host: "::1", { $0.shakeHands(other: context) }) else { return }
    let seen = try probe(certificates, host).get()
    #expect(seen.nameMatches && seen.address.hasPrefix("[::1]:"))
  }

  @Test("nothing is refused: self-signed, unknown, incomplete and expired certificates are seen and told")
  func findings() throws {
    let certificates = try HostCertificates()
    let other = try HostCertificates()
    func seen(_ context: TLSContext) throws -> HostSighting {
      try probe(certificates, try ScriptedHost { $0.shakeHands(other: context) }, name: "a.example").get()
    }
    #expect(try seen(HostCertificates.selfSigned(["a.example"])).trust == "self_signed")
    #expect(try seen(other.context(["a.example"])).trust == "incomplete", "the root is not shown")
    let bare = try seen(certificates.behindIntermediate(["a.example"], isShown: false))
    #expect(bare.trust == "incomplete" && bare.chain.count == 1)
    let whole = try seen(certificates.behindIntermediate(["a.example"], isShown: true))
    #expect(whole.trust == "trusted" && whole.chain.count == 2)
    #expect(whole.notAfter == noon + 20 * day, "the earliest end in the chain counts")
    #expect(whole.ends?.subject == "Test Intermediate")
    let expired = try seen(certificates.context(["b.example"], days: -1))
    #expect(expired.notAfter == noon - day && expired.trust == "trusted" && !expired.nameMatches)
  }

  @Test("STARTTLS of SMTP, IMAP, POP3 and PostgreSQL")
  func startTLS() throws {
    let certificates = try HostCertificates()
    let context = try certificates.context(["mail.example"])
    let scripts: [(HostAddress.StartProtocol, @Sendable (ScriptedConnection) -> Void)] = [
      (
        .smtp,
        { line in
          line.say("220-mail.example ESMTP\r\n220 hello\r\n")
          guard line.hear().hasPrefix("EHLO ") else { return }
          line.say("250-mail.example\r\n250-SIZE 1000\r\n250-STARTTLS\r\n250 HELP\r\n")
          guard line.hear() == "STARTTLS\r\n" else { return }
          line.say("220 go ahead\r\n")
        }
      ),
      (
        .imap,
        { line in
          line.say("* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n")
          guard line.hear() == "a STARTTLS\r\n" else { return }
          line.say("a OK begin\r\n")
        }
      ),
      (
        .pop3,
        { line in
          line.say("+OK ready\r\n")
          guard line.hear() == "STLS\r\n" else { return }
          line.say("+OK begin\r\n")
        }
      ),
      (
        .postgres,
        { line in
          guard line.hear().utf8.count > 0 else { return }
          line.say("S")
        }
      ),
    ]
    for (start, script) in scripts {
      let host = try ScriptedHost { line in
        script(line)
        line.shakeHands(other: context)
      }
      let outcome = try probe(certificates, host, start, name: "mail.example")
      #expect(try outcome.get().names == ["mail.example"], "\(start)")
    }
  }

  @Test("each way to show nothing has its name")
  func failures() throws {
    let certificates = try HostCertificates()
    let noTLS: [(HostFailure.Code, HostAddress.StartProtocol, @Sendable (ScriptedConnection) -> Void)] = [
      (.notTLS, .tls, { $0.say("220 mail.example ESMTP\r\n") }),
      (.closed, .tls, { _ in }),
      (.timeout, .tls, { _ = ($0.hear(), $0.hear()) }),
      (.timeout, .smtp, { $0.hear() }),
      (.timeout, .smtp, { $0.flood("220-hello\r\n") }),
      (.wrongProtocol, .smtp, { $0.say("HTTP/1.1 400 Bad Request\r\n\r\n") }),
      (.wrongProtocol, .smtp, { $0.say(String(repeating: "x", count: 40_000)) }),
      (.startTLSNotOffered, .smtp, { $0.say("554 no\r\n") }),
      (
        .startTLSNotOffered, .smtp,
        { line in
          line.say("220 hello\r\n")
          line.hear()
          line.say("250-mail.example\r\n250 HELP\r\n")
        }
      ),
      (
        .wrongProtocol, .smtp,
        { line in
          line.say("220 hello\r\n")
          line.hear()
          line.say("250 STARTTLS\r\n")
          line.hear()
          line.say("220 go\r\n250 injected\r\n")
        }
      ),
      (.startTLSNotOffered, .imap, { line in line.say("* BYE no\r\n") }),
      (.startTLSNotOffered, .pop3, { line in line.say("-ERR no\r\n") }),
      (
        .startTLSNotOffered, .postgres,
        { line in
          line.hear()
          line.say("N")
        }
      ),
    ]
    for (code, start, script) in noTLS {
      let host = try ScriptedHost(script)
      let outcome = try probe(certificates, host, start, name: "a.example", timeout: .milliseconds(700))
      guard case .failure(let failure) = outcome else {
        Issue.record("\(code) over \(start): a certificate was seen")
        continue
      }
      #expect(failure.code == code, "\(start): \(failure)")
      #expect(!failure.description.contains("{"), "\(failure)")
    }
  }

  @Test("no name, and nobody there")
  func nobody() throws {
    let certificates = try HostCertificates()
    let host = try ScriptedHost { _ in }
    let place = host.asked()
    #expect(throws: HostFailure.self) { try probe(certificates, host, name: "a.example").get() }
    let gone = try HostProbe(trust: certificates.trust).look(at: place)
    guard case .failure(let refused) = gone else { return #expect(Bool(false), "nobody listens there any more") }
    #expect(refused.code == .refused)
    let unknown = try HostProbe(trust: certificates.trust).look(at: HostAddress(host: "host.invalid", port: 443))
    guard case .failure(let failure) = unknown else { return #expect(Bool(false), ".invalid has no address") }
    #expect(failure.code == .noSuchName)
  }

  @Test(
    "link-local and metadata addresses are not connected to, however they are written",
    arguments: [
      "169.254.169.254", "169.254.0.1", "100.100.100.200", "::ffff:169.254.169.254", "::ffff:100.100.100.200",
      "fe80::1", "febf::1", "fd00:ec2::254", "fd20:ce::254",
    ])
  func forbidden(host: String) throws {
    let outcome = try HostProbe(timeout: .milliseconds(1)).look(at: HostAddress(host: host, port: 443))
    #expect(throws: HostFailure(.forbiddenAddress, detail: host)) { try outcome.get() }
  }

  @Test("with a list of targets, a host that is not on it is not connected to")
  func targets() throws {
    var rules = ProxyRules.none
    rules.targets = try TargetList(["10.0.0.0/8", "*.corp.example"])
    let probe = try HostProbe(timeout: .milliseconds(1), proxies: rules)
    let outcome = probe.look(at: HostAddress(host: "127.0.0.1", port: 443))
    #expect(throws: HostFailure(.notAllowed, detail: "127.0.0.1")) { try outcome.get() }
    #expect(HostFailure(.notAllowed, detail: "127.0.0.1").description.contains("--allow-target"))
  }

  @Test("a server that wants a certificate of its clients is seen nevertheless")
  func clientCertificate() throws {
    let certificates = try HostCertificates()
    let (certificate, key) = try certificates.authority.issueServer(
      names: ["a.example"], notBefore: noon - day, notAfter: noon + day)
    let identity = TLSIdentity(chain: [certificate], key: key)
    for version in TLSContext.Version.allCases {
      let context = try TLSContext.server(
        identity: identity, clientCertificate: .required(certificates.trust), versions: version...version)
      let host = try ScriptedHost { $0.shakeHands(other: context) }
      #expect(try probe(certificates, host, name: "a.example").get().nameMatches, "\(version)")
    }
  }

  @Test("OpenSSL's own server is understood, with TLS 1.2 too")
  func openssl() async throws {
    let command = try OpenSSLCommand()
    try command.makeIdentity()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    // It prints the port that it was given.
    process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-cert", "cert.pem", "-key", "key.pem"]
    process.currentDirectoryURL = command.folder
    process.standardInput = Pipe()
    let output = command.folder.appending(path: "output.txt")
    try Data().write(to: output)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    var port: UInt16?
    try await waitUntil("openssl names its port") {
      let text = try String(contentsOf: output, encoding: .utf8)
      let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
      port = line?.split(separator: ":").last.flatMap { UInt16($0) }
      return port != nil
    }
    let address = HostAddress(
      host: "127.0.0.1", port: try #require(port), serverName: "localhost")
    let seen = try HostProbe(trust: .system).look(at: address).get()
    #expect(seen.trust == "self_signed" && seen.nameMatches)
    #expect(seen.names.contains("localhost") && seen.tlsVersion == "TLSv1.2")
  }
}
