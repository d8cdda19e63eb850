import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Providers
import Model
import Reactor
import Store
import Synchronization
import Testing

/// Events need a connection: a server on a free port of this machine.
@Suite("API: events of a push")
struct APIEventsTests {
  /// Serves a scene while `body` runs.
  private func serve(_ scene: ConsoleScene, _ body: (SocketAddress) async throws -> Void) async throws {
    let address = try #require(SocketAddress("127.0.0.1:0"))
    let server = Server(ServerConfiguration(address: address), scene.router)
    let bound = try await server.start()
    do {
      try await body(bound)
    } catch {
      await server.stop(within: .seconds(5))
      throw error
    }
    await server.stop(within: .seconds(5))
  }

  /// A viewer's request for the events of a push.
  private func request(_ scene: ConsoleScene, _ uid: String) -> String {
    """
    GET /api/v1/pushes/\(uid)/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
    Authorization: \(scene.authorization(.viewer))\r\n\r\n
    """
  }

  private func events(_ text: String) throws -> [JSONValue] {
    try text.components(separatedBy: "\n").filter { $0.hasPrefix("data: ") }.map {
      try JSONValue(parsing: Data($0.dropFirst(6).utf8))
    }
  }

  @Test("progress comes while it happens, fits the document, and ends with the end")
  func live() async throws {
    let document = try OpenAPIDocument()
    let schema = try #require(document.json["components"]?["schemas"]?["Progress"])
    try await ConsoleScene.with { scene in
      try await scene.addDevices(10, of: try await scene.addApp())
      scene.provider.answer { _ in nil }
      let uid = try await scene.send(ConsoleScene.draftJSON)
      try await serve(scene) { address in
        let request = request(scene, uid)
        let text = try await EventClient.read(address, request) {
          // The first event has come, so the stream began before the answers.
          scene.provider.answer { _ in .outcome(.accepted) }
        }
        #expect(text.hasPrefix("HTTP/1.1 200 "))
        #expect(text.contains("text/event-stream"))
        let events = try events(text)
        for event in events { #expect(document.schema.errors(event, schema) == []) }
        #expect(events.count >= 2)
        #expect(events.first?["finished"] == false)
        #expect(events.dropLast().allSatisfy { $0["finished"] == false }, "the end comes once")
        #expect(events.last?["state"] == "finished" && events.last?["counts"]?["accepted"] == 10)
        #expect(events.last?["counts"]?["pending"] == 0)
      }
    }
  }

  @Test("of a push that waits for its time the stream waits too, and hears at once that it was taken back")
  func waiting() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      guard case .object(var draft) = ConsoleScene.draftJSON else { return }
      draft["send_at"] = .string(Timestamp.text(ConsoleScene.noon + 60))
      let uid = try await scene.send(.object(draft))
      try await serve(scene) { address in
        let request = request(scene, uid)
        let push = try #require(try await scene.store.read { try Push.find($0, uid: uid) })
        let engine = scene.engine
        let text = try await EventClient.read(address, request) {
          Task { _ = try await engine.cancel(push.id) }
        }
        let events = try events(text)
        #expect(events.first?["state"] == "queued" && events.first?["finished"] == false)
        #expect(events.last?["state"] == "cancelled" && events.last?["finished"] == true)
        #expect(events.count == 2)
      }
    }
  }

  /// What ends a stream before its push.
  enum Ending: CaseIterable {
    case tokenRevoked, sessionEnded, personRemoved, personDisabled
  }

  @Test("a stream ends when whoever follows it may come in no longer", arguments: Ending.allCases)
  func ends(_ ending: Ending) async throws {
    let (beats, beat) = AsyncStream.makeStream(of: Void.self)
    let pause: @Sendable () async throws -> Void = { for await _ in beats { return } }
    try await ConsoleScene.with(streamPause: pause) { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      let anna = try await scene.signIn(.viewer, name: "anna@example.com")
      guard case .object(var draft) = ConsoleScene.draftJSON else { return }
      draft["send_at"] = .string(Timestamp.text(ConsoleScene.noon + 60))
      let uid = try await scene.send(.object(draft))
      try await serve(scene) { address in
        let (path, field) =
          ending == .tokenRevoked
          ? ("/api/v1/pushes/\(uid)/events", "Authorization: \(scene.authorization(.viewer))")
          : ("/pushes/\(uid)/events", "Cookie: signalbox_session=\(anna.cookies["signalbox_session"] ?? "")")
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(field)\r\n\r\n"
        let store = scene.store
        let text = try await EventClient.read(address, request) {
          Task {
            // Nothing has changed at the first look.
            beat.yield()
            try await store.write { database in
              let user = try #require(try User.find(database, name: "anna@example.com"))
              switch ending {
              case .tokenRevoked:
                for token in try APIToken.all(database) where token.name == "viewer" {
                  try APIToken.revoke(database, id: token.id, now: ConsoleScene.noon)
                }
              case .sessionEnded: try Session.endAll(database, user: user.id)
              case .personRemoved: try User.delete(database, id: user.id)
              case .personDisabled: try User.setDisabled(database, id: user.id, true, now: ConsoleScene.noon)
              }
            }
            beat.yield()
          }
        }
        #expect(try events(text).count == 1)
        #expect(text.hasSuffix("0\r\n\r\n"), "ended by the server, in good order")
      }
    }
  }

  @Test("of a push that is over there is one event")
  func over() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      let uid = try await scene.send(ConsoleScene.draftJSON)
      _ = try await scene.finished(uid)
      try await serve(scene) { address in
        let request = request(scene, uid)
        let events = try events(try await EventClient.read(address, request) {})
        #expect(events.count == 1 && events.first?["state"] == "finished")
      }
    }
  }
}
