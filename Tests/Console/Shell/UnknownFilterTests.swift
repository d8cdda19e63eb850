import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("Lists: a filter that names something unknown")
struct UnknownFilterTests {
  @Test(
    "the list and its files say that nothing matches, with the value and a way back; a known one still filters",
    arguments: [
      ("/devices", ["app=unknown", "environment=staging", "platform=web", "provider=wns", "state=gone"]),
      ("/devices.csv", ["app=unknown"]), ("/devices.json", ["state=gone"]),
      ("/pushes", ["app=99", "environment=staging", "state=gone", "source=fax", "push_type=loud"]),
      ("/pushes", ["from=yesterday", "to=2026-13-01"]),
      ("/pushes.csv", ["app=unknown"]), ("/pushes.json", ["source=fax"]),
      ("/certificates", ["app=unknown", "band=blue", "kind=paper", "from=x"]),
      ("/certificates.csv", ["app=unknown"]), ("/certificates.json", ["kind=paper"]),
      ("/activity", ["who=nobody", "kind=gossip", "from=x"]), ("/activity.csv", ["who=nobody", "kind=gossip"]),
      ("/activity.json", ["to=x"]),
      ("/incidents", ["app=99", "state=gone"]), ("/schedules", ["state=gone"]),
      ("/audiences", ["app=unknown", "kind=gone"]), ("/incidents.csv", ["app=99", "state=gone"]),
      ("/schedules.json", ["state=gone"]), ("/audiences.csv", ["app=unknown", "kind=gone"]),
    ])
  func unknown(path: String, filters: [String]) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var anna = try await scene.signIn(.admin)
      for filter in filters {
        let answer = try await anna.get("\(path)?\(filter)")
        let page = ScenePage(answer)
        #expect(answer.status == 422 && page.text.contains(filter), "\(filter)")
        let value = filter.split(separator: "=")[1]
        #expect(page.text.contains("Unknown filter: “\(value)”"), "\(filter)")
        let list = path.replacing(".csv", with: "").replacing(".json", with: "")
        #expect(page.links.contains(list), "\(filter)")
      }
      #expect(try await scene.audit("device.export").isEmpty, "nothing was exported")
      #expect(try await anna.get("/devices?app=\(ConsoleScene.bundleID)&state=active").status == 200)
    }
  }

  @Test("the API names an unknown query parameter as one, with a suggestion or without", arguments: ["stat", "colour"])
  func queryParameter(name: String) async throws {
    try await ConsoleScene.with { scene in
      let answer = try await scene.call(.get, "/api/v1/devices?\(name)=active", as: .viewer)
      let message = answer.json?["errors"]?.array?.first?["message"]?.string ?? ""
      #expect(answer.status == 422 && message.hasPrefix("Unknown query parameter. "), "\(message)")
      #expect(message.contains("Did you mean “state”?") == (name == "stat"), "\(message)")
    }
  }

  @Test("the outcomes of a push")
  func outcomes() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var draft = ConsoleScene.draft
      draft.notification.body = "Hello"
      let uid = try await scene.send(draft).uid
      var anna = try await scene.signIn(.viewer)
      #expect(try await anna.get("/pushes/\(uid)?outcome=lost").status == 422)
      #expect(try await anna.get("/pushes/\(uid)/deliveries.csv?outcome=lost").status == 422)
      for known in ["pending", "accepted"] {
        #expect(try await anna.get("/pushes/\(uid)?outcome=\(known)").status == 200)
      }
      let answer = try await scene.call(.get, "/api/v1/devices?app=unknown", as: .viewer)
      #expect(answer.status == 422, "the API has always refused it")
    }
  }
}
