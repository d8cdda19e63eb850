import HTTP2
import Providers
import Model
import Synchronization
import Testing

/// Apple: "4XX slows down your ability to send". What was handed over before the storm is held back too.
@Suite("APNs provider: a storm of refusals", .timeLimit(.minutes(1)))
struct StormTests {
  private struct Seen {
    var answered = 0
    /// The most requests at once without an answer, by hundreds of answers.
    var most: [Int: Int] = [:]
  }

  @Test("thousands that wait in the client go out one by one, not by the thousand")
  func queued() async throws {
    let seen = Mutex(Seen())
    let script = ScriptedAPNs { request, responder, number in
      let open = request.connection.openStreams
      seen.withLock { $0.most[number / 1000, default: 0] = max($0.most[number / 1000] ?? 0, open) }
      responder.respond(ScriptedAPNs.answer(400, "BadDeviceToken"), after: .milliseconds(10))
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      // All of it is handed over at once: nobody asks for the guard's limit in between.
      let results = await client.send(0..<5000)
      #expect(results.results.count == 5000 && results.repeated.isEmpty)
      let most = seen.withLock { $0.most }
      // It begins with a thousand; after that the storm is known.
      #expect((most[0] ?? 0) > 250, "\(most)")
      for thousand in 2...4 { #expect((most[thousand] ?? 0) <= 15, "\(most)") }
      #expect(client.provider.health(at: ManualClock().now).limit == 15)
    }
  }

  @Test("waiting pushes are sent at full speed after the storm")
  func over() async throws {
    let late = Mutex(0)
    let script = ScriptedAPNs { request, responder, number in
      if number > 2500 {
        let open = request.connection.openStreams
        late.withLock { $0 = max($0, open) }
      }
      let response = number <= 1100 ? ScriptedAPNs.answer(400, "BadDeviceToken") : ServerResponse(status: 200)
      responder.respond(response, after: .milliseconds(5))
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      #expect(await client.send(0..<6000).count(.outcome(.accepted)) == 4900)
      #expect(late.withLock { $0 } > 250)
      #expect(client.provider.health(at: ManualClock().now).isWell)
    }
  }

  @Test("a service that lowers its limit in a storm is not asked over more connections instead")
  func grows() async throws {
    // With 1000 in flight at first, this request leaves only after 200 refusals came back, which is a storm. On a busy
    // machine, another connection may have been opened before, or be on its way.
    let server = Mutex<ScriptedAPNs?>(nil)
    let before = Mutex(0)
    let script = ScriptedAPNs { request, responder, number in
      if number == 1250 {
        let opened = server.withLock { $0 }?.seen.withLock { $0.opened } ?? 0
        before.withLock { $0 = opened }
        request.connection.setMaximumStreams(2)
      }
      responder.respond(ScriptedAPNs.answer(400, "BadDeviceToken"), after: .milliseconds(1))
    }
    server.withLock { $0 = script }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      #expect(await client.send(0..<1500).results.count == 1500)
      let (opened, known) = (script.seen.withLock { $0.opened }, before.withLock { $0 })
      #expect(opened <= known + 1)
    }
    server.withLock { $0 = nil }
  }
}
