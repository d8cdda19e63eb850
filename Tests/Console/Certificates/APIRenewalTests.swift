import Delivery
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Providers
import SQLite
import Store
import Testing

@Suite("API: successors and signing requests")
struct APIRenewalTests {
  private func renew(
    _ scene: ConsoleScene, _ id: Int64, _ file: [UInt8], name: String = "new.p12", _ fields: [(String, String)] = [],
    headers: [String: String] = [:]
  ) async throws -> SceneAnswer {
    let all = [("password", "secret")] + fields
    let form = Multipart([.file("file", name: name, file)] + all.map { Multipart.Part.field($0.0, $0.1) })
    return try await scene.call(
      .post, "/api/v1/certificates/\(id)/renew", as: .admin,
      headers: headers.merging(["Content-Type": form.contentType]) { $1 }, body: form.body)
  }

  private func bound(_ scene: ConsoleScene) async throws -> Int64 {
    let app = try await scene.addApp()
    let id = try await CertificateSamples.keep(scene)
    _ = try await scene.store.write { database in
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: .production, certificate: id, endpoint: "apple",
        now: ConsoleScene.noon)
    }
    return id
  }

  @Test("a key that was used for one certificate does not answer for another")
  func keyAndCertificate() async throws {
    try await ConsoleScene.with { scene in
      let (one, other) = (try await CertificateSamples.keep(scene), try await CertificateSamples.keep(scene))
      let file = try CertificateSamples.p12(days: 400)
      let key = ["Idempotency-Key": "renewal"]
      let first = try await renew(scene, one, file, [("untried", "true")], headers: key)
      #expect(first.status == 200 && first.json?["switched"] == true, "\(first.text)")
      let second = try await renew(scene, other, file, [("untried", "true")], headers: key)
      #expect(second.status == 409 && second.fields == ["Idempotency-Key"], "\(second.text)")
    }
  }

  @Test("dry run, refusal, no trial, switch, undo: as the document says")
  func life() async throws {
    let document = try OpenAPIDocument()
    let operation = OpenAPIDocument.Operation(method: "POST", path: "/api/v1/certificates/{id}/renew")
    try await ConsoleScene.with { scene in
      let old = try await bound(scene)
      let file = try CertificateSamples.p12(days: 400)
      let dry = try await renew(scene, old, file, [("dry_run", "true")])
      #expect(dry.status == 200 && dry.json?["switched"] == false && dry.json?["outcome"] == "ready", "\(dry.text)")
      #expect(dry.json?["trials"]?.array?.first?["result"] == "taken")
      #expect(try document.errors(dry, to: operation) == [])
      scene.provider.answerTrials(.refused(reason: "InvalidProviderToken"))
      let refused = try await renew(scene, old, file)
      #expect(refused.status == 422 && refused.codes == ["trial.refused"] && refused.fields == ["file"])
      #expect(try document.errors(refused, to: operation) == [])
      scene.provider.answerTrials(.undecided(reason: "connection refused"))
      let untried = try await renew(scene, old, file)
      #expect(untried.status == 422 && untried.codes == ["trial.undecided"] && untried.fields == ["untried"])
      let other = try await renew(scene, old, try CertificateSamples.p12(topic: "com.example.other", days: 400))
      #expect(other.status == 422 && other.codes == ["renewal.other_topic"])
      let key = ["Idempotency-Key": "renewal"]
      let done = try await renew(scene, old, file, [("untried", "true")], headers: key)
      #expect(done.status == 200 && done.json?["switched"] == true && done.json?["credentials_moved"] == 1)
      #expect(done.json?["certificate"]?["id"] == 2 && !done.text.contains("PRIVATE"))
      #expect(try document.errors(done, to: operation) == [])
      let again = try await renew(scene, old, file, [("untried", "true")], headers: key)
      #expect(again.json == done.json, "\(again.text)")
      #expect(try await scene.audit("certificate.renew").count == 1)
      let shown = try await scene.call(.get, "/api/v1/certificates/\(old)", as: .viewer)
      #expect(shown.json?["replaced_by"] == 2 && shown.json?["kept_until"] == "2026-12-20T12:00:00Z", "\(shown.text)")
      let (undo, place) = ("/api/v1/certificates/\(old)/undo", "/api/v1/certificates/{id}/undo")
      let back = OpenAPIDocument.Operation(method: "POST", path: place)
      scene.provider.answerTrials(.refused(reason: "Expired"))
      let dead = try await scene.call(.post, undo, as: .admin, json: ["untried": true])
      #expect(dead.status == 422 && dead.codes == ["trial.refused"] && dead.fields == ["certificate"])
      #expect(try document.errors(dead, to: back) == [])
      scene.provider.answerTrials(.undecided(reason: "connection refused"))
      let away = try await scene.call(.post, undo, as: .admin)
      #expect(away.status == 422 && away.codes == ["trial.undecided"] && away.fields == ["untried"])
      #expect(try await scene.audit("certificate.undo").isEmpty)
      let undone = try await scene.call(.post, undo, as: .admin, json: ["untried": true])
      #expect(undone.status == 200 && undone.json?["credentials_moved"] == 1, "\(undone.text)")
      #expect(undone.json?["trials"]?.array?.first?["result"] == "undecided")
      #expect(try document.errors(undone, to: back) == [])
      #expect(undone.json?["certificate"]?["replaced_by"] == .null)
      let twice = try await scene.call(.post, "/api/v1/certificates/\(old)/undo", as: .admin)
      #expect(twice.status == 409)
    }
  }

  @Test("what was replaced is not replaced again; a lost answer is still given again; what sends again may be")
  func replacedAlready() async throws {
    let document = try OpenAPIDocument()
    let operation = OpenAPIDocument.Operation(method: "POST", path: "/api/v1/certificates/{id}/renew")
    try await ConsoleScene.with { scene in
      let old = try await bound(scene)
      let first = try CertificateSamples.p12(days: 400)
      let key = ["Idempotency-Key": "first"]
      let done = try await renew(scene, old, first, headers: key)
      #expect(done.status == 200 && done.json?["credentials_moved"] == 1)
      let before = try await scene.changes()
      for file in [first, try CertificateSamples.p12(days: 500)] {
        let again = try await renew(scene, old, file)
        #expect(again.status == 409 && again.codes == ["renewal.replaced"], "\(again.text)")
        #expect(try document.errors(again, to: operation) == [])
        let dry = try await renew(scene, old, file, [("dry_run", "true")])
        #expect(dry.json?["outcome"] == "stopped" && dry.json?["findings"]?.array?.count == 1, "\(dry.text)")
      }
      #expect(try await scene.changes() == before)
      #expect(try await renew(scene, old, first, headers: key).json == done.json)
      // Somebody binds the old one again: then it is used, and may be replaced again.
      _ = try await scene.store.write {
        try $0.run("UPDATE credentials SET certificate_id = ? WHERE environment = 'production'", old)
      }
      let later = try await renew(scene, old, try CertificateSamples.p12(days: 600))
      #expect(later.status == 200 && later.json?["credentials_moved"] == 1, "\(later.text)")
    }
  }

  @Test("what is noted is changed alone, told with what it was, and goes over to the successor unless said otherwise")
  func notes() async throws {
    try await ConsoleScene.with { scene in
      let old = try await bound(scene)
      let path = "/api/v1/certificates/\(old)"
      let patched = try await scene.call(
        .patch, path, as: .admin, json: ["made_by": "anna@example.com", "note": "Ask Bob"])
      #expect(patched.status == 200 && patched.json?["made_by"] == "anna@example.com", "\(patched.text)")
      let name = patched.json?["name"]
      let app = try await scene.call(.patch, path, as: .admin, json: ["app": .string(ConsoleScene.bundleID)])
      #expect(app.json?["note"] == "Ask Bob" && app.json?["name"] == name)
      #expect(app.json?["app"]?.string == ConsoleScene.bundleID)
      #expect(try await scene.call(.patch, path, as: .admin, json: ["app": .null]).json?["app"] == .null)
      let detail = try #require(try await scene.audit("certificate.update").last?.detail)
      #expect(detail["before"]?["note"] == .null && detail["after"]?["note"] == "Ask Bob")
      for (body, fields) in [
        ([:], [""]), (["name": ""], ["name"]), (["name": .null], ["name"]), (["app": "com.example.none"], ["app"]),
        (["serial": "1"], ["serial"]), (["made_by": .string(String(repeating: "x", count: 321))], ["made_by"]),
      ] as [(JSONValue, [String])] {
        let refused = try await scene.call(.patch, path, as: .admin, json: body)
        #expect(refused.status == 422 && refused.fields == fields, "\(body): \(refused.text)")
      }
      #expect(try await scene.call(.patch, path, as: .operator, json: ["note": "x"]).status == 403)
      #expect(try await scene.call(.patch, "/api/v1/certificates/99", as: .admin, json: ["note": "x"]).status == 404)
      let done = try await renew(scene, old, try CertificateSamples.p12(days: 400), [("note", "Since May")])
      #expect(done.json?["certificate"]?["made_by"] == "anna@example.com", "\(done.text)")
      #expect(done.json?["certificate"]?["note"] == "Since May")
      let long = try await renew(
        scene, old, try CertificateSamples.p12(days: 500),
        [("note", String(repeating: "x", count: 2001)), ("dry_run", "true")])
      #expect(long.status == 422 && long.fields == ["note"])
    }
  }

  @Test("a signing request is made, listed, fetched and removed; its key is in no answer")
  func requests() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let path = "/api/v1/certificate-requests"
      let made = try await scene.call(.post, path, as: .admin, json: ["app": .string(ConsoleScene.bundleID)])
      #expect(made.status == 201 && made.json?["algorithm"] == "rsa-2048" && made.json?["state"] == "waiting")
      #expect(try document.errors(made, to: .init(method: "POST", path: path)) == [])
      let id = try #require(made.json?["id"]?.string)
      #expect(made.location == "\(path)/\(id)")
      let one = try await scene.call(.get, "\(path)/\(id)", as: .viewer)
      #expect(one.json == made.json && one.json?["pem"]?.string?.hasPrefix("-----BEGIN CERTIFICATE REQUEST") == true)
      let host = try await scene.call(.post, path, as: .admin, json: ["hosts": ["push.example.com"]])
      #expect(host.status == 201 && host.json?["algorithm"] == "p-256" && host.json?["purpose"] == "host")
      let list = try await scene.call(.get, path, as: .viewer)
      #expect(list.json?["items"]?.array?.count == 2 && !list.text.contains("PRIVATE"))
      #expect(try document.errors(list, to: .init(method: "GET", path: path)) == [])
      for (body, fields) in [
        ([:], ["app"]), (["hosts": ["a b"]], ["hosts"]), (["app": "com.example.none"], ["app"]),
        (["app": .string(ConsoleScene.bundleID), "algorithm": "p-256"], ["algorithm"]), (["apps": "x"], ["apps"]),
      ] as [(JSONValue, [String])] {
        let refused = try await scene.call(.post, path, as: .admin, json: body)
        #expect(refused.status == 422 && refused.fields == fields, "\(body): \(refused.text)")
      }
      #expect(try await scene.call(.delete, "\(path)/\(id)", as: .admin).status == 204)
      #expect(try await scene.call(.get, "\(path)/\(id)", as: .viewer).status == 404)
    }
  }
}
