import Foundation
import HTTP2
import OpenSSL
import Providers
import Push
import Reactor
import Synchronization

/// Sends so many pushes with the APNs provider, tokens in memory, as h2load has its addresses. CPU and time are those
/// of the sending alone.
func pushes(folder: String, port: UInt16, count: Int, connections: Int, streams: Int) async throws {
  struct Progress: Sendable { var done = 0, accepted = 0 }

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
  let cpu = cpuSeconds()
  let start = ContinuousClock.now
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
  let wall = ContinuousClock.now - start
  let used = cpuSeconds() - cpu
  let accepted = progress.withLock { $0.accepted }
  guard accepted == count else {
    print("only \(accepted) of \(count) were accepted")
    exit(1)
  }
  print("cpu \(used) wall \(wall / .seconds(1))")
}
