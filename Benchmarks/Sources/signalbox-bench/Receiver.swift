import Foundation
import Glibc
import HTTP2
import OpenSSL
import Reactor
import Synchronization

/// A server that accepts every push, at once or after a time: as light as it can be, so that the clients are the limit.
/// It may refuse one in so many, in two ways in turn.
final class Receiver: ServerHandler {
  private let count = Atomic<Int>(0)
  /// One in how many is refused; 0: none.
  private let refused: Int
  private let delay: Duration?

  init(refused: Int, delay: Duration?) {
    self.refused = refused
    self.delay = delay
  }

  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue
    let id = request.fields["apns-id"] ?? ""
    if refused > 0, number.isMultiple(of: refused) {
      let isDead = (number / refused).isMultiple(of: 2)
      // Long after any registration, or it would count for nothing.
      let body = isDead ? #"{"reason":"Unregistered","timestamp":4102444800000}"# : #"{"reason":"BadDeviceToken"}"#
      responder.respond(
        ServerResponse(
          status: isDead ? 410 : 400, fields: [HeaderField("apns-id", id, indexing: .never)], body: Array(body.utf8)))
      return
    }
    let response =
      Self.answer(to: request.path)
      ?? ServerResponse(status: 200, fields: [HeaderField("apns-id", id, indexing: .never)])
    if let delay { responder.respond(response, after: delay) } else { responder.respond(response) }
  }

  /// What Google and JPush answer; nil: an address of APNs.
  private static func answer(to path: String) -> ServerResponse? {
    if path.hasPrefix("/3/") { return nil }
    let body =
      path == "/token"
      ? #"{"access_token":"bench","expires_in":3599,"token_type":"Bearer"}"#
      : path.hasPrefix("/v3/")
        ? #"{"sendno":"0","msg_id":"18100287008546176"}"#
        : #"{"name":"projects/simulator/messages/0:1500415314455276%31bd1c9631bd1c96"}"#
    return ServerResponse(
      status: 200, fields: [HeaderField("content-type", "application/json")], body: Array(body.utf8))
  }

  /// Serves until standard input ends. The authority's certificate is in `folder/ca.pem`.
  ///
  /// - Parameter delay: between a push and its answer, in milliseconds; 0 for none.
  static func run(folder: String, port: UInt16, refused: Int, delay: Int) async throws {
    let authority = try CertificateAuthority(
      subject: [.commonName("bench")], notBefore: Date() - 3600, notAfter: Date() + 86_400)
    let (certificate, key) = try authority.issueServer(
      names: ["localhost", "127.0.0.1"], notBefore: Date() - 3600, notAfter: Date() + 86_400)
    try authority.certificate.pem.write(toFile: folder + "/ca.pem", atomically: true, encoding: .utf8)
    let tls = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key), alpn: ["h2"])
    let receiver = Receiver(refused: refused, delay: delay > 0 ? .milliseconds(delay) : nil)
    let server = HTTP2Server(loop: try EventLoop(name: "server"), tls: tls, handler: receiver)
    guard let loopback = SocketAddress(host: "127.0.0.1", port: port) else { return }
    print("listening \(try await server.start(on: loopback))")
    fflush(nil)
    _ = FileHandle.standardInput.readDataToEndOfFile()
    let answers = receiver.count.load(ordering: .relaxed)
    print("server: \(answers) answers, CPU \(cpuSeconds() / Double(max(1, answers)) * 1e6) us each")
  }
}
