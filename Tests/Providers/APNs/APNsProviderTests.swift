import Foundation
import HTTP2
import JSON
import OpenSSL
import Model
import Synchronization
import Testing

@testable import Providers

@Suite("APNs provider")
struct APNsProviderTests {
  @Test("a push has Apple's path, headers and body, and a token that its key has signed")
  func shape() async throws {
    let fields = Mutex<[String]>([])
    let body = Mutex<[UInt8]>([])
    let script = ScriptedAPNs { request, responder, _ in
      fields.withLock { $0 = request.fields.map { "\($0.name): \($0.value)" } }
      body.withLock { $0 = request.body }
      responder.respond(ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let key = try PrivateKey.generateP256()
      let client = try TestProvider(running, .token(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
      #expect(await client.send(0x0102_0304..<0x0102_0305).results == [0x0102_0304: .outcome(.accepted)])
      let seen = fields.withLock { $0 }
      let authorization = try #require(seen.first { $0.hasPrefix("authorization: bearer ") })
      #expect(
        seen.filter { $0 != authorization } == [
          ":method: POST", ":scheme: https", ":authority: localhost:\(running.port)",
          ":path: /3/device/" + String(repeating: "04030201", count: 8), "apns-topic: com.example.app",
          "apns-push-type: alert", "apns-priority: 10", "apns-expiration: 1800003600", "apns-collapse-id: lunch",
          "content-type: application/json", "apns-id: 12345678-9abc-8ef0-8000-000001020304",
        ])
      #expect(body.withLock { String(decoding: $0, as: UTF8.self) } == #"{"aps":{"alert":{"title":"Hello"}}}"#)
      let token = try JSONWebToken(String(authorization.dropFirst("authorization: bearer ".count)))
      #expect(token.isSigned(by: key.publicKey))
      #expect(token.algorithm == "ES256")
      #expect(token.keyID == "ABC123DEFG")
      #expect(token.issuer == "DEF123GHIJ")
      #expect(token.issuedAt == 1_800_000_000)
    }
  }

  @Test(
    "a badge that is counted differs by device; the rest of the body is the same",
    arguments: [false, true])
  func badge(isRaw: Bool) async throws {
    let bodies = Mutex<[String: String]>([:])
    let script = ScriptedAPNs { request, responder, _ in
      let path = request.fields.first { $0.name == ":path" }?.value ?? ""
      bodies.withLock { $0[String(path.suffix(2))] = String(decoding: request.body, as: UTF8.self) }
      responder.respond(ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      var draft = PushDraft(
        app: "com.example.app", environment: .production, platforms: [.ios], audience: .all,
        notification: Notification())
      if isRaw {
        draft.apns.payload = ["aps": ["alert": "\"badge\":1", "badge": "-1"], "z": 1]
      } else {
        draft.notification.body = "\"badge\":1"
        draft.notification.badge = .add(-1)
        draft.notification.extras = ["z": 1]
      }
      let push = ProviderPush(
        id: 1, uid: "u1", seed: 7, draft: draft, sentAt: Date(timeIntervalSince1970: 1_800_000_000))
      client.provider.prepare(push).send(
        [0, 1, 43].map { badge in
          ProviderDevice(
            id: Int64(badge), token: DeviceToken(bytes: [UInt8](repeating: UInt8(badge), count: 32)), badge: badge)
        }, noting: nil)
      _ = await client.wait { $0.results.count == 3 }
      let seen = bodies.withLock { $0 }
      let rest = isRaw ? "" : #""sbid":"u1","#
      for (path, number) in [("00", 0), ("01", 0), ("2b", 42)] {
        #expect(seen[path] == #"{"aps":{"alert":"\"badge\":1","badge":\#(number)},\#(rest)"z":1}"#)
      }
    }
  }

  @Test("one stream until a first push was accepted, then many")
  func provesItself() async throws {
    let most = Mutex(0)
    let early = Mutex(0)
    let script = ScriptedAPNs { request, responder, number in
      let open = request.connection.openStreams
      if number <= 1 { early.withLock { $0 = max($0, open) } }
      most.withLock { $0 = max($0, open) }
      responder.respond(ServerResponse(status: 200), after: .milliseconds(5))
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      let results = await client.send(0..<2000)
      #expect(results.count(.outcome(.accepted)) == 2000)
      #expect(early.withLock { $0 } == 1)
      #expect(most.withLock { $0 } > 100)
      #expect(results.states.last == .ready)
      // One token for all of it.
      #expect(script.seen.withLock { $0.authorizations.count } == 1)
    }
  }

  @Test("refusals are results, each device its own")
  func refusals() async throws {
    let answers = [
      ScriptedAPNs.answer(200), ScriptedAPNs.answer(400, "BadDeviceToken"),
      ServerResponse(status: 410, body: Array(#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8)),
      ScriptedAPNs.answer(413, "PayloadTooLarge"),
      ScriptedAPNs.answer(429, "TooManyRequests", [HeaderField("retry-after", "7")]),
      ScriptedAPNs.answer(503, "ServiceUnavailable"), ScriptedAPNs.answer(500),
    ]
    let script = ScriptedAPNs { request, responder, _ in
      let device = Int(request.fields["apns-id"]?.suffix(1) ?? "") ?? 0
      responder.respond(answers[device])
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      let results = await client.send(0..<7).results
      let expected: [Int64: SendResult] = [
        0: .outcome(.accepted),
        1: .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)),
        2: .outcome(
          .rejected(
            status: 410, reason: "Unregistered", tokenInvalidSince: Date(timeIntervalSince1970: 1_700_000_000.123))),
        3: .outcome(.rejected(status: 413, reason: "PayloadTooLarge", tokenInvalidSince: nil)),
        4: .retry(RetryCause(status: 429, reason: "TooManyRequests", retryAfter: .seconds(7))),
        5: .retry(RetryCause(status: 503, reason: "ServiceUnavailable")),
        6: .retry(RetryCause(status: 500, reason: "HTTP 500")),
      ]
      #expect(results == expected)
    }
  }

  @Test(
    "a refused credential stops what waits, and is the provider's state until a push is accepted",
    arguments: ["InvalidProviderToken", "BadEnvironmentKeyInToken", "SomethingNew"])
  func refusedCredential(reason: String) async throws {
    let script = ScriptedAPNs { _, responder, number in
      responder.respond(number == 1 ? ScriptedAPNs.answer(403, reason) : ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      let results = await client.send(0..<100)
      #expect(results.count(.outcome(.rejected(status: 403, reason: reason, tokenInvalidSince: nil))) == 1)
      #expect(results.count(.notSent(reason: reason)) == 99)
      #expect(script.seen.withLock { $0.requests } == 1)
      let failure = ProviderFailure(kind: .credential, reason: reason, since: clock.now)
      #expect(client.provider.state == .failing(failure))
      let later = await client.send(100..<200)
      #expect(later.count(.outcome(.accepted)) == 100)
      _ = await client.wait { $0.states.last == .ready }
      // A new connection for a new try.
      #expect(script.seen.withLock { $0.opened } == 2)
    }
  }

  @Test("a token that is too old for APNs is replaced, and what it was refused for is sent again")
  func expiredToken() async throws {
    let first = Mutex("")
    let script = ScriptedAPNs { request, responder, number in
      let authorization = request.fields["authorization"] ?? ""
      if number == 1 { first.withLock { $0 = authorization } }
      let isOld = number > 50 && authorization == first.withLock { $0 }
      responder.respond(
        isOld ? ScriptedAPNs.answer(403, "ExpiredProviderToken") : ServerResponse(status: 200),
        after: .milliseconds(1))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      #expect(await client.send(0..<50).count(.outcome(.accepted)) == 50)
      clock.advance(minutes: 30)
      let results = await client.send(50..<1000)
      #expect(results.count(.outcome(.accepted)) == 1000)
      #expect(results.repeated.isEmpty)
      #expect(script.seen.withLock { $0.authorizations.count } == 2)
    }
  }

  @Test("one answer that calls a fresh token expired costs nobody the push: another token is signed")
  func expiredOnce() async throws {
    let script = ScriptedAPNs { _, responder, number in
      responder.respond(
        number == 1 ? ScriptedAPNs.answer(403, "ExpiredProviderToken") : ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      let results = await client.send(0..<1000)
      #expect(results.count(.outcome(.accepted)) == 1000 && results.repeated.isEmpty)
      let seen = script.seen.withLock { $0 }
      #expect(seen.requests == 1001 && seen.authorizations.count == 2)
      #expect(client.provider.health(at: clock.now).isWell)
    }
  }

  @Test("tokens that APNs always calls expired refuse the credential, and are replaced once in 20 minutes")
  func expiredAlways() async throws {
    let script = ScriptedAPNs { _, responder, _ in
      responder.respond(ScriptedAPNs.answer(403, "ExpiredProviderToken"))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      let reason = "ExpiredProviderToken"
      let refused = SendResult.outcome(.rejected(status: 403, reason: reason, tokenInvalidSince: nil))
      let failure = ProviderFailure(kind: .credential, reason: reason, since: clock.now)
      // Minutes that pass, and how many requests and tokens there were until then.
      let tries: [(minutes: Double, requests: Int, tokens: Int)] = [(0, 2, 2), (10, 3, 2), (9, 4, 2), (2, 6, 3)]
      for (number, (minutes, requests, tokens)) in tries.enumerated() {
        clock.advance(minutes: minutes)
        let first = Int64(number * 10)
        let results = await client.send(first..<first + 10)
        #expect(results.count(refused) == number + 1)
        #expect(results.count(.notSent(reason: reason)) == 9 * (number + 1))
        let seen = script.seen.withLock { $0 }
        #expect(seen.requests == requests && seen.authorizations.count == tokens, "try \(number + 1)")
        #expect(client.provider.state == .failing(failure))
      }
    }
  }

  @Test("a token is replaced after 45 minutes, between two pushes")
  func refresh() async throws {
    let script = ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200)) }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      _ = await client.send(0..<10)
      clock.advance(minutes: 44)
      _ = await client.send(10..<20)
      #expect(script.seen.withLock { $0.authorizations.count } == 1)
      clock.advance(minutes: 2)
      #expect(await client.send(20..<30).count(.outcome(.accepted)) == 30)
      #expect(script.seen.withLock { $0.authorizations.count } == 2)
    }
  }

  @Test("a certificate is shown instead of a token")
  func certificate() async throws {
    let script = ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200)) }
    try await withAPNs(script) { running in
      let credentials = try running.certificate()
      let client = try TestProvider(running, credentials)
      #expect(await client.send(0..<10).count(.outcome(.accepted)) == 10)
      let seen = script.seen.withLock { $0 }
      #expect(seen.authorizations.isEmpty)
      let shown = try #require(seen.certificates.first ?? nil)
      #expect(try Certificate(der: shown).subject.commonName == "Apple Push Services: com.example.app")
    }
  }

  @Test("a certificate that the server refuses in TLS is a failing credential; what waits can be taken back")
  func refusedCertificate() async throws {
    let script = ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200)) }
    try await withAPNs(script, requiresCertificate: true) { running in
      let client = try TestProvider(running, running.certificate(stranger: true))
      client.submit(0..<10, push: 7)
      let failing = await client.wait { results in
        results.states.contains { if case .failing(let failure) = $0 { failure.kind == .credential } else { false } }
      }
      #expect(failing.results.isEmpty)
      client.provider.cancel(push: 8)
      client.provider.cancel(push: 7)
      let results = await client.wait { $0.results.count == 10 }
      #expect(results.count(.notSent(reason: OwnReason.cancelled.rawValue)) == 10)
    }
  }

  @Test("GOAWAY every 100 pushes: each device gets one result, and APNs sees each once")
  func goAway() async throws {
    let script = ScriptedAPNs { request, responder, number in
      responder.respond(ServerResponse(status: 200))
      if number % 100 == 0 {
        request.connection.goAway(lastStreamID: request.streamID, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
      }
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      let results = await client.send(0..<3000)
      #expect(results.count(.outcome(.accepted)) == 3000)
      #expect(results.repeated.isEmpty)
      #expect(script.seen.withLock { $0.ids.values.allSatisfy { $0 == 1 } })
    }
  }

  @Test("a connection that is cut leaves unknown outcomes, not lost devices")
  func cut() async throws {
    let script = ScriptedAPNs { request, responder, number in
      if number == 500 { request.connection.cut() } else { responder.respond(ServerResponse(status: 200)) }
    }
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      let results = await client.send(0..<2000)
      let unknown = results.results.values.count { if case .outcome(.unknown) = $0 { true } else { false } }
      #expect(unknown > 0)
      #expect(results.count(.outcome(.accepted)) + unknown == 2000)
      #expect(results.repeated.isEmpty)
    }
  }

  @Test("a server that is not there is a failing connection; a stopped provider gives everything back")
  func unreachable() async throws {
    let script = ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200)) }
    try await withAPNs(script) { running in
      // Port 1 of this machine: nobody may listen there but root's tcpmux.
      let client = try TestProvider(running, running.token(), port: 1)
      client.submit(0..<10)
      let failing = await client.wait { results in
        results.states.contains { if case .failing(let failure) = $0 { failure.kind == .connection } else { false } }
      }
      #expect(failing.results.isEmpty)
      client.provider.stop()
      client.submit(10..<20)
      let results = await client.wait { $0.results.count == 20 }
      #expect(results.count(.notSent(reason: OwnReason.interrupted.rawValue)) == 20)
    }
  }
}

