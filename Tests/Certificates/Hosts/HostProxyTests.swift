import Certificates
import Foundation
import OpenSSL
import Reactor
import Store
import TestSupport
import Testing

@Suite("Host probe through a proxy")
struct HostProxyTests {
  private func outcome(
    _ conduct: (ScriptedHost) -> TestProxy.Conduct, _ certificates: HostCertificates,
    _ start: HostAddress.StartProtocol = .tls, serve: @escaping @Sendable (ScriptedConnection) -> Void
  ) throws -> (outcome: HostOutcome, requests: [String], proxy: UInt16) {
    let host = try ScriptedHost(serve)
    defer { host.stop() }
    let proxy = try TestProxy(conduct(host))
    defer { proxy.close() }
    let address = HostAddress(host: "one.invalid", port: 443, startProtocol: start)
    let probe = try HostProbe(
      trust: certificates.trust, timeout: .seconds(5),
      proxies: ProxyRules(always: proxy.server(user: "ann", password: "s3cret")))
    return (probe.look(at: address), proxy.requests, proxy.port)
  }

  @Test("a host that only the proxy knows is seen, and so is one whose greeting comes with the proxy's answer")
  func seen() throws {
    let certificates = try HostCertificates()
    let context = try certificates.context(["one.invalid"])
    let (plain, requests, port) = try outcome({ .connects(to: $0.address.port) }, certificates) {
      $0.shakeHands(other: context)
    }
    let sighting = try plain.get()
    #expect(sighting.names == ["one.invalid"] && sighting.nameMatches)
    #expect(sighting.address == "one.invalid:443 through the proxy 127.0.0.1:\(port)")
    #expect(requests.first?.hasPrefix("CONNECT one.invalid:443 HTTP/1.1\r\n") == true)
    let early = "HTTP/1.1 200 OK\r\n\r\n* OK ready\r\n"
    let (imap, _, _) = try outcome({ .connectsSaying(early, to: $0.address.port) }, certificates, .imap) {
      $0.hear()
      $0.say("a OK begin\r\n")
      $0.shakeHands(other: context)
    }
    #expect(try imap.get().names == ["one.invalid"])
  }

  @Test("a proxy's refusal is a finding with the code of its reason, without the password")
  func refused() throws {
    let certificates = try HostCertificates()
    for (conduct, code) in [
      (TestProxy.Conduct.says("HTTP/1.1 407 No\r\n\r\n"), "ProxyAuthenticationRequired"),
      (.says("HTTP/1.1 403 No\r\n\r\n"), "ProxyForbidden"), (.closes, "ProxyBadAnswer"),
      (.says("HTTP/1.1 502 No\r\n\r\n"), "ProxyCannotConnect"),
    ] {
      let (outcome, _, _) = try outcome({ _ in conduct }, certificates) { _ in }
      guard case .failure(let failure) = outcome else {
        Issue.record("\(code): seen")
        continue
      }
      #expect(failure.code == .proxy)
      #expect(failure.description.contains(code), "\(failure)")
      #expect(!failure.description.contains("s3cret"))
    }
  }

  @Test("a probe goes through a proxy of others, with and without the right password", arguments: OtherProxy.installed)
  func others(program: OtherProxy) async throws {
    let certificates = try HostCertificates()
    let context = try certificates.context(["localhost"])
    let host = try ScriptedHost { $0.shakeHands(other: context) }
    defer { host.stop() }
    let address = HostAddress(host: "localhost", port: host.address.port, startProtocol: .tls)
    try await program.with(login: ("ann", "s3cret")) { proxy, log in
      func look(password: String) throws -> HostOutcome {
        let server = ProxyServer(host: proxy.host, port: proxy.port, user: "ann", password: password)
        return try HostProbe(trust: certificates.trust, timeout: .seconds(5), proxies: ProxyRules(always: server))
          .look(at: address)
      }
      let sighting = try look(password: "s3cret").get()
      #expect(sighting.names == ["localhost"] && log().contains("CONNECT localhost:\(host.address.port)"), "\(log())")
      guard case .failure(let failure) = try look(password: "wrong") else {
        Issue.record("seen")
        return
      }
      #expect(failure.description.contains("ProxyAuthenticationRequired"), "\(failure)")
    }
  }
}
