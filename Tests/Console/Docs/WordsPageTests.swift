import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages: words and error codes")
struct WordsPageTests {
  @Test("every word of a state and an outcome is defined, with the API's name, in both languages")
  func words() async throws {
    try await ConsoleScene.with { scene in
      var vera = try await scene.signIn(.viewer)
      let page = ScenePage(try await vera.get("/docs/words"))
      let ids = Set(page.tags.compactMap { $0.attributes["id"] })
      for kind in OutcomeKind.allCases { #expect(ids.contains("outcomes-\(kind.name)")) }
      for state in PushState.allCases { #expect(ids.contains("pushes-\(state.rawValue)")) }
      for state in DeviceState.allCases { #expect(ids.contains("devices-\(state.name)")) }
      #expect(page.text.contains("The push service took the push for delivery. It does not say that the device showed"))
      #expect(ScenePage(try await vera.get("/docs")).links.contains("/docs/words"))
      _ = try await vera.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let chinese = ScenePage(try await vera.get("/docs/words")).text
      #expect(chinese.contains("已接受") && chinese.contains("这不代表设备已展示"))
    }
  }

  @Test("the reference in Chinese says that it quotes English, and marks it")
  func language() async throws {
    try await ConsoleScene.with { scene in
      var vera = try await scene.signIn(.viewer)
      _ = try await vera.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let page = ScenePage(try await vera.get("/docs/devices"))
      #expect(page.text.contains("接口的标题和说明为英文"))
      let headings = page.tags.filter { $0.name == "h3" && $0.attributes["id"]?.hasSuffix("-heading") == true }
      #expect(headings.count > 3 && headings.allSatisfy { $0.attributes["lang"] == "en" })
    }
  }

  @Test("each known code has a page with cause, remedy, who acts and origin; others have none")
  func codes() async throws {
    try await ConsoleScene.with { scene in
      var vera = try await scene.signIn(.viewer)
      let list = ScenePage(try await vera.get("/codes"))
      #expect(Reason.listed.count > 60)
      for reason in Reason.listed {
        let href = try #require(reason.href)
        #expect(list.links.contains(href), "\(reason.code)")
        let answer = try await vera.get(href)
        // Letters alone: quotes are escaped.
        let letters = ScenePage(answer).text.filter(\.isLetter)
        let isWhole = [reason.cause, reason.remedy].allSatisfy { letters.contains($0.filter(\.isLetter)) }
        #expect(answer.status == 200 && isWhole, "\(reason.code)")
      }
      let page = ScenePage(try await vera.get("/codes/Unregistered")).text
      #expect(page.contains("APNs, HTTP 410") && page.contains("Retired"))
      #expect(ScenePage(try await vera.get("/codes/UNREGISTERED")).text.contains("FCM, HTTP 404"))
      #expect(ScenePage(try await vera.get("/codes/baddevicetoken")).text.contains("Parked"))
      for code in ["ConnectionLost", "TimedOut", "Interrupted"] {
        let unanswered = ScenePage(try await vera.get("/codes/\(code)")).text
        #expect(unanswered.contains("Automatic, unless") && !unanswered.contains("refused again"), "\(code)")
      }
      let library = ScenePage(try await vera.get("/codes/JPush%206004")).text
      #expect(library.contains("40 bytes"))
      // No push ends with a code of the app's library.
      #expect(page.contains("Newest pushes with this code") && page.contains("Effect on the device"))
      #expect(!library.contains("Newest pushes with this code") && !library.contains("Effect on the device"))
      #expect(ScenePage(try await vera.get("/codes?q=6003")).links.contains("/codes/JPush%206003"))
      #expect(try await vera.get("/codes/MismatchSenderId").status == 200)
      #expect(try await vera.get("/codes/Expired%20(ServiceUnavailable)").status == 200)
      let missing = try await vera.get("/codes/NoSuchCode")
      #expect(missing.status == 404 && ScenePage(missing).links.contains("/codes"))
      let some = ScenePage(try await vera.get("/codes?q=410")).links.filter { $0.hasPrefix("/codes/") }
      #expect(some.contains("/codes/Unregistered") && !some.contains("/codes/BadDeviceToken"))
    }
  }

  @Test("a code's page has its open incidents and its newest pushes, and result and incident lead to it")
  func evidence() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(30, of: app)
      _ = try await scene.store.write { try $0.run("UPDATE devices SET registered_at = registered_at - 86400000") }
      scene.provider.answer { _ in
        .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      }
      var draft = ConsoleScene.draft
      draft.notification.title = "We have moved"
      let push = try await scene.send(draft)
      var vera = try await scene.signIn(.viewer)
      let page = ScenePage(try await vera.get("/codes/BadDeviceToken"))
      #expect(page.links.contains("/incidents/1"))
      #expect(page.links.contains("/pushes/\(push.uid)?reason=BadDeviceToken#devices"))
      #expect(page.text.contains("We have moved") && page.text.contains("30 devices"))
      let other = ScenePage(try await vera.get("/codes/BadTopic"))
      #expect(other.text.contains("No open incidents") && other.text.contains("None of the newest 300 pushes."))
      let result = ScenePage(try await vera.get("/pushes/\(push.uid)"))
      #expect(result.links.contains("/codes/BadDeviceToken") && result.links.contains("/docs/words#outcomes"))
      #expect(ScenePage(try await vera.get("/incidents/1")).links.contains("/codes/BadDeviceToken"))
    }
  }
}
