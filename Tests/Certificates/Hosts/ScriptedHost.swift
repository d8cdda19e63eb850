import Foundation
import Glibc
import OpenSSL
import Reactor
import Store
import Synchronization
import TestSupport

/// A server on loopback that does with each connection as it is told, one after the other.
final class ScriptedHost: Sendable {
  let address: SocketAddress
  private let listener: Int32
  private let isStopped = Mutex(false)
  private let ended = DispatchSemaphore(value: 0)

  init(host: String = "127.0.0.1", _ serve: @escaping @Sendable (ScriptedConnection) -> Void) throws {
    listener = try Socket.listen(on: SocketAddress(host: host, port: 0)!)  // figures, written here
    address = try Socket.localAddress(of: listener)
    let thread = Thread { [self] in
      while !isStopped.withLock({ $0 }) {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 20) == 1, let accepted = try? Socket.accept(listener) else { continue }
        let connection = ScriptedConnection(accepted.descriptor)
        serve(connection)
        close(accepted.descriptor)
      }
      close(listener)
      ended.signal()
    }
    thread.start()
  }

  func stop() {
    isStopped.withLock { $0 = true }
    ended.wait()
  }

  /// As the probe is asked for it.
  func asked(_ start: HostAddress.StartProtocol = .tls, name: String? = nil) -> HostAddress {
    HostAddress(host: address.host, port: address.port, serverName: name, startProtocol: start)
  }
}

/// One connection of a scripted host.
struct ScriptedConnection {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  private func wait(_ events: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&waiting, 1, 3000) == 1
  }

  func say(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) } }

  /// Says it as fast as the other side takes it, for three seconds at most.
  func flood(_ text: String) {
    let bytes = Array(String(repeating: text, count: 5000).utf8)
    let end = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < end, wait(POLLOUT) {
      guard bytes.withUnsafeBytes({ send(descriptor, $0.baseAddress, $0.count, 0) }) > 0 else { return }
    }
  }

  /// What comes next, empty at the end.
  @discardableResult
  func hear() -> String {
    guard wait(POLLIN) else { return "" }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  /// What comes next, and stays to be read.
  private func peek() -> [UInt8] {
    guard wait(POLLIN) else { return [] }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK))
    return Array(buffer.prefix(max(0, count)))
  }

  /// Goes through a handshake; `named` is chosen if the client asks for its name, else `other`.
  func shakeHands(named: [String: TLSContext] = [:], other: TLSContext) {
    let hello = Data(peek())
    let context = named.first { hello.firstRange(of: Data($0.key.utf8)) != nil }?.value ?? other
    guard let connection = try? TLSConnection(context, descriptor: descriptor) else { return }
    var result = try? connection.handshake()
    while let next = result, next != .done {
      guard wait(next == .wantsRead ? POLLIN : POLLOUT) else { return }
      result = try? connection.handshake()
    }
    // The client hangs up.
    if result == .done { hear() }
  }
}

/// Authorities and certificates for hosts, made once.
struct HostCertificates {
  let authority: CertificateAuthority
  let intermediate: CertificateAuthority

  init() throws {
    authority = try CertificateAuthority(
      subject: [.commonName("Test Root")], notBefore: noon - 400 * day, notAfter: noon + 4000 * day)
    let (certificate, key) = try authority.issue(
      CertificateBlueprint(
        subject: [.commonName("Test Intermediate")], notBefore: noon - 300 * day, notAfter: noon + 20 * day,
        purpose: .authority))
    intermediate = CertificateAuthority(certificate: certificate, key: key)
  }

  /// What a probe with this trust believes.
  var trust: TLSTrust { .pem(Array(authority.certificate.pem.utf8)) }

  func context(_ names: [String], days: Double = 90) throws -> TLSContext {
    let (certificate, key) = try authority.issueServer(
      names: names, notBefore: noon - 10 * day, notAfter: noon + days * day)
    return try .server(identity: TLSIdentity(chain: [certificate], key: key))
  }

  /// Signed by the intermediate, which ends before it does.
  func behindIntermediate(_ names: [String], isShown: Bool) throws -> TLSContext {
    let (certificate, key) = try intermediate.issueServer(
      names: names, notBefore: noon - 10 * day, notAfter: noon + 90 * day)
    return try .server(
      identity: TLSIdentity(chain: [certificate] + (isShown ? [intermediate.certificate] : []), key: key))
  }

  static func selfSigned(_ names: [String]) throws -> TLSContext {
    let key = try PrivateKey.generateP256()
    let certificate = try CertificateAuthority.selfSigned(
      CertificateBlueprint(
        subject: [.commonName(names[0])], notBefore: noon - day, notAfter: noon + day, purpose: .server,
        alternativeNames: names), key: key)
    return try .server(identity: TLSIdentity(chain: [certificate], key: key))
  }
}
