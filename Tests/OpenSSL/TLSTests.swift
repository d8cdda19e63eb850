import Glibc
import OpenSSL
import Reactor
import Testing

/// A client and a server in one thread, joined by a pair of sockets.
private final class Pair {
  let client: TLSConnection
  let server: TLSConnection
  private let descriptors: [Int32]

  init(_ clientContext: TLSContext, _ serverContext: TLSContext, host: String) throws {
    Socket.ignoreBrokenPipeSignal()
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw SystemError("socketpair") }
    descriptors = pair
    client = try TLSConnection(clientContext, descriptor: pair[0], serverName: host)
    server = try TLSConnection(serverContext, descriptor: pair[1])
  }

  deinit { descriptors.forEach { close($0) } }

  /// Runs both handshakes; the errors of both sides.
  func handshake() -> (client: TLSError?, server: TLSError?) {
    var errors: (client: TLSError?, server: TLSError?)
    var done = (client: false, server: false)
    for _ in 0..<20 {
      if !done.client {
        do { done.client = try client.handshake() == .done } catch { (errors.client, done.client) = (error, true) }
      }
      if !done.server {
        do { done.server = try server.handshake() == .done } catch { (errors.server, done.server) = (error, true) }
      }
      if done == (true, true) { break }
      // The side that failed has sent its alert; the other has to see the end.
      if errors.client != nil, !done.server { continue }
    }
    return errors
  }

  /// What one side reads until it would wait.
  static func read(_ connection: TLSConnection) throws -> (bytes: [UInt8], last: TLSConnection.IOResult) {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1000)
    while true {
      let result = try buffer.withUnsafeMutableBytes { try connection.read(into: $0) }
      guard case .bytes(let count) = result else { return (all, result) }
      all += buffer[..<count]
    }
  }
}

@Suite("TLS")
struct TLSTests {
  @Test("bytes go both ways once both sides agree, with either version", arguments: TLSContext.Version.allCases)
  func roundTrip(version: TLSContext.Version) throws {
    let authority = try TLSTestAuthority()
    let pair = try Pair(
      .client(trust: .pem(authority.pem), alpn: ["h2"], versions: version...version),
      .server(identity: authority.identity(), alpn: ["http/1.1", "h2"]), host: "localhost")
    let errors = pair.handshake()
    #expect(errors.client == nil && errors.server == nil)
    #expect(pair.client.alpn == "h2")
    #expect(pair.server.alpn == "h2")
    #expect(pair.client.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
    #expect(pair.client.peerCertificateDER?.isEmpty == false)
    #expect(pair.server.peerCertificateDER == nil)

    let sent = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
    var offset = 0
    var received: [UInt8] = []
    while offset < sent.count {
      let result = try sent.withUnsafeBytes {
        try pair.client.write(from: UnsafeRawBufferPointer(rebasing: $0[offset...]))
      }
      if case .bytes(let count) = result { offset += count }
      let (bytes, last) = try Pair.read(pair.server)
      received += bytes
      #expect(last == .wantsRead)
    }
    #expect(received == sent)
    pair.client.shutdown()
    #expect(try Pair.read(pair.server).last == .end)
  }

  @Test("the server's own order of protocols counts; a client that offers none is served")
  func protocols() throws {
    let authority = try TLSTestAuthority()
    let server = try TLSContext.server(identity: authority.identity(), alpn: ["h2"])
    let silent = try Pair(.client(trust: .pem(authority.pem)), server, host: "localhost")
    #expect(silent.handshake() == (nil, nil))
    #expect(silent.client.alpn == nil)
    let stranger = try Pair(.client(trust: .pem(authority.pem), alpn: ["http/1.1"]), server, host: "localhost")
    #expect(stranger.handshake().client?.code == .applicationProtocol)
  }

  @Test("a server is refused if its authority is not trusted")
  func unknownAuthority() throws {
    let (authority, other) = (try TLSTestAuthority(), try TLSTestAuthority())
    let pair = try Pair(
      .client(trust: .pem(other.pem)), .server(identity: authority.identity()), host: "localhost")
    let errors = pair.handshake()
    #expect(errors.client?.code == .unknownAuthority)
    #expect(errors.server?.code == .identityRefused)
    #expect(errors.server?.message.contains("unknown CA") == true)
  }

  @Test(
    "the certificate must be for the host that was asked for",
    arguments: [
      ("localhost", true), ("127.0.0.1", true), ("example.org", false), ("127.0.0.2", false), ("LOCALHOST", true),
    ])
  func hosts(host: String, fits: Bool) throws {
    let authority = try TLSTestAuthority()
    let pair = try Pair(
      .client(trust: .pem(authority.pem)), .server(identity: authority.identity()), host: host)
    #expect(pair.handshake().client?.code == (fits ? nil : .wrongHost))
  }

  @Test("an expired certificate is refused")
  func expired() throws {
    let authority = try TLSTestAuthority()
    let pair = try Pair(
      .client(trust: .pem(authority.pem)), .server(identity: authority.identity(days: -1)), host: "localhost")
    #expect(pair.handshake().client?.code == .expired)
  }

