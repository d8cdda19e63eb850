import Foundation
import JSON
import SQLite
import Store
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("A successor in place")
  struct RenewalTests {
    @Test("brought, previewed, tried with the simulator, switched, undone; a request made and downloaded")
    func life() async throws {
      try await BrowserScene.run { scene in
        // The demo's app sends with a certificate that ends soon.
        let id = try await scene.keep(try scene.pushFile("old.p12", daysLeft: 9))
        try await scene.bind(id)
        try await scene.open("/certificates/\(id)")
        try await scene.sees("Create the certificate in the Apple developer account, team TEAM123456")
        try await scene.press("Create a signing request")
        try await scene.sees("Waiting for its certificate")
        try await scene.audit("a certificate with its guide")

        try await scene.browser.find("#successor").type(try scene.pushFile("new.p12", daysLeft: 390))
        try await scene.fill("password", "open sesame")
        try await scene.press("Preview")
        try await scene.sees("Same topic and team. All devices stay reachable.")
        let fits = try await scene.fits("main .table.compared")
        #expect(fits, "nothing of the replacement is cut")
        try await scene.press("Test only")
        try await scene.sees("400 BadDeviceToken")
        try await scene.audit("a preview that was tried")
        try await scene.press("Switch")
        try await scene.sees("The replacement is in use.")
        try await scene.sees("Replaced")
        try await scene.audit("a successor")
        try await scene.open("/")
        let needs = try await scene.browser.findAll("ul.needs li")
        for need in needs { #expect(try await !need.text().contains("Apple Push Services"), "its alarm is silent") }
        try await scene.open("/certificates/\(id)/undo")
        try await scene.audit("undo")
        try await scene.press("Switch back")
        try await scene.sees("The old credential is in use again.")
        try await scene.open("/certificates/requests")
        try await scene.sees("CN=com.example.shop")
        try await scene.audit("signing requests")
      }
    }

    @Test("a file of another topic stops at the preview; another key than the database's is said, with the way on")
    func stopped() async throws {
      try await BrowserScene.run { scene in
        let id = try await scene.keep(try scene.pushFile("old.p12", daysLeft: 9))
        _ = try await scene.service.store.write { database in
          try database.run("UPDATE sealing_key SET identifier = 'another'")
          return try database.run("UPDATE certificates SET sealed = x'00' WHERE id = ?", id)
        }
        try await scene.open("/certificates/\(id)")
        try await scene.sees("Upload it again")
        try await scene.audit("a certificate that does not open")
        try await scene.open("/certificates")
        try await scene.sees("The encryption key file does not match this database")
        try await scene.audit("the list without its key")
        try await scene.open("/certificates/key")
        try await scene.audit("begin anew")
        try await scene.press("Start over with a new key")
        try await scene.sees("Confirm that the old key is lost")
      }
    }
  }
}
