import Delivery
import Foundation
import HTTPServer
import JSON
import Providers
import Model
import Store
import Synchronization
import TestSupport
import Testing

@testable import Console

@Suite("Event streams: rendered once, written to all", .timeLimit(.minutes(2)))
struct PushBroadcastTests {
  /// What was rendered, by language.
  private final class Renderings: Sendable {
    let all = Mutex<[String: [PushProgress]]>([:])
  }

  private static func push(_ scene: ConsoleScene) async throws -> (id: Int64, uid: String) {
    let uid = try await scene.send(ConsoleScene.draftJSON)
    let push = try await scene.store.read { try Push.find($0, uid: uid) }
    return (try #require(push).id, uid)
  }

  @Test("five hundred watch in two languages: each change is rendered twice, and all hear the end")
  func once() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(20, of: try await scene.addApp())
      scene.provider.answer { _ in nil }
      let (id, uid) = try await Self.push(scene)
      let broadcasts = scene.console.broadcasts
      let rendered = Renderings()
      let begun = SceneFlag()
      let ends = try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<500 {
          group.addTask {
            let language = number % 2 == 0 ? "en" : "zh-Hans"
            let events = broadcasts.events(of: id, as: language) { progress in
              rendered.all.withLock { $0[language, default: []].append(progress) }
              return JSONValue.object(["language": .string(language), "state": .string(progress.state.rawValue)])
            }
            var last = ""
            for try await event in events {
              last = String(decoding: event, as: UTF8.self)
              if !begun.isSet {
                begun.set()
                scene.provider.answer { _ in .outcome(.accepted) }
              }
            }
            return "\(number % 2) \(last)"
          }
        }
        var ends: [String: Int] = [:]
        for try await end in group { ends[end, default: 0] += 1 }
        return ends
      }
      _ = try await scene.finished(uid)
      #expect(ends.count == 2 && ends.values.allSatisfy { $0 == 250 }, "\(ends)")
      #expect(ends.keys.allSatisfy { $0.contains(#""state":"finished""#) })
      for (language, all) in rendered.all.withLock({ $0 }) {
        // A watcher that came after the end makes a new stream, whose one event is the end.
        let before = all.filter { !$0.isFinal }
        #expect(before.count == Set(before).count, "\(language): a change was rendered twice")
      }
    }
  }

  @Test("the last watcher takes the following along; the next one begins anew")
  func leaving() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      scene.provider.answer { _ in nil }
      let (id, uid) = try await Self.push(scene)
      let broadcasts = scene.console.broadcasts
      let first = Task {
        for try await event in broadcasts.events(of: id, as: "en", { $0 }) { return event }
        return []
      }
      #expect(try await first.value.isEmpty == false)
      try await waitUntil("nobody is followed") { broadcasts.count == 0 }
      let second = broadcasts.events(of: id, as: "en") { $0 }
      #expect(broadcasts.count == 1)
      scene.provider.answer { _ in .outcome(.accepted) }
      var last: [UInt8] = []
      for try await event in second { last = event }
      #expect(String(decoding: last, as: UTF8.self).contains(#""finished":true"#))
      #expect(broadcasts.count == 0)
      _ = try await scene.finished(uid)
    }
  }
}
