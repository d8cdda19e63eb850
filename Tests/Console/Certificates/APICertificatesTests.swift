import Certificates
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Store
import Testing

@Suite("API: certificates")
struct APICertificatesTests {
  private func upload(
    _ scene: ConsoleScene, _ file: [UInt8], name: String = "push.p12", _ fields: [(String, String)] = [],
    headers: [String: String] = [:]
  ) async throws -> SceneAnswer {
    let form = Multipart([.file("file", name: name, file)] + fields.map { Multipart.Part.field($0.0, $0.1) })
    let types = headers.merging(["Content-Type": form.contentType]) { $1 }
    return try await scene.call(.post, "/api/v1/certificates", as: .admin, headers: types, body: form.body)
  }

  private func kept(_ scene: ConsoleScene) async throws -> [TrackedCertificate] {
    try await scene.store.read { try TrackedCertificate.all($0) }
  }

  @Test("an upload is kept with its key sealed, and told without it")
  func upload() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let file = try CertificateSamples.p12(days: 20)
      let answer = try await upload(scene, file, [("password", "secret"), ("app", ConsoleScene.bundleID)])
      #expect(answer.status == 201, "\(answer.text)")
      #expect(answer.json?["kind"] == "apns_certificate" && answer.json?["state"] == "soon")
      #expect(answer.json?["days_left"] == 20 && answer.json?["has_private_key"] == true)
      #expect(answer.json?["app"]?.string == ConsoleScene.bundleID)
      #expect(answer.json?["topics"]?.array?.contains(.string(ConsoleScene.bundleID)) == true)
      #expect(!answer.text.contains("PRIVATE KEY"))
      let id = try #require(answer.json?["id"]?.integer)
      let sealer = scene.store.sealer
      let material = try await scene.store.read { try TrackedCertificate.material($0, id: id, sealer: sealer) }
      #expect(String(decoding: material, as: UTF8.self).contains("PRIVATE KEY"))
      #expect(try await scene.audit("certificate.create").map(\.subject) == ["certificate \(id)"])
    }
  }

  @Test("a dry run says the same of the file and keeps nothing")
  func dryRun() async throws {
    try await ConsoleScene.with { scene in
      let file = try CertificateSamples.p12(days: 5)
      let dry = try await upload(scene, file, [("password", "secret"), ("dry_run", "true")])
      #expect(dry.status == 200 && dry.json?["id"] == 0 && dry.json?["state"] == "urgent")
      #expect(try await kept(scene).isEmpty)
      #expect(try await scene.audit("certificate.create").isEmpty)
      let real = try await upload(scene, file, [("password", "secret")])
      for member in ["kind", "name", "state", "days_left", "topics", "environments", "sha256", "not_after", "warnings"]
      {
        #expect(dry.json?[member] == real.json?[member], "\(member)")
      }
    }
  }

  @Test("wrong password, no password, no certificate, wrong fields: each is named, and nothing is kept")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let file = try CertificateSamples.p12(days: 20)
      let key = Array(try PrivateKey.generateP256().pkcs8PEM.utf8)
      let cases: [([UInt8], [(String, String)], [String])] = [
        (file, [("password", "guess")], ["password"]), (file, [], ["password"]),
        (Array("%PDF-1.4".utf8), [], ["file"]), ([], [], ["file"]), (key, [], ["key_id", "team_id"]),
        (file, [("password", "secret"), ("app", "com.example.none")], ["app"]),
        (file, [("passwort", "secret")], ["passwort"]), (file, [("dry_run", "yes")], ["dry_run"]),
        (file, [("password", "a"), ("password", "b")], ["password"]),
      ]
      for (bytes, fields, expected) in cases {
        let answer = try await upload(scene, bytes, fields)
        #expect(answer.status == 422 && answer.fields == expected, "\(fields): \(answer.text)")
        #expect(!answer.text.contains("guess"))
      }
      let large = try await upload(scene, [UInt8](repeating: 0x30, count: (1 << 20) + 1))
      #expect(large.status == 413)
      let bare = Multipart([.field("password", "x")])
      let none = try await scene.call(
        .post, "/api/v1/certificates", as: .admin, headers: ["Content-Type": bare.contentType], body: bare.body)
      #expect(none.status == 422 && none.fields == ["file"])
      #expect(try await kept(scene).isEmpty)
    }
  }

  @Test("a file twice is refused; the same request twice is one upload")
  func twice() async throws {
    try await ConsoleScene.with { scene in
      let file = try CertificateSamples.p12(days: 20)
      let key = ["Idempotency-Key": "renewal"]
      let first = try await upload(scene, file, [("password", "secret")], headers: key)
      let second = try await upload(scene, file, [("password", "secret")], headers: key)
      #expect(first.status == 201 && second.status == 201 && first.bytes == second.bytes)
      let plain = try await upload(scene, file, [("password", "secret")])
      #expect(plain.status == 409 && plain.codes == ["certificate.duplicate"])
      let other = try await upload(
        scene, try CertificateSamples.p12(days: 30), [("password", "secret")], headers: key)
      #expect(other.status == 409 && other.fields == ["Idempotency-Key"])
      #expect(try await kept(scene).count == 1)
    }
  }

  @Test("a key with its ids never expires; within leaves it out")
  func within() async throws {
    try await ConsoleScene.with { scene in
      let key = Array(try PrivateKey.generateP256().pkcs8PEM.utf8)
      let answer = try await upload(scene, key, name: "AuthKey_ABCDE12345.p8", [("team_id", "TEAM123456")])
      #expect(answer.status == 201 && answer.json?["state"] == "never_expires")
      #expect(answer.json?["days_left"] == .null && answer.json?["key_id"] == "ABCDE12345")
      for days in [-1.5, 20.5, 40] {
        let file = try CertificateSamples.p12(topic: "com.example.d\(Int(days + 1))", days: days)
        #expect(try await upload(scene, file, [("password", "secret")]).status == 201)
      }
      func left(_ query: String) async throws -> [Int64?] {
        let list = try await scene.call(.get, "/api/v1/certificates" + query, as: .viewer)
        return try #require(list.json?["items"]?.array).map { $0["days_left"]?.integer }
      }
      #expect(try await left("") == [-1, 20, 40, nil])
      #expect(try await left("?within=30d") == [-1, 20])
      #expect(try await left("?within=20d") == [-1, 20], "whole days are counted")
      #expect(try await left("?within=492h") == [-1, 20])
      #expect(try await left("?within=491h") == [-1])
      #expect(try await left("?within=1h") == [-1])
      #expect(try await left("?within=6w") == [-1, 20, 40])
    }
  }

  @Test("a certificate that is kept without its key is completed by it: 200, and the same id")
  func completed() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let p12 = try CertificateSamples.p12(days: 90)
      let file = try CertificateFile.inspect(data: Data(p12), password: "secret")
      func upload(_ bytes: [UInt8], _ name: String) async throws -> SceneAnswer {
        let form = Multipart([.file("file", name: name, bytes), .field("password", "secret")])
        return try await scene.call(
          .post, "/api/v1/certificates", as: .admin, headers: ["Content-Type": form.contentType], body: form.body)
      }
      let first = try await upload(Array(try #require(file.certificate).der), "push.cer")
      #expect(first.status == 201 && first.json?["has_private_key"] == false)
      let second = try await upload(p12, "push.p12")
      #expect(second.status == 200 && second.json?["has_private_key"] == true, "\(second.text)")
      #expect(second.json?["id"] == first.json?["id"])
      #expect(try document.errors(second, to: .init(method: "POST", path: "/api/v1/certificates")) == [])
      #expect(try await upload(p12, "push.p12").status == 409)
      #expect(try await scene.count("certificates") == 1)
      #expect(try await scene.audit("certificate.complete").count == 1)
    }
  }

  @Test("a server of one's own is trusted by its own authority, as long as it is the same server")
  func authority() async throws {
    let document = try OpenAPIDocument()
    let operation = OpenAPIDocument.Operation(method: "PUT", path: "/api/v1/apps/{app}/credentials/{environment}")
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let id = try await CertificateSamples.keep(scene)
      let noon = ConsoleScene.noon
      let authority = try CertificateAuthority(
        subject: [.commonName("Our CA")], notBefore: noon - 1000, notAfter: noon + 1000)
      let pem = authority.certificate.pem
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)/credentials/production"
      func put(_ endpoint: JSONValue, _ trust: JSONValue?) async throws -> SceneAnswer {
        var body: [String: JSONValue] = ["certificate": .integer(id), "endpoint": endpoint]
        body["trust"] = trust
        return try await scene.call(.put, path, as: .admin, json: .object(body))
      }
      let taken = try await put("push.example:2197", .string(authority.key.pkcs8PEM + "\n" + pem))
      #expect(taken.status == 200 && taken.json?["trust"]?.string == pem, "without the key that came along")
      #expect(try document.errors(taken, to: operation) == [])
      let bound = try await scene.store.read { try Credential.all($0).first { $0.environment == .production } }
      #expect(bound?.trustPEM == pem && bound?.endpoint == "push.example:2197")
      #expect(try await put("push.example:2197", nil).json?["trust"]?.string == pem, "the same server keeps it")
      #expect(try await put("other.example:2197", nil).json?["trust"] == .null)
      #expect(try await put("push.example:2197", .string(pem)).json?["trust"]?.string == pem)
      #expect(try await put("push.example:2197", .null).json?["trust"] == .null)
      for (endpoint, trust, code) in [
        ("push.example:2197", "nonsense", "credential.trust"), ("apple", pem, "credential.trust_needs_host"),
        ("simulator", pem, "credential.trust_needs_host"),
        ("push.example:2197", authority.key.pkcs8PEM, "credential.trust"),
      ] {
        let refused = try await put(.string(endpoint), .string(trust))
        #expect(refused.status == 422 && refused.codes == [code] && refused.fields == ["trust"], "\(endpoint)")
        #expect(try document.errors(refused, to: operation) == [])
      }
    }
  }

  @Test("an app sends only with what fits it")
  func credentials() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let right = try await CertificateSamples.keep(scene)
      let wrong = try await CertificateSamples.keep(scene, topic: "com.example.other")
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)/credentials/production"
      let refused = try await scene.call(.put, path, as: .admin, json: ["certificate": .integer(wrong)])
      #expect(refused.status == 422 && refused.codes == ["credential.other_app"])
      for endpoint in ["apple.com", "host:0", "host:99999", "a b:1", ":443"] {
        let answer = try await scene.call(
          .put, path, as: .admin, json: ["certificate": .integer(right), "endpoint": .string(endpoint)])
        #expect(answer.fields == ["endpoint"], "\(endpoint)")
      }
      let taken = try await scene.call(.put, path, as: .admin, json: ["certificate": .integer(right)])
      #expect(taken.status == 200 && taken.json?["endpoint"] == "apple")
      let one = try await scene.call(.get, "/api/v1/certificates/\(right)", as: .viewer)
      #expect(
        one.json?["used_by"] == [
          [
            "app": .string(ConsoleScene.bundleID), "environment": "production", "scheduled_pushes": 0, "schedules": 0,
          ]
        ])
      #expect(try await scene.call(.delete, "/api/v1/certificates/\(right)", as: .admin).status == 409)
      #expect(try await scene.call(.delete, path, as: .admin).status == 204)
      #expect(try await scene.call(.delete, "/api/v1/certificates/\(right)", as: .admin).status == 204)
      #expect(try await scene.audit("credential.set").count == 1)
    }
  }
}
