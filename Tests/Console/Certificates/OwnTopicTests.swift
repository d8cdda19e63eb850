import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import Store
import TestSupport
import Testing

@Suite("Certificates for passes, websites and device management")
struct OwnTopicTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let topic: String
    let name: String
    /// The members of the push beside audience and app.
    let push: JSONValue
    let payload: JSONValue
    let type: PushType
  }

  private static let cases = [
    Case(
      testDescription: "passes", topic: "pass.com.example.shop.card", name: "Pass Type ID: pass.com.example.shop.card",
      push: [:], payload: [:], type: .alert),
    Case(
      testDescription: "passes, with the payload that Apple asks for", topic: "pass.com.example.shop.card",
      name: "Pass Type ID: pass.com.example.shop.card", push: ["apns": ["payload": [:]]], payload: [:], type: .alert),
    Case(
      testDescription: "device management", topic: "com.apple.mgmt.External.7C5B3A1E-0000-4000-8000-000000000001",
      name: "APSP:7C5B3A1E-0000-4000-8000-000000000001", push: ["apns": ["payload": ["mdm": "MAGIC"]]],
      payload: ["mdm": "MAGIC"], type: .mdm),
    Case(
      testDescription: "device management, named otherwise", topic: "com.apple.mgmt.XServer.7C5B3A1E", name: "Anything",
      push: ["apns": ["payload": ["mdm": "MAGIC"]]], payload: ["mdm": "MAGIC"], type: .mdm),
    Case(
      testDescription: "a website", topic: "web.com.example", name: "Website Push ID: web.com.example",
      push: ["apns": ["payload": ["aps": ["alert": "Hello", "url-args": []]]]],
      payload: ["aps": ["alert": "Hello", "url-args": []]], type: .alert),
  ]

  private func p12(_ topic: String, _ name: String) throws -> [UInt8] {
    let noon = ConsoleScene.noon
    let authority = try CertificateAuthority(
      subject: [.commonName("Apple WWDR"), .organization("Apple Inc.")], notBefore: noon - 1e6, notAfter: noon + 1e9)
    let (certificate, key) = try authority.issue(
      CertificateBlueprint(
        subject: [.userID(topic), .commonName(name)], notBefore: noon - 1000, notAfter: noon + 1e7, purpose: .client))
    return Array(try PKCS12.create(certificate: certificate, key: key, password: "secret"))
  }

  private func upload(_ scene: ConsoleScene, _ topic: String, _ name: String) async throws -> SceneAnswer {
    let form = Multipart([.file("file", name: "own.p12", try p12(topic, name)), .field("password", "secret")])
    return try await scene.call(
      .post, "/api/v1/certificates", as: .admin, headers: ["Content-Type": form.contentType], body: form.body)
  }

  @Test("the app whose bundle ID is the topic can be given the certificate, and sends with it", arguments: cases)
  func sends(_ test: Case) async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(test.topic)
      try await scene.addDevices(2, of: app, environment: .production)
      let kept = try await upload(scene, test.topic, test.name)
      #expect(kept.status == 201 && kept.json?["kind"] == "apple_certificate", "\(kept.text)")
      #expect(kept.json?["topics"] == [.string(test.topic)] && kept.json?["environments"] == ["production"])
      let id = try #require(kept.json?["id"])
      let path = "/api/v1/apps/\(test.topic)/credentials/"
      let bound = try await scene.call(.put, path + "production", as: .admin, json: ["certificate": id])
      #expect(bound.status == 200, "\(bound.text)")
      let wrong = try await scene.call(.put, path + "development", as: .admin, json: ["certificate": id])
      #expect(wrong.codes == ["credential.other_environment"], "\(wrong.text)")
      var members = test.push.object ?? [:]
      (members["app"], members["environment"]) = (.string(test.topic), "production")
      (members["platforms"], members["audience"]) = (["ios"], "all")
      let draft = try PushDraft(json: .object(members))
      let payload = APNsPayload(draft)
      #expect(payload.json == test.payload && payload.pushType == test.type && payload.topic == test.topic)
      let created = try await scene.call(.post, "/api/v1/pushes", as: .admin, json: .object(members))
      let findings = (created.json?["findings"]?.array ?? []).filter { $0["severity"] != "hint" }
      #expect(created.status == 202 && findings.isEmpty, "\(created.text)")
      let push = try await scene.finished(try #require(created.json?["id"]?.string))
      #expect(push.counts.accepted == 2)
      // Its page knows what it is for.
      var anna = try await scene.signIn(.admin)
      let page = try await anna.get("/certificates/\(id.integer ?? 0)").text
      #expect(page.contains(test.topic) && !page.contains("cannot send"), "\(page)")
    }
  }

  @Test("other apps, also one above the topic, cannot be given it; a renewal for another topic is stopped")
  func others() async throws {
    try await ConsoleScene.with { scene in
      let topic = "pass.com.example.shop.card"
      try await scene.addApp()
      try await scene.addApp("pass.com.example.shop")
      let app = try await scene.addApp(topic)
      try await scene.addDevices(3, of: app, environment: .production)
      let id = try #require(try await upload(scene, topic, "Pass Type ID: \(topic)").json?["id"])
      for other in [ConsoleScene.bundleID, "pass.com.example.shop"] {
        let path = "/api/v1/apps/\(other)/credentials/production"
        let refused = try await scene.call(.put, path, as: .admin, json: ["certificate": id])
        #expect(refused.status == 422 && refused.codes == ["credential.other_app"], "\(refused.text)")
      }
      let path = "/api/v1/apps/\(topic)/credentials/production"
      #expect(try await scene.call(.put, path, as: .admin, json: ["certificate": id]).status == 200)
      let other = try p12("pass.com.example.other", "Pass Type ID: pass.com.example.other")
      let form = Multipart([.file("file", name: "new.p12", other), .field("password", "secret")])
      let stopped = try await scene.call(
        .post, "/api/v1/certificates/\(id.integer ?? 0)/renew", as: .admin,
        headers: ["Content-Type": form.contentType], body: form.body)
      #expect(stopped.status == 422 && stopped.codes == ["renewal.other_topic"], "\(stopped.text)")
      #expect(stopped.text.contains("3"))
    }
  }
}