  @Test("a common name is not a host name: only the alternative names count")
  func commonName() throws {
    let authority = try TLSTestAuthority()
    let identity = try authority.identity("localhost", names: "DNS:elsewhere.example")
    let pair = try Pair(.client(trust: .pem(authority.pem)), .server(identity: identity), host: "localhost")
    #expect(pair.handshake().client?.code == .wrongHost)
  }

  @Test("no common version is said in words")
  func versions() throws {
    let authority = try TLSTestAuthority()
    let pair = try Pair(
      .client(trust: .pem(authority.pem), versions: .tls13 ... .tls13),
      .server(identity: authority.identity(), versions: .tls12 ... .tls12), host: "localhost")
    let errors = pair.handshake()
    #expect(errors.client?.code == .protocolVersion)
    #expect(errors.server?.code == .protocolVersion)
  }

  @Test("a server that requests a client certificate sees it, whoever issued it")
  func requestedCertificate() throws {
    let (authority, stranger) = (try TLSTestAuthority(), try TLSTestAuthority())
    let server = try TLSContext.server(identity: authority.identity(), clientCertificate: .requestedNotRequired)
    let pair = try Pair(
      .client(trust: .pem(authority.pem), identity: stranger.identity("Client")), server, host: "localhost")
    #expect(pair.handshake() == (nil, nil))
    #expect(pair.server.peerCertificateDER?.isEmpty == false)
    let without = try Pair(.client(trust: .pem(authority.pem)), server, host: "localhost")
    #expect(without.handshake() == (nil, nil))
    #expect(without.server.peerCertificateDER == nil)
  }

  @Test("a refused client certificate is an authentication error: at the handshake, or with 1.3 at the first read")
  func refusedCertificate() throws {
    let (authority, stranger) = (try TLSTestAuthority(), try TLSTestAuthority())
    let identity = try stranger.identity("Client")
    for version in TLSContext.Version.allCases {
      let pair = try Pair(
        .client(trust: .pem(authority.pem), identity: identity, versions: version...version),
        .server(identity: authority.identity(), clientCertificate: .required(.pem(authority.pem))), host: "localhost")
      let errors = pair.handshake()
      #expect(errors.server?.code == .unknownAuthority)
      switch version {
      case .tls12: #expect(errors.client?.code == .identityRefused)
      case .tls13:
        #expect(errors.client == nil)
        #expect(throws: TLSError(.identityRefused, "")) { try Pair.read(pair.client) }
      }
    }
  }

  @Test("a required client certificate that is missing is an authentication error with 1.3")
  func missingCertificate() throws {
    let authority = try TLSTestAuthority()
    let pair = try Pair(
      .client(trust: .pem(authority.pem)),
      .server(identity: authority.identity(), clientCertificate: .required(.pem(authority.pem))), host: "localhost")
    #expect(pair.handshake().server?.code == .badCertificate)
    let error = #expect(throws: TLSError(.identityRefused, "")) { try Pair.read(pair.client) }
    #expect(error?.message.contains("none is configured") == true)
    #expect(error?.message.contains("refused the client certificate") == false)
  }

  @Test("identity and trust that cannot be read are refused with their own codes")
  func badFiles() throws {
    let (one, other) = (try TLSTestAuthority(), try TLSTestAuthority())
    let broken = TLSIdentity(certificateChainPEM: Array("nothing".utf8), privateKeyPEM: [])
    #expect(throws: TLSError(.identity, "")) { try TLSContext.server(identity: broken) }
    let keyless = TLSIdentity(certificateChainPEM: one.pem, privateKeyPEM: Array("-----BEGIN PRIVATE KEY-----".utf8))
    #expect(throws: TLSError(.identity, "")) { try TLSContext.server(identity: keyless) }
    #expect(throws: TLSError(.trust, "")) { try TLSContext.client(trust: .pem(Array("nothing".utf8))) }
    #expect(throws: TLSError(.trust, "")) { try TLSContext.client(trust: .pem([])) }
    _ = other
    #expect("\(try one.identity())" == "TLSIdentity")
  }

  @Test("a peer without TLS is recognised")
  func plainPeer() throws {
    Socket.ignoreBrokenPipeSignal()
    let authority = try TLSTestAuthority()
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    defer { pair.forEach { close($0) } }
    let server = try TLSConnection(.server(identity: authority.identity()), descriptor: pair[0])
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    #expect(send(pair[1], request, request.utf8.count, 0) == request.utf8.count)
    #expect(throws: TLSError(.notTLS, "")) { try server.handshake() }
    let client = try TLSConnection(
      .client(trust: .pem(authority.pem)), descriptor: pair[1], serverName: "localhost")
    #expect(throws: TLSError.self) {
      _ = try client.handshake()
      shutdown(pair[0], Int32(SHUT_RDWR))
      _ = try client.handshake()
    }
  }
}
