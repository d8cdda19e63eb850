import Foundation
import Model
import Store
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Incidents")
  struct IncidentTests {
    /// Devices whose tokens are of the other environment, and a push that they refused.
    private func fail(_ scene: BrowserScene, devices: Int, now: Date) async throws {
      try await scene.service.store.write { database in
        let app = try #require(try App.all(database).first)
        let registrations = (0..<devices).map { number in
          Registration(
            token: DeviceToken(bytes: [9, UInt8(number)] + [UInt8](repeating: 3, count: 30)), environment: .production,
            platform: .ios)
        }
        let ids = try Device.register(
          database, app: app.id, registrations, now: now.addingTimeInterval(-60)
        ).compactMap(\.deviceID)
        var new = NewPush(
          uid: "refused", seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .api,
          createdBy: "test")
        new.title = "We have moved, and this title is far too long for any table that somebody reads on a phone"
        let push = try Push.create(database, new, now: now)
        _ = try Push.move(database, id: push.id, from: [.queued], to: .finished, now: now)
        let refused = Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)
        _ = try Delivery.record(
          database, push: push.id,
          ids.map { DeliveryResult(deviceID: $0, platform: .ios, outcome: refused, at: now) }, now: now)
      }
    }

    /// A menu in the page's head.
    private func open(_ scene: BrowserScene, _ menu: String) async throws {
      try await scene.browser.click(xpath: "//main//summary[normalize-space()='\(menu)']")
    }

    @Test(
      "from the Overview to the cause, assigned and closed with a remark; in both languages", arguments: [true, false])
    func handled(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript) { scene in
        try await fail(scene, devices: 40, now: Date())
        try await scene.open("/")
        try await scene.sees("40 of 42 devices are parked")
        try await scene.browser.click(xpath: "//main//a[@href='/incidents/1']")
        try await scene.heading("Incident 1")
        try await scene.sees("BadDeviceToken")
        try await open(scene, "Assign")
        try await scene.press(BrowserScene.name)
        try await scene.sees("Incident assigned.")
        if javaScript { try await scene.audit("an open incident") }
        try await open(scene, "Close")
        try await scene.press("Close")
        try await scene.sees("Enter why you are closing it.", beside: "remark")
        if javaScript { try await scene.audit("an incident with an error") }
        // A refused form has an address that only takes forms.
        try await scene.open("/incidents/1")
        try await scene.press("简体中文")
        try await scene.sees("负责人")
        if javaScript {
          for path in ["/incidents/1", "/incidents", "/"] {
            try await scene.open(path)
            try await scene.audit("\(path) in Chinese")
          }
        }
        try await scene.open("/incidents/1")
        try await scene.press("English")
        try await scene.browser.wait(for: "/html[@lang='en']")
        try await open(scene, "Close")
        try await scene.fill("remark", "The export came from debug builds")
        try await scene.press("Close")
        try await scene.sees("Incident closed. It opens again if its cause comes back.")
        try await scene.sees("Closed by \(BrowserScene.name): The export came from debug builds")
        if javaScript { try await scene.audit("a closed incident") }
        try await scene.open("/incidents?state=closed")
        try await scene.sees("Closed 1")
        if javaScript { try await scene.audit("closed incidents") }
      }
    }
  }
}
