import Foundation
import JSON
import Model
import Store
import Testing

@testable import signalbox

@Suite("signalbox incidents")
struct IncidentsCommandTests {
  @Test("listed with an exit code for cron, shown, snoozed, closed with a remark, and reopened")
  func life() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(await box.run("incidents", "list").code == 0)
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      try store.writeSync { database in
        let app = try #require(try App.all(database).first)
        let push = try Push.create(
          database,
          NewPush(
            uid: "p1", seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .api,
            createdBy: "test"), now: CommandRunner.noon)
        let refused = Outcome.rejected(status: 413, reason: "PayloadTooLarge", tokenInvalidSince: nil)
        _ = try Delivery.record(
          database, push: push.id,
          [DeliveryResult(deviceID: 1, platform: .ios, outcome: refused, at: CommandRunner.noon)],
          now: CommandRunner.noon)
      }
      store.close()
      let open = await box.run("incidents", "list")
      #expect(open.code == 1 && open.output.contains("PayloadTooLarge") && open.output.contains("com.example.shop"))
      let json = await box.run("incidents", "list", "--state", "open", "--app", "com.example.shop", "--json")
      #expect(json.code == 1 && json.json?.array?.first?["devices"] == 1)
      let shown = await box.run("incidents", "show", "1")
      #expect(shown.code == 0 && shown.output.contains("more than 4096 bytes"))
      #expect(await box.run("incidents", "show", "2").code == 1)
      let mute = await box.run("incidents", "close", "1")
      #expect(mute.code == 64 && mute.errors.contains("Missing argument --remark <text>."), "\(mute)")
      let blank = await box.run("incidents", "close", "1", "--remark", "")
      #expect(blank.code == 64 && blank.errors.contains("Enter why you are closing it."), "\(blank)")
      await box.run("users", "add", "grace@example.com", "--role", "operator")
      let given = await box.run("incidents", "assign", "1", "--to", "grace@example.com")
      #expect(given.code == 0 && given.output.contains("Assigned to grace@example.com"))
      #expect(await box.run("incidents", "assign", "1", "--to", "nobody@example.com").code == 64)
      let free = await box.run("incidents", "assign", "1", "--json")
      #expect(free.code == 0 && free.json?["assignee"] == .null)
      #expect(await box.run("incidents", "snooze", "1", "--for", "2d").code == 0)
      #expect(await box.run("incidents", "list").code == 0, "nothing is open")
      let closed = await box.run("incidents", "close", "1", "--remark", "Shortened", "--json")
      #expect(
        closed.code == 0 && closed.json?["state"] == "closed" && closed.json?["closed_by"]?.string == commandActor)
      #expect(await box.run("incidents", "reopen", "1").code == 0)
      #expect(await box.run("incidents", "list", "--state", "closed").code == 0)
      #expect(await box.run("incidents", "list", "--state", "odd").code == 64)
    }
  }
}
