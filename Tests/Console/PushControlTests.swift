import Delivery
import Foundation
import HTTPServer
import Providers
import Push
import Store
import Testing

/// Pause, resume, cancel and retry, on the page and over the API.
@Suite("Control of a push")
struct PushControlTests {
  private static let api = "/api/v1/pushes"

  /// A push that is under way, with every device held back by the provider.
  private func held(_ scene: ConsoleScene, devices: Int = 4) async throws -> PushRecord {
    let app = try await scene.addApp()
    try await scene.addDevices(devices, of: app)
    scene.provider.answer { _ in nil }
    let answer = try await scene.call(
      .post, Self.api, as: .operator,
      json: [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "hello"],
      ])
    #expect(answer.status == 202, "\(answer.text)")
    while scene.provider.waiting < devices { await Task.yield() }
    let uid = try #require(answer.json?["id"]?.string)
    return try #require(try await scene.store.read { try PushRecord.find($0, uid: uid) })
  }

  private func state(_ scene: ConsoleScene, _ push: PushRecord) async throws -> PushState {
    try await scene.store.read { try PushRecord.get($0, id: push.id).state }
  }

  @Test("paused, resumed, and everybody has the push once; each step once, and in the audit")
  func pauseAndResume() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "\(Self.api)/\(push.uid)"
      let early = try await scene.call(.post, "\(target)/resume", as: .operator)
      #expect(early.status == 409)
      let paused = try await scene.call(.post, "\(target)/pause", as: .operator)
      #expect(paused.status == 200 && paused.json?["state"] == "paused")
      #expect(
        try document.errors(paused, to: .init(method: "POST", path: "/api/v1/pushes/{id}/pause")) == [])
      while try await scene.store.read({ try PushRecord.get($0, id: push.id).waiting }) < 4 { await Task.yield() }
      let told = try await scene.call(.get, target, as: .viewer)
      #expect(told.json?["waiting"]?.integer == 4 && told.json?["counts"]?["pending"]?.integer == 4)
      #expect(try await scene.call(.post, "\(target)/pause", as: .operator).status == 409)
      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await scene.call(.post, "\(target)/resume", as: .operator).status == 200)
      let ended = try await scene.finished(push.uid)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(accepted: 4))
      #expect(try await scene.audit("push.pause").count == 1)
      #expect(try await scene.audit("push.resume").count == 1)
    }
  }

  @Test("a retry goes to those that failed for what may pass, names the others, and is a push of its own")
  func retry() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "\(Self.api)/\(push.uid)/retry"
      #expect(try await scene.call(.post, target, as: .operator).status == 409)
      let busy = SendResult.retry(RetryCause(status: 503, reason: "ServiceUnavailable"))
      let (first, second) = (scene.provider.sent[0], scene.provider.sent[1])
      scene.provider.answer { member in
        switch member.id {
        case first: busy
        case second: .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil))
        default: .outcome(.accepted)
        }
      }
      _ = try await scene.finished(push.uid)
      scene.provider.answer { _ in .outcome(.accepted) }
      let answer = try await scene.call(.post, target, as: .operator)
      #expect(answer.status == 202, "\(answer.text)")
      #expect(try document.errors(answer, to: .init(method: "POST", path: "/api/v1/pushes/{id}/retry")) == [])
      #expect(answer.json?["devices"]?.integer == 1)
      #expect(answer.json?["excluded"]?.array?.first?["reason"] == "Unregistered")
      #expect(answer.json?["push"]?["repeats"]?.string == push.uid)
      let uid = try #require(answer.json?["push"]?["id"]?.string)
      let child = try await scene.finished(uid)
      #expect(child.parentID == push.id && child.counts == OutcomeCounts(accepted: 1))
      #expect(try await scene.call(.post, "\(Self.api)/\(uid)/retry", as: .operator).status == 409)
      #expect(try await scene.audit("push.retry").count == 1)
    }
  }

  @Test("the page has the buttons that do something, and they do it")
  func page() async throws {
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "/pushes/\(push.uid)"
      var anna = try await scene.signIn(.operator)
      var page = try await anna.get(target).text
      #expect(page.contains("\(target)/pause") && page.contains("\(target)/cancel"))
      #expect(!page.contains("\(target)/resume") && !page.contains("\(target)/retry"))
      #expect(try await anna.post("\(target)/pause", []).status == 303)
      #expect(try await state(scene, push) == .paused)
      while try await scene.store.read({ try PushRecord.get($0, id: push.id).waiting }) < 4 { await Task.yield() }
      page = try await anna.get(target).text
      #expect(page.contains("\(target)/resume") && !page.contains("\(target)/pause\""))
      #expect(page.contains("4 devices are to be sent to again"))
      scene.provider.answer { _ in .retry(RetryCause(status: 503, reason: "ServiceUnavailable")) }
      #expect(try await anna.post("\(target)/resume", []).status == 303)
      _ = try await scene.finished(push.uid)
      page = try await anna.get(target).text
      #expect(page.contains("Retry 4 devices") && !page.contains("\(target)/cancel"))
      scene.provider.answer { _ in .outcome(.accepted) }
      let answer = try await anna.post("\(target)/retry", [])
      let location = try #require(answer.response.headers["Location"])
      #expect(location.hasPrefix("/pushes/") && location != target)
      let child = try await scene.finished(String(location.dropFirst("/pushes/".count)))
      #expect(child.counts.accepted == 4)
      let lena = try await scene.signIn(.viewer)
      var viewer = lena
      #expect(try await viewer.post("\(target)/retry", []).status == 403)
    }
  }

  @Test("a push for later can be taken back as if it had never been")
  func undo() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      let answer = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["body": "hello"], "send_at": .string(Timestamp.text(ConsoleScene.noon + 10)),
        ])
      #expect(answer.status == 202)
      let uid = try #require(answer.json?["id"]?.string)
      #expect(answer.json?["send_at"] == .string(Timestamp.text(ConsoleScene.noon + 10)))
      var anna = try await scene.signIn(.operator)
      #expect(try await anna.get("/pushes/\(uid)").text.contains(">Undo</button>"))
      #expect(try await scene.call(.post, "\(Self.api)/\(uid)/cancel", as: .operator).status == 200)
      let push = try await scene.finished(uid)
      #expect(push.state == .cancelled && push.startedAt == nil && scene.provider.sent.isEmpty)
    }
  }
}
