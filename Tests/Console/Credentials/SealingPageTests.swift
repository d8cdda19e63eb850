import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import SQLite
import Store
import Testing

@Suite("Pages: what the key does not open")
struct SealingPageTests {
  @Test("a damaged row is told as such, beside a form that takes the file anew; then it is well again")
  func damaged() async throws {
    try await ConsoleScene.with { scene in
      let bytes = try CertificateSamples.p12(days: 365)
      let file = try CertificateFile.inspect(data: Data(bytes), fileName: "push.p12", password: "secret")
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        try CertificateTracker.keep(
          database, file, .init(fileName: "push.p12"), sealer: sealer, by: "test", now: ConsoleScene.noon)
        try database.run("UPDATE certificates SET sealed = x'01020304'")
      }
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.get("/").text.contains("cannot be decrypted. Pushes with it fail"))
      let list = ScenePage(try await anna.get("/certificates"))
      #expect(list.text.contains("Upload each file again") && list.links.contains("/certificates/1#replace"))
      let page = try await anna.get("/certificates/1")
      #expect(page.text.contains("Upload it again") && page.text.contains("the row is damaged"))
      let preview = try #require(
        try await anna.upload(
          "/certificates/1/successor", [.file("successor", name: "push.p12", bytes), .field("password", "secret")]
        ).location)
      #expect(try await anna.get(preview).text.contains("Only the key is restored"))
      #expect(try await anna.post(preview, [("action", "switch")]).location == "/certificates/1")
      let material = try await scene.store.read { try TrackedCertificate.material($0, id: 1, sealer: sealer) }
      #expect(String(decoding: material, as: UTF8.self).contains("PRIVATE KEY"))
      #expect(try await scene.audit("certificate.refill").count == 1)
      #expect(!(try await anna.get("/")).text.contains("cannot be decrypted"))
    }
  }

  @Test("of many that do not open twenty are named, and the others counted")
  func many() async throws {
    try await ConsoleScene.with { scene in
      let file = try CertificateFile.inspect(
        data: Data(try CertificateSamples.p12(days: 365)), fileName: "push.p12", password: "secret")
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        let kept = try CertificateTracker.keep(
          database, file, .init(fileName: "push.p12"), sealer: sealer, by: "test", now: ConsoleScene.noon)
        let columns = try database.fetchAll("SELECT name FROM pragma_table_info('certificates')") { $0.text(0) }
          .filter { !["id", "sha256"].contains($0) }.joined(separator: ", ")
        for number in 1...24 {
          try database.run(
            "INSERT INTO certificates(sha256, \(columns)) SELECT ?, \(columns) FROM certificates WHERE id = ?",
            "\(number)", kept.id)
        }
        try database.run("UPDATE certificates SET sealed = x'01020304'")
      }
      var anna = try await scene.signIn(.admin)
      let list = ScenePage(try await anna.get("/certificates"))
      #expect(list.links.count { $0.hasSuffix("#replace") } == 20 && list.text.contains("and 5 more"))
      let overview = try await anna.get("/").text
      // Once more as what is most urgent.
      #expect(overview.components(separatedBy: "cannot be decrypted. Pushes with it fail").count == 22)
      #expect(overview.contains("5 more items"))
    }
  }

  @Test("another key than the database's: pages say so, nothing is sealed, and a tick begins anew")
  func other() async throws {
    try await ConsoleScene.with { scene in
      _ = try await CertificateSamples.keep(scene)
      _ = try await scene.store.write { try $0.run("UPDATE sealing_key SET identifier = 'another'") }
      var anna = try await scene.signIn(.admin)
      let list = ScenePage(try await anna.get("/certificates"))
      #expect(list.text.contains("does not match this database") && list.links.contains("/certificates/key"))
      let refused = try await anna.upload(
        "/certificates",
        [
          .file("file", name: "x.p12", try CertificateSamples.p12(topic: "com.example.two", days: 9)),
          .field("password", "secret"), .field("action", "keep"),
        ])
      #expect(refused.status == 422 && refused.text.contains("does not match this database"))
      let unticked = try await anna.post("/certificates/key")
      #expect(unticked.status == 422 && ScenePage(unticked).failedFields == ["confirm"])
      #expect(try await anna.post("/certificates/key", [("confirm", "yes")]).location == "/certificates")
      let state = try await scene.store.read { [sealer = scene.store.sealer] in try Sealing.state($0, sealer) }
      #expect(state == .fits)
      #expect(try await scene.audit("key.begin_anew").count == 1)
      #expect(try await anna.get("/certificates/key").text.contains("The encryption key matches"))
    }
  }
}
