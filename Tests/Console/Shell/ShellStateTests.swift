import Foundation
import Store
import Testing

@testable import Console

@Suite("Pages: the foot of the navigation")
struct ShellStateTests {
  /// The text of the foot on a page.
  private static func foot(_ browser: inout SceneBrowser, _ target: String = "/devices") async throws -> String {
    let html = try await browser.get(target).text
    let start = try #require(html.range(of: "class=\"side-foot\""))
    let end = try #require(html.range(of: "href=\"/account\""))
    return String(html[start.lowerBound..<end.lowerBound])
  }

  @Test("every page says when certificates were last checked, in each language, and whether that is long ago")
  func lastCheck() async throws {
    try await ConsoleScene.with { scene in
      var viewer = try await scene.signIn(.viewer)
      let none = try await Self.foot(&viewer)
      #expect(!none.contains("Certificate check"), "never checked, nothing to say")
      func keep(_ source: CheckRun.Source, minutes: Double) async throws {
        let run = CheckRun(source: source, at: ConsoleScene.noon.addingTimeInterval(-60 * minutes), exitCode: 0)
        try await scene.store.write { try run.keep($0) }
      }
      try await keep(.serve, minutes: 3)
      for target in ["/", "/devices", "/account", "/nothing"] {
        let fresh = try await Self.foot(&viewer, target)
        #expect(fresh.contains("Certificate check: ") && fresh.contains("3 min ago"), "\(target)")
        #expect(fresh.contains("class=\"dot\"") && !fresh.contains("overdue"), "\(target)")
      }
      // Cron is expected once it has run; what the server does then does not hide that it has stopped.
      try await keep(.cron, minutes: 37 * 60)
      let late = try await Self.foot(&viewer)
      #expect(late.contains("Certificate check overdue: ") && late.contains("class=\"dot red\""))
      #expect(late.contains("1 day ago") && !late.contains("3 min ago"), "the one that is late")
      try await keep(.cron, minutes: 60)
      let again = try await Self.foot(&viewer)
      #expect(!again.contains("overdue"))
      try await keep(.serve, minutes: 61)
      let stopped = try await Self.foot(&viewer)
      #expect(stopped.contains("Certificate check overdue: "))
      _ = try await viewer.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let chinese = try await Self.foot(&viewer)
      #expect(chinese.contains("证书检查逾期：<time") && chinese.contains("1 小时前"))
    }
  }
}
