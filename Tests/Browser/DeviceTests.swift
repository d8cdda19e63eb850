import Foundation
import Simulator
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("Devices")
  struct DeviceTests {
    private static let phone = "Grace’s iPhone"
    private static let lossy = "{length = 32, bytes = 0x77366f0d c4a4f2f4 9de70bf4 ... 5a1b2c3d }"
    private static let described =
      "<77366f0d c4a4f2f4 9de70bf4 00112233 44556677 8899aabb ccddeeff 5a1b2c3d>"

    private func press(_ scene: BrowserScene, _ label: String) async throws {
      try await scene.browser.click(xpath: scene.phone(Self.phone) + "//button[normalize-space()='\(label)']")
    }

    private func send(_ scene: BrowserScene, _ text: String) async throws {
      try await scene.openPhone(Self.phone)
      try await scene.follow("Send a push", in: scene.phone(Self.phone))
      try await scene.fill("body", text)
      try await scene.press("Review")
      try await scene.press("Send to 1 device")
      try await scene.seesFinished()
    }

    @Test("an uninstalled app gets 410, its device is dead, and a new installation is a new device")
    func uninstalled() async throws {
      try await BrowserScene.run { scene in
        try await scene.openPhone(Self.phone)
        let token = try #require(
          scene.service.simulator?.phones.phones().first { $0.name == Self.phone }?.tokenText)
        try await press(scene, "Uninstall app")
        try await scene.sees("App uninstalled", in: scene.phone(Self.phone))
        try await send(scene, "is somebody there?")
        try await scene.sees(count: 1, of: "dead_token")
        try await scene.sees("410 Unregistered", in: "//tbody//td")
        try await scene.sees("Unregistered", in: "//*[@class='cause']")

        try await scene.browser.click(xpath: "//tbody//td[@class='row']/a")
        try await scene.heading("Delivery")
        try await scene.sees("HTTP/2 410", in: "//pre")
        try await scene.open("/devices?q=\(token)")
        try await scene.browser.click(xpath: "//tbody//td[@class='row']/a")
        try await scene.sees("Retired since")
        try await scene.sees("Retired since")
        try await scene.sees("Retired by the push service")

        try await scene.openPhone(Self.phone)
        try await press(scene, "Reinstall app")
        try await scene.browser.wait(
          for: scene.phone(Self.phone) + "//button[normalize-space()='Uninstall app']")
        try await send(scene, "welcome back")
        try await scene.sees(count: 1, of: "accepted")
        try await scene.openPhone(Self.phone)
        try await scene.sees("welcome back", in: scene.phone(Self.phone) + "//div[@data-arrival]")
        let now = try #require(
          scene.service.simulator?.phones.phones().first { $0.name == Self.phone }?.tokenText)
        #expect(now != token)
        try await scene.open("/devices?q=usr_grace")
        try await scene.sees("2 devices")
      }
    }

    @Test("a shortened token is refused with its reason and everything typed; a described one is taken")
    func tokens() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "device_token")
        try await scene.fill("device_token", Self.lossy)
        try await scene.fill("title", "Typed “with care” & <love>")
        try await scene.fill("body", "First line\nsecond line")
        try await scene.fill("badge", "3")
        try await scene.press("Review")
        try await scene.heading("Send a push")
        try await scene.sees("This text has lost part of the token", beside: "device_token")
        #expect(try await scene.value("device_token") == Self.lossy)
        #expect(try await scene.value("title") == "Typed “with care” & <love>")
        #expect(try await scene.value("body") == "First line\nsecond line")
        #expect(try await scene.value("badge") == "3")
        #expect(try await scene.browser.find("input[name=environment][value=development]").isSelected())
        #expect(try await scene.browser.find("input[name=audience][value=device_token]").isSelected())

        // Known in this notation.
        try await scene.open("/devices/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("platform", "ios")
        try await scene.fill("token", Self.lossy)
        try await scene.fill("alias", "usr_lin")
        // A tag that others have is offered.
        try await scene.browser.find("#tags").type("be")
        try await scene.browser.wait(for: "//*[@role='option'][starts-with(.,'beta')]")
        try await scene.fill("tags", "beta, 北京")
        try await scene.press("Register a device")
        try await scene.sees("This text has lost part of the token", beside: "token")
        #expect(try await scene.value("alias") == "usr_lin")
        #expect(try await scene.value("tags") == "beta, 北京")
        try await scene.fill("token", Self.described)
        try await scene.press("Register a device")
        try await scene.sees("Device registered.")
        try await scene.sees(Self.described.filter(\.isHexDigit), in: "//pre[@id='token']")
        try await scene.sees("usr_lin")

        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "device_token")
        try await scene.fill("device_token", Self.described)
        try await scene.fill("body", "to the described one")
        try await scene.press("Review")
        try await scene.heading("Review and send")
        try await scene.sees("Send to 1 device")
      }
    }

    @Test("pasted lines are imported, and the bad one is named with its line and reason")
    func pasted() async throws {
      try await BrowserScene.run { scene in
        let tokens = ["a1", "b2"].map { String(repeating: $0, count: 32) }
        try await scene.open("/devices/import")
        try await scene.press("Import devices")
        try await scene.sees("Choose a file, or paste some lines.")
        try await scene.select("app", "com.example.shop")
        try await scene.fill(
          "text",
          """
          token,environment,platform,alias,tags
          \(tokens[0]),development,ios,usr_one,beta
          abc123,development,ios,usr_two,beta
          \(tokens[1]),production,ios,usr_three,
          """)
        try await scene.press("Import devices")
        try await scene.heading("Import report")
        try await scene.sees("3 lines read: 2 added, 1 rejected")
        try await scene.browser.wait(for: "//tbody/tr[count(//tbody/tr)=1][contains(.,'3')][contains(.,'token')]")
        try await scene.open("/devices?q=usr_three")
        try await scene.sees("1 device")
      }
    }

    @Test("a file is imported with its progress, and its errors and report come without a reload")
    func file() async throws {
      // Every change of the bar, once it is shown.
      let watch = """
        window.shown = [];
        new MutationObserver(() => {
          const bar = document.querySelector('[data-import-progress]:not([hidden]) progress');
          if (bar) window.shown.push(bar.value);
        }).observe(document.body, { subtree: true, childList: true, attributes: true });
        """
      try await BrowserScene.run { scene in
        let file = scene.folder.appendingPathComponent("devices.csv")
        func upload(_ text: String) async throws {
          try Data(text.utf8).write(to: file)
          try await scene.select("app", "com.example.shop")
          try await scene.browser.find("#file").type(file.path)
          try await scene.press("Import devices")
        }
        try await scene.open("/devices/import")
        _ = try await scene.browser.run(script: watch)
        try await upload("nonsense;header\nx;y")
        try await scene.browser.wait(for: "//p[@id='file-error']")
        try await upload("token,environment,platform\n\(String(repeating: "c3", count: 32)),development,ios\n")
        try await scene.heading("Import report")
        try await scene.sees("1 line read: 1 added")
        let shown = try await scene.browser.run(script: "return window.shown.includes(1)")
        #expect(shown as? Bool == true)
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("an import that a proxy answers with a page of its own is said to have failed, and can be tried again")
    func fileRefusedByProxy() async throws {
      try await BrowserScene.run { scene in
        let file = scene.folder.appendingPathComponent("devices.csv")
        try Data("token,environment,platform\n".utf8).write(to: file)
        try await scene.open("/devices/import")
        _ = try await scene.browser.run(
          script: """
            Object.defineProperty(XMLHttpRequest.prototype, 'responseText', { value: '<h1>413 Too Large</h1>' });
            """)
        try await scene.select("app", "com.example.shop")
        try await scene.browser.find("#file").type(file.path)
        try await scene.press("Import devices")
        try await scene.browser.wait(for: "//p[@data-import-lost][not(@hidden)]")
        try await scene.browser.wait(for: "//button[contains(., 'Import devices')][not(@disabled)]")
        #expect(try await scene.browser.complaints() == [])
      }
    }
  }
}
