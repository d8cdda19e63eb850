import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite struct CertificateTests {
  private func details(_ name: String, notAfter: Date?) -> TrackedCertificate.Details {
    var details = TrackedCertificate.Details(kind: "apns-certificate", name: name, fileName: name + ".p12")
    details.notAfter = notAfter
    details.notBefore = notAfter.map { $0.addingTimeInterval(-365 * 86_400) }
    details.environments = [.development, .production]
    details.topics = ["com.example.shop", "com.example.shop.voip"]
    details.sha256 = "AA:BB"
    details.hasPrivateKey = true
    return details
  }

  @Test("a certificate comes back with all that was said, and its material only to its own row")
  func roundTrip() throws {
    try withApp { database, app in
      var details = details("Shop", notAfter: noon.addingTimeInterval(100))
      details.appID = app.id
      details.subject = "CN=Apple Push Services: com.example.shop"
      details.teamID = "ABCDE12345"
      let sealer = TestSealer()
      let first = try TrackedCertificate.add(
        database, details, material: [1, 2, 3], sealer: sealer, by: "anna", now: noon)
      #expect(first.details == details)
      #expect(first.uploadedBy == "anna")
      let second = try TrackedCertificate.add(database, details, material: [9], sealer: sealer, by: "b", now: noon)
      #expect(try TrackedCertificate.material(database, id: first.id, sealer: sealer) == [1, 2, 3])
      #expect(try TrackedCertificate.find(database, sha256: "AA:BB").map(\.id) == [first.id, second.id])
      try database.run(
        "UPDATE certificates SET sealed = (SELECT sealed FROM certificates WHERE id = ?) WHERE id = ?", first.id,
        second.id)
      #expect(throws: TestSealer.Refused.self) {
        try TrackedCertificate.material(database, id: second.id, sealer: sealer)
      }
      let kept = try database.fetchOne("SELECT sealed FROM certificates WHERE id = ?", first.id) { $0.blob(0) }
      #expect(kept != [1, 2, 3])
      #expect(try TrackedCertificate.update(database, id: first.id, name: "New", app: nil).details.appID == nil)
    }
  }

  @Test("ordered by end; without an end last")
  func order() throws {
    try withDatabase { database in
      for (name, end) in [("never", nil), ("late", 20.0), ("soon", 1.0), ("over", -1.0)] as [(String, Double?)] {
        try TrackedCertificate.add(
          database, details(name, notAfter: end.map { noon.addingTimeInterval($0 * 86_400) }), material: [],
          sealer: TestSealer(), by: "anna", now: noon)
      }
      let all = try TrackedCertificate.all(database)
      #expect(all.map(\.details.name) == ["over", "soon", "late", "never"])
    }
  }

  @Test("a certificate that is needed says by whom and stays")
  func uses() throws {
    try withApp { database, app in
      try register(database, app, [registration(1), registration(2), registration(3, .development)])
      let certificate = try TrackedCertificate.add(
        database, details("Shop", notAfter: nil), material: [1], sealer: TestSealer(), by: "anna", now: noon)
      let credential = try Credential.bind(
        database, app: app.id, provider: .apns, environment: .production, certificate: certificate.id,
        endpoint: "apple", now: noon)
      let uses = try TrackedCertificate.uses(database)
      #expect(uses[certificate.id]?.map(\.bundleID) == ["com.example.shop"])
      #expect(uses[certificate.id]?.first?.activeDevices == 2)
      #expect(throws: StoreError.inUse(noun: "certificate", by: ["com.example.shop (apns, production)"])) {
        try TrackedCertificate.delete(database, id: certificate.id)
      }
      #expect(try Credential.unbind(database, id: credential.id))
      #expect(try TrackedCertificate.delete(database, id: certificate.id))
      #expect(try !TrackedCertificate.delete(database, id: certificate.id))
    }
  }

  @Test("a credential's health follows the newest answer, and restarts with another certificate")
  func health() throws {
    try withApp { database, app in
      let sealer = TestSealer()
      let certificates = try ["a", "b"].map {
        try TrackedCertificate.add(
          database, details($0, notAfter: nil), material: [], sealer: sealer, by: "x", now: noon)
      }
      func bind(_ certificate: Int64) throws -> Credential {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: certificate,
          endpoint: "apple", now: noon)
      }
      var credential = try bind(certificates[0].id)
      #expect(credential.health == .unused)
      #expect(credential.certificateName == "a")
      func noted(_ verdict: Credential.Verdict) throws -> Credential.Health? {
        try Credential.note(database, id: credential.id, verdict)
        return try Credential.find(database, id: credential.id)?.health
      }
      #expect(try noted(.accepted(at: noon)) == .accepted)
      #expect(try noted(.refused(at: noon + 10, reason: "ExpiredProviderToken")) == .refused)
      #expect(try noted(.accepted(at: noon + 5)) == .refused)
      #expect(try noted(.accepted(at: noon + 20)) == .accepted)
      #expect(try noted(.refused(at: noon + 1, reason: "older")) == .accepted)
      #expect(try Credential.find(database, id: credential.id)?.lastRefusal == "ExpiredProviderToken")
      credential = try bind(certificates[0].id)
      #expect(credential.health == .accepted)
      credential = try bind(certificates[1].id)
      #expect(credential.health == .unused)
      #expect(
        try Credential.find(database, app: app.id, provider: .apns, environment: .development) == credential)
      #expect(try Credential.find(database, app: app.id, provider: .apns, environment: .production) == nil)
    }
  }
}