/// How Apple wants to be treated (docs/protocols.md §1.1), against a server that looks.
@Suite("APNs provider: manners")
struct APNsLimitsTests {
  private static func accepting(after delay: Duration = .zero) -> ScriptedAPNs {
    ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200), after: delay) }
  }

  @Test("no more streams than the server's SETTINGS allow", arguments: [1, 5] as [UInt32])
  func settings(limit: UInt32) async throws {
    let most = Mutex(0)
    let script = ScriptedAPNs { request, responder, _ in
      let open = request.connection.openStreams
      most.withLock { $0 = max($0, open) }
      responder.respond(ServerResponse(status: 200), after: .milliseconds(2))
    }
    try await withAPNs(script, streams: limit) { running in
      let client = try TestProvider(running, running.token())
      #expect(await client.send(0..<60).count(.outcome(.accepted)) == 60)
      #expect(most.withLock { $0 } == Int(limit))
    }
  }

  @Test("a connection is kept while there is nothing to send: its PINGs are answered, and it serves the next push")
  func kept() async throws {
    let script = Self.accepting()
    try await withAPNs(script) { running in
      var configuration = ClientGroupConfiguration()
      // An hour in 20 ms; a PING without an answer would end the connection in 40 ms.
      configuration.connection.idlePingAfter = .milliseconds(20)
      configuration.connection.pingTimeout = .milliseconds(400)
      let client = try TestProvider(running, running.token(), configuration: configuration)
      for round in 0..<5 {
        let first = Int64(round * 10)
        #expect(await client.send(first..<(first + 10)).repeated.isEmpty)
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(script.seen.withLock { $0.opened } == 1)
    }
  }

  @Test("providers do not share connections: no connection sees two keys, or two certificates")
  func separate() async throws {
    let keys = Mutex<[ObjectIdentifier: Set<String>]>([:])
    let script = ScriptedAPNs { request, responder, _ in
      let (connection, key) = (ObjectIdentifier(request.connection), request.fields["authorization"] ?? "")
      keys.withLock { _ = $0[connection, default: []].insert(key) }
      responder.respond(ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let first = try TestProvider(running, running.token())
      let second = try TestProvider(running, running.token())
      let third = try TestProvider(running, running.certificate())
      for client in [first, second, third] {
        #expect(await client.send(0..<50).count(.outcome(.accepted)) == 50)
      }
      let seen = keys.withLock { Array($0.values) }
      #expect(seen.count == 3 && seen.allSatisfy { $0.count == 1 } && Set(seen).count == 3)
    }
  }

  @Test("a storm of refusals is detected and reported; accepted pushes end it")
  func storm() async throws {
    let isBad = Mutex(true)
    let script = ScriptedAPNs { _, responder, _ in
      responder.respond(
        isBad.withLock { $0 } ? ScriptedAPNs.answer(400, "BadDeviceToken") : ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      _ = await client.send(0..<1000)
      let health = client.provider.health(at: clock.now)
      #expect(health.stormShare == 1 && health.limit ?? 1000 < 1000 && health.circuit == .closed)
      isBad.withLock { $0 = false }
      _ = await client.send(1000..<4000)
      #expect(client.provider.health(at: clock.now).isWell)
    }
  }

  @Test("a refused credential opens the circuit; when its time has come it is half-open, and a success closes it")
  func circuit() async throws {
    let script = ScriptedAPNs { _, responder, number in
      responder.respond(
        number == 1 ? ScriptedAPNs.answer(403, "InvalidProviderToken") : ServerResponse(status: 200))
    }
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(running, running.token(), clock: clock)
      let start = clock.now
      #expect(client.provider.health(at: start).circuit == .closed)
      _ = await client.send(0..<20)
      let word = "InvalidProviderToken"
      let open = CircuitBreaker.State.open(reason: word, since: start, until: start + CircuitBreaker.firstPause)
      #expect(client.provider.health(at: start).circuit == open)
      clock.advance(minutes: 1)
      #expect(client.provider.health(at: clock.now).circuit == .halfOpen(reason: word, since: start))
      #expect(await client.send(20..<21).results[20] == .outcome(.accepted))
      #expect(client.provider.health(at: clock.now).circuit == .closed)
    }
  }

  @Test("a name with several addresses: the next is tried when one does not listen")
  func addresses() async throws {
    // The server listens on 127.0.0.1; where localhost is ::1 first, that is refused first.
    let script = Self.accepting()
    try await withAPNs(script) { running in
      let client = try TestProvider(running, running.token())
      #expect(await client.send(0..<5).count(.outcome(.accepted)) == 5)
      #expect(!client.provider.state.isFailing)
    }
  }
}

extension ProviderState {
  fileprivate var isFailing: Bool { if case .failing = self { true } else { false } }
}
