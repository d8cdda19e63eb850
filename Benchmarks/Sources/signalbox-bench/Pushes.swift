import Foundation
import HTTP2
import OpenSSL
import Providers
import Model
import Reactor
import Synchronization

/// Sends so many pushes with one provider, tokens in memory, as h2load has its addresses. They are handed over as the
/// engine does it: more when some have been answered. CPU and time are those of the sending alone.
///
/// - Parameters:
///   - kind: of the provider.
///   - first: so many pushes are sent before the clock starts, for which the connections are made.
func pushes(
  _ kind: ProviderKind, folder: String, port: UInt16, count: Int, connections: Int, streams: Int, first: Int
) async throws {
  struct Progress: Sendable { var done = 0, accepted = 0 }
  let batchSize = 1000

  guard count % batchSize == 0, first % batchSize == 0 else {
    print("COUNT and FIRST are whole thousands")
    exit(64)
  }
  let trust = Array(try Data(contentsOf: URL(filePath: folder + "/ca.pem")))
  let loop = try EventLoop(name: "provider")
  let resolver = BlockingPool(name: "dns", threads: 1)
  let progress = Mutex(Progress())
  // Batches that may be on their way: enough to keep all connections busy.
  let mostBatches = max(10, 2 * connections * streams / batchSize)
  let answered = DispatchSemaphore(value: 0)
  var configuration = ClientGroupConfiguration()
  configuration.maximumConnections = connections
  configuration.connection.maximumStreams = streams
  guard let maker = ProviderList.all.first(where: { $0.kind == kind }) else {
    print("there is no provider \(kind.rawValue)")
    exit(64)
  }
  var account = ProviderAccount(
    name: "bench", environment: .development, endpoint: .custom(host: "localhost", port: port, trust: trust))
  account.isSimulator = true
  let tools = ProviderTools(
    loop: loop, resolver: resolver, connections: configuration,
    report: { report in
      let batches = progress.withLock { progress in
        let before = progress.done / batchSize
        progress.done += report.results.count
        for (_, result) in report.results { if case .outcome(.accepted) = result { progress.accepted += 1 } }
        return progress.done / batchSize - before
      }
      for _ in 0..<batches { answered.signal() }
    })
  let provider = try maker.make(account, tools)
  var notification = Notification()
  notification.title = String(repeating: "x", count: 180)
  let draft = PushDraft(
    app: "com.example.app", environment: .development, platforms: Set(Platform.allCases), audience: .all,
    notification: notification)
  let push = provider.prepare(
    ProviderPush(
      id: 1, uid: "bench", seed: 0xfeed_beef_0123_4567, draft: draft, sentAt: Date()))
  var seed: UInt64 = 88_172_645_463_325_252
  func random() -> UInt8 {
    seed ^= seed << 13
    seed ^= seed >> 7
    seed ^= seed << 17
    return UInt8(truncatingIfNeeded: seed >> 24)
  }
  let devices = (0..<max(first, count)).map { index in
    ProviderDevice(id: Int64(index), token: DeviceToken(bytes: token(kind, random)))
  }
  /// Sends whole batches, and waits until all are answered.
  func send(_ count: Int) {
    var next = 0
    for number in 0..<count / batchSize {
      if number >= mostBatches { answered.wait() }
      push.send(Array(devices[next..<next + batchSize]), noting: nil as (any DepartureNotes)?)
      next += batchSize
    }
    for _ in 0..<min(mostBatches, count / batchSize) { answered.wait() }
  }
  send(first)
  let cpu = cpuSeconds()
  let start = ContinuousClock.now
  send(count)
  let wall = ContinuousClock.now - start
  let used = cpuSeconds() - cpu
  let accepted = progress.withLock { $0.accepted }
  guard accepted == first + count else {
    print("only \(accepted) of \(first + count) were accepted")
    exit(1)
  }
  print("cpu \(used) wall \(wall / .seconds(1))")
}

/// A token of the length that the provider's tokens have.
private func token(_ kind: ProviderKind, _ random: () -> UInt8) -> [UInt8] {
  let digits = Array("0123456789abcdef".utf8)
  func text(_ count: Int) -> [UInt8] { (0..<count).map { _ in digits[Int(random() & 15)] } }
  return switch kind {
  case .apns: (0..<32).map { _ in random() }
  case .fcm: text(22) + Array(":APA91b".utf8) + text(134)
  case .jpush: text(19)
  }
}
