import Foundation
import Store
import Synchronization
import TestSupport
import Testing
import Webhooks

extension WebhookWorkerTests {
  @Test(
    "a worker without work asks the database nothing until somebody commits or a retry is due",
    .timeLimit(.minutes(1)))
  func quiet() async throws {
    try await Scene.with { scene, receiver in
      receiver.answer(503)
      let (other, webhook) = (try Store.open(path: scene.path, sealer: scene.sealer, now: Self.noon), scene.webhook)
      defer { other.close() }
      // As of the end of each look, one a second.
      let reads = Mutex<[Int]>([])
      await scene.worker.run {
        let look = reads.withLock { all in
          all.append(scene.reads)
          return all.count
        }
        switch look {
        // As another process does.
        case 10: try await scene.finish("p1", in: other)
        case 11: try await waitUntil { try await other.read { try Webhook.get($0, id: webhook).failures } == 1 }
        case 71...:
          if receiver.requests.count == 2 { throw CancellationError() }
          try Task.checkCancellation()
          return await Task.yield()
        default: break
        }
        scene.advance(1)
      }
      let all = reads.withLock { $0 }
      #expect(all.count >= 71 && Set(all.prefix(10)).count == 1 && Set(all.dropFirst(11).prefix(59)).count == 1)
      #expect(receiver.requests.map(\.timestamp) == ["1795176010", "1795176070"], "the retry comes after a minute")
    }
  }
}
