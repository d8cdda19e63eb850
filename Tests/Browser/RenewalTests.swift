import Foundation
import OpenSSL
import Push
import SQLite
import Store
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("A successor in place")
  struct RenewalTests {
    /// A push certificate with its key.
    private func makeFile(_ scene: BrowserScene, _ name: String, days: Double) throws -> String {
      let now = Date()
      let authority = try CertificateAuthority(
        subject: [.commonName("Test CA")], notBefore: now - 86_400 * 400, notAfter: now + 86_400 * 4000)
      let (certificate, key) = try authority.issue(
        .applePush(
          topic: "com.example.shop", team: "TEAM123456", notBefore: now - 86_400, notAfter: now + 86_400 * days))
      let file = scene.folder.appendingPathComponent(name)
      try PKCS12.create(certificate: certificate, key: key, password: "open sesame").write(to: file)
      return file.path
    }

    private func audit(_ scene: BrowserScene, _ name: String) async throws {
      for (width, dark) in [(1280, false), (1280, true), (400, false), (400, true)] {
        try await scene.browser.pretend(width: width, dark: dark)
        let found = try await scene.browser.run(script: PageAudit.script) as? [String]
        #expect(found == [], "\(name), \(width) px, \(dark ? "dark" : "light")")
      }
      #expect(try await scene.browser.complaints() == [], "\(name)")
      try await scene.browser.pretend(width: 1280, dark: false)
    }

    @Test("brought, previewed, tried with the simulator, switched, undone; a request made and downloaded")
    func life() async throws {
      try await BrowserScene.run { scene in
        // The demo's app sends with a certificate that ends soon.
        let old = try makeFile(scene, "old.p12", days: 9)
        try await scene.open("/certificates")
        try await scene.browser.find("#file").type(old)
        try await scene.fill("password", "open sesame")
        try await scene.press("Keep")
        try await scene.sees("The file is kept and watched.")
        let id = try #require(
          try await scene.service.store.read { try TrackedCertificate.all($0).map(\.id).max() })
        try await scene.service.store.write { database in
          for credential in try Credential.all(database) {
            try Credential.bind(
              database, app: credential.appID, provider: .apns, environment: credential.environment, certificate: id,
              endpoint: "simulator", now: Date())
          }
        }
        try await scene.open("/certificates/\(id)")
        try await scene.sees("Create the certificate at Apple’s developer site, team TEAM123456")
        try await scene.press("Make a signing request")
        try await scene.sees("waits for its certificate")
        try await audit(scene, "a certificate with its guide")

        try await scene.browser.find("#successor-file").type(try makeFile(scene, "new.p12", days: 390))
        try await scene.fill("successor-password", "open sesame")
        try await scene.press("Preview")
        try await scene.sees("Same topic, same team: nobody is left out.")
        try await scene.press("Try only")
        try await scene.sees("400 BadDeviceToken")
        try await audit(scene, "a preview that was tried")
        try await scene.press("Switch")
        try await scene.sees("The successor is in place.")
        try await scene.sees("It took the place of")
        try await audit(scene, "a successor")
        try await scene.open("/")
        let needs = try await scene.browser.findAll("ul.needs li")
        for need in needs { #expect(try await !need.text().contains("Apple Push Services"), "its alarm is silent") }
        try await scene.open("/certificates/\(id)/undo")
        try await audit(scene, "undo")
        try await scene.press("Put the old one back")
        try await scene.sees("The old one is in place again.")
        try await scene.open("/certificates/requests")
        try await scene.sees("CN=com.example.shop")
        try await audit(scene, "signing requests")
      }
    }

    @Test("a file of another topic stops at the preview; another key than the database's is said, with the way on")
    func stopped() async throws {
      try await BrowserScene.run { scene in
        let old = try makeFile(scene, "old.p12", days: 9)
        try await scene.open("/certificates")
        try await scene.browser.find("#file").type(old)
        try await scene.fill("password", "open sesame")
        try await scene.press("Keep")
        try await scene.sees("The file is kept and watched.")
        let id = try #require(
          try await scene.service.store.read { try TrackedCertificate.all($0).map(\.id).max() })
        _ = try await scene.service.store.write { database in
          try database.run("UPDATE sealing_key SET identifier = 'another'")
          return try database.run("UPDATE certificates SET sealed = x'00' WHERE id = ?", id)
        }
        try await scene.open("/certificates/\(id)")
        try await scene.sees("Upload it anew")
        try await audit(scene, "a certificate that does not open")
        try await scene.open("/certificates")
        try await scene.sees("The key file is not the one of this database")
        try await audit(scene, "the list without its key")
        try await scene.open("/certificates/key")
        try await audit(scene, "begin anew")
        try await scene.press("Begin anew")
        try await scene.sees("Tick this first")
      }
    }
  }
}
