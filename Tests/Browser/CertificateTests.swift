import JSON
import OpenSSL
import Store
import TestSupport
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Certificates")
  struct CertificateTests {
    private func kept(_ scene: BrowserScene) async throws -> [String] {
      try await scene.service.store.read { try TrackedCertificate.all($0).map(\.details.name) }
    }

    @Test("a file that is chosen is looked at before any button is pressed, and kept without choosing it again")
    func preview() async throws {
      try await BrowserScene.run { scene in
        let path = try scene.pushFile(daysLeft: 29, encryption: .keychain)
        let before = try await kept(scene)
        try await scene.open("/certificates")
        let place = "//*[@data-upload-preview]"
        try await scene.browser.find("#file").type(path)
        try await scene.browser.wait(for: place + "//*[contains(.,'The file needs a password')]")
        try await scene.fill("password", "open sesame")
        try await scene.browser.click(xpath: "//summary[.='More options']")
        try await scene.browser.wait(for: place + "//dd[contains(.,'TEAM123456')]")
        #expect(try await kept(scene) == before)
        try await scene.press("Save")
        try await scene.sees("File saved. Its expiry is being watched.")
        #expect(try await kept(scene).count == before.count + 1)
      }
    }

    @Test("a .p12 is refused with a wrong password, inspected, kept, and its last month is amber")
    func upload() async throws {
      try await BrowserScene.run { scene in
        let path = try scene.pushFile(daysLeft: 29, encryption: .keychain)
        let before = try await kept(scene)
        try await scene.open("/certificates")
        try await scene.browser.find("#file").type(path)
        try await scene.fill("password", "open barley")
        try await scene.press("Save")
        try await scene.sees("is kept here, encrypted, for 15 minutes. You don’t have to choose it again.")
        try await scene.sees("password", beside: "password")
        #expect(try await kept(scene) == before)

        try await scene.browser.find("#file").type(path)
        try await scene.fill("password", "open sesame")
        try await scene.press("Inspect")
        try await scene.sees("Not saved")
        try await scene.sees("com.example.shop.voip")
        try await scene.sees("in the file, matches the certificate")
        try await scene.browser.wait(for: "//*[@class='state'][.='Expires soon']/span[@class='dot amber']")
        #expect(try await kept(scene) == before)

        try await scene.browser.find("#file").type(path)
        try await scene.fill("password", "open sesame")
        try await scene.press("Save")
        try await scene.sees("File saved. Its expiry is being watched.")
        #expect(try await kept(scene).count == before.count + 1)
        try await scene.sees("Days left: 29 of 365")
        try await scene.open("/certificates")
        try await scene.browser.wait(for: "//tbody/tr[1]/td[3]/p[@class='strong amber'][normalize-space()='29 days']")
        try await scene.open("/")
        try await scene.browser.wait(
          for: "//ul[@class='needs']/li[contains(.,'Apple Push Services')]/span[contains(@class,'amber')]")

        // And it works: bound to the app in place of the demo's key.
        try await scene.open("/apps")
        try await scene.browser.click(xpath: "//main//a[@class='title'][contains(.,'Shop')]")
        let panel = "//section[@aria-labelledby='development']"
        try await scene.browser.click(xpath: panel + "//summary")
        try await scene.browser.click(
          xpath: panel + "//select[@name='certificate']/option[contains(.,'Apple Push Services')]")
        try await scene.browser.click(xpath: panel + "//input[@value='simulator']")
        try await scene.browser.click(xpath: panel + "//button[.='Assign']")
        try await scene.sees("Credential assigned. New pushes are sent with it.")
        try await scene.sees("Apple Push Services", in: panel)
      }
    }
  }
}
