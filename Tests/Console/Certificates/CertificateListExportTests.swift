import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Export of certificates", .timeLimit(.minutes(2)))
struct CertificateListExportTests {
  @Test("days since an expiry are a number in both forms")
  func expired() async throws {
    try await ConsoleScene.with { scene in
      _ = try await CertificateSamples.keep(scene, days: -3.5, begin: -9)
      try await scene.served(to: try await scene.signIn(.viewer)) { served in
        let csv = try await served.get("/certificates.csv")
        #expect(csv.contains(",-3,false,push.p12,"), "\(csv)")
        let json = try await served.get("/certificates.json")
        #expect(json.contains("\"days_left\":-3"))
      }
    }
  }

  @Test("both forms have files and hosts with what the list says of them, its filters, and never a key")
  func whole() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      _ = try await scene.store.write { database in
        let end = ConsoleScene.noon.addingTimeInterval(12.5 * 86_400)
        return try database.run(
          "UPDATE certificates SET name = '+' || name, public_pem = '-----BEGIN CERTIFICATE-----', not_after = ?", end)
      }
      let (files, hosts) = try await scene.store.read { database in
        (try TrackedCertificate.all(database), try WatchedHost.all(database))
      }
      let file = try #require(files.first)
      let vera = try await scene.signIn(.viewer)
      try await scene.served(to: vera) { served in
        let json = try await served.get("/certificates.json")
        let list = try JSONValue(parsing: Data(DeviceListExportTests.body(json).utf8)).array ?? []
        #expect(list.count == files.count + hosts.count)
        let own = list.first { $0["id"]?.string == "certificates/\(file.id)" }
        #expect(own?["kind"]?.string == file.details.kind && own?["file_name"]?.string == file.details.fileName)
        #expect(own?["sha256"]?.string == file.details.sha256 && own?["serial"]?.string == file.details.serial)
        #expect(
          own?["uploaded_by"]?.string == file.uploadedBy
            && own?["days_left"] == 12)
        #expect(Set(list.compactMap { $0["replaced"]?.bool }) == [true, false])
        #expect(list.contains { $0["kind"] == "host" && $0["name"]?.string == hosts.first?.name })
        let csv = try await served.get("/certificates.csv")
        #expect(csv.contains("id,kind,name,apps,topics,environments,team_id,key_id,serial,sha256,state,"))
        #expect(csv.matches(of: /(?m)^(?:certificates|hosts)\/[0-9]+,/).count == list.count)
        #expect(csv.contains(",'+"), "a formula is guarded")
        for secret in ["PRIVATE", "BEGIN", "sealed", "material"] {
          #expect(!json.contains(secret) && !csv.contains(secret), "\(secret)")
        }
        let some = try await served.get("/certificates.csv?kind=host")
        #expect(some.matches(of: /(?m)^hosts\/[0-9]+,host,/).count == hosts.count && !some.contains("certificates/"))
      }
      #expect(try await scene.audit("certificate.export").count == 3)
      var browser = vera
      let page = ScenePage(try await browser.get("/certificates?kind=host"))
      #expect(page.links.contains("/certificates.csv?kind=host"))
    }
  }
}
