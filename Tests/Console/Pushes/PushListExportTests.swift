import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Export of pushes", .timeLimit(.minutes(2)))
struct PushListExportTests {
  /// So many pushes, without devices; every 500th has `rare` in its title.
  private static func fill(_ scene: ConsoleScene, _ count: Int) async throws {
    let app = try await scene.addApp()
    try await scene.store.write { database in
      for number in 1...count {
        var new = NewPush(
          uid: "push\(number)", seed: UInt64(number), appID: app.id, environment: .development,
          draftJSON: #"{"audience":"all"}"#, source: number % 2 == 0 ? .api : .web, createdBy: "anna")
        if number == 1000 { new.pushType = .background }
        new.title = number % 500 == 0 ? "a rare one" : "@SUM(A1)"
        _ = try Push.create(database, new, now: ConsoleScene.noon)
      }
    }
  }

  @Test("both forms have every push once with its totals, and the page's filters")
  func whole() async throws {
    try await ConsoleScene.with { scene in
      try await Self.fill(scene, 2100)
      _ = try await scene.store.write {
        try $0.run("UPDATE pushes SET state = 'finished', accepted = 7, failed = 2, target = 9")
      }
      let vera = try await scene.signIn(.viewer)
      try await scene.served(to: vera) { served in
        let csv = try await served.get("/pushes.csv")
        #expect(csv.contains("id,app,environment,audience,title,body,state,error,result,source,created_by,created_at,"))
        let uids = csv.matches(of: /(?m)^(push[0-9]+),com\.example\.shop,development,all,/).map { String($0.1) }
        #expect(uids.count == 2100 && Set(uids).count == 2100)
        #expect(csv.contains(",'@SUM(A1),"), "a formula is guarded")
        #expect(csv.contains("finished_at,push_type,target,accepted") && csv.contains(",alert,9,7,"))
        #expect(csv.contains(/push500,.*,9,7,2,0,0,0\r\n/), "the totals")
        // A page of this search ends where its time is over, sometimes without a match.
        let rare = DeviceListExportTests.body(try await served.get("/pushes.json?q=rare&source=api"))
        let found = try JSONValue(parsing: Data(rare.utf8)).array ?? []
        #expect(found.compactMap { $0["id"]?.string } == ["push2000", "push1500", "push1000", "push500"])
        let silent = DeviceListExportTests.body(try await served.get("/pushes.json?push_type=background"))
        let kinds = try JSONValue(parsing: Data(silent.utf8)).array ?? []
        #expect(kinds.compactMap { $0["id"]?.string } == ["push1000"] && kinds.first?["push_type"] == "background")
        #expect(found.last?["audience"] == "all" && found.last?["accepted"] == 7 && found.last?["target"] == 9)
      }
      #expect(try await scene.audit("push.export_list").map(\.subject) == ["pushes", "pushes", "pushes"])
      var browser = vera
      let page = ScenePage(try await browser.get("/pushes?state=finished&q=rare"))
      #expect(page.links.contains("/pushes.json?state=finished&q=rare"), "\(page.links)")
    }
  }

  @Test("a page without a match, before one with matches, leaves the JSON whole")
  func emptyPage() async throws {
    try await ConsoleScene.with { scene in
      let export = PagedExport<Int>(store: scene.store, name: "x") { _, cursor, _ in
        switch cursor {
        case nil: Page(items: [], next: "1")
        case "1": Page(items: [1, 2], next: "2")
        case "2": Page(items: [], next: "3")
        default: Page(items: [3], next: nil)
        }
      }
      var router = Router()
      router.on(.get, "/x") { _ in export.json { json, number in json.integer(Int64(number)) } }
      let served = router
      try await WebTestServer.with(served) { server in
        let request = "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let text = DeviceListExportTests.body(try await EventClient.read(server, request) {})
        #expect(try JSONValue(parsing: Data(text.utf8)) == [1, 2, 3], "\(text)")
      }
    }
  }
}
