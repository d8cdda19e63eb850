// Client CPU of Signalbox's APNs provider against h2load on the same server, see run.sh beside it.
import Foundation
import Glibc
import HTTP2
import OpenSSL
import Providers
import Push
import Reactor
import Synchronization

func cpu() -> (user: Double, system: Double) {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return (
    Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6,
    Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
  )
}

final class Accept: ServerHandler {
  let count = Atomic<Int>(0)
  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    count.wrappingAdd(1, ordering: .relaxed)
    let id = request.fields["apns-id"] ?? ""
    responder.respond(ServerResponse(status: 200, fields: [HeaderField("apns-id", id, indexing: .never)]))
  }
}

func serve(folder: String, port: UInt16) async throws {
  let authority = try CertificateAuthority(
    subject: [.commonName("bench")], notBefore: Date() - 3600, notAfter: Date() + 86_400)
  let (certificate, key) = try authority.issueServer(
    names: ["localhost", "127.0.0.1"], notBefore: Date() - 3600, notAfter: Date() + 86_400)
  try authority.certificate.pem.write(toFile: folder + "/ca.pem", atomically: true, encoding: .utf8)
  try certificate.pem.write(toFile: folder + "/server.pem", atomically: true, encoding: .utf8)
  try key.pkcs8PEM.write(toFile: folder + "/server.key", atomically: true, encoding: .utf8)
  let tls = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key), alpn: ["h2"])
  let loop = try EventLoop(name: "server")
  let handler = Accept()
  let server = HTTP2Server(loop: loop, tls: tls, handler: handler)
  let address = try await server.start(on: SocketAddress(host: "127.0.0.1", port: port)!)
  print("listening \(address)")
  fflush(nil)
  // Ends with standard input.
  _ = FileHandle.standardInput.readDataToEndOfFile()
  let (user, system) = cpu()
  let n = handler.count.load(ordering: .relaxed)
  print("server: \(n) answers, CPU \(user + system) s, per million \((user + system) / Double(max(1, n)) * 1e6) s")
}

struct Progress: Sendable { var done = 0, accepted = 0 }

func send(folder: String, port: UInt16, count: Int, connections: Int, streams: Int) async throws {
  let trust = Array(try Data(contentsOf: URL(filePath: folder + "/ca.pem")))
  let loop = try EventLoop(name: "apns")
  let resolver = BlockingPool(name: "dns", threads: 1)
  let progress = Mutex(Progress())
  let done = DispatchSemaphore(value: 0)
  var configuration = ClientGroupConfiguration()
  configuration.maximumConnections = connections
  configuration.connection.maximumStreams = streams
  let provider = try APNsProvider(
    .token(key: PrivateKey.generateP256(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
    endpoint: .custom(host: "localhost", port: port, trust: trust), loop: loop, resolver: resolver,
    configuration: configuration,
    report: { report in
      let finished = progress.withLock { progress in
        progress.done += report.results.count
        for (_, result) in report.results { if case .outcome(.accepted) = result { progress.accepted += 1 } }
        return progress.done >= count
      }
      if finished { done.signal() }
    })
  var notification = Notification()
  notification.title = String(repeating: "x", count: 180)
  let draft = PushDraft(
    app: "com.example.app", environment: .development, platforms: [.ios], audience: .all, notification: notification)
  let request = APNsRequest(APNsPayload(draft), sentAt: Date())
  // Tokens in memory, as h2load has its URIs.
  var seed: UInt64 = 88_172_645_463_325_252
  let tokens = (0..<count).map { _ in
    DeviceToken(
      bytes: (0..<32).map { _ in
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        return UInt8(truncatingIfNeeded: seed >> 24)
      })
  }
  let before = cpu()
  let start = EventLoop.now()
  var next = 0
  while next < count {
    let end = min(count, next + 5000)
    var batch = APNsBatchBuilder(push: 1, request: request, capacity: end - next)
    for index in next..<end {
      batch.append(
        device: Int64(index), token: tokens[index], id: APNsID(seed: 0xfeed_beef_0123_4567, device: Int64(index)))
    }
    provider.submit(batch.build())
    next = end
  }
  done.wait()
  let seconds = Double(EventLoop.now() - start) / 1e9
  let after = cpu()
  let used = after.user - before.user + after.system - before.system
  let accepted = progress.withLock { $0.accepted }
  print(
    String(
      format: "signalbox: %d accepted of %d, %.0f/s, CPU %.3f s (user %.3f sys %.3f), per million %.3f s", accepted,
      count,
      Double(count) / seconds, used, after.user - before.user, after.system - before.system, used / Double(count) * 1e6)
  )
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "serve" {
  try await serve(folder: arguments[2], port: UInt16(arguments[3])!)
} else if arguments.count == 7, arguments[1] == "send" {
  try await send(
    folder: arguments[2], port: UInt16(arguments[3])!, count: Int(arguments[4])!, connections: Int(arguments[5])!,
    streams: Int(arguments[6])!)
} else {
  print("usage: http2-bench serve FOLDER PORT | send FOLDER PORT COUNT CONNECTIONS STREAMS")
}
