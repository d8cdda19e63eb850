import Foundation
import HTTPServer
import JSON
import SQLite
import Store
import TestSupport
import Testing

@testable import signalbox

@Suite("signalbox webhooks, and doctor --bundle")
struct WebhooksCommandTests {
  @Test("listed and tried; one that fails for a day is an exit code, and a line of the doctor")
  func life() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      #expect(await box.run("webhooks", "list").code == 0)
      var router = Router()
      router.on(.post, "/events") { request in
        let body = try await request.body.collect(upTo: 1 << 20)
        let isTest = String(decoding: body, as: UTF8.self).contains("webhook.test")
        return Response(isTest ? .ok : .badRequest, body: .bytes(Array("taken".utf8)))
      }
      try await WebTestServer.with(router) { address in
        let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
        let sealer = store.sealer
        let id = try store.writeSync { database in
          try Webhook.add(
            database, Webhook.Details(name: "Billing", target: "127.0.0.1"), address: "http://\(address)/events",
            sealer: sealer, by: "anna", now: CommandRunner.noon
          ).webhook.id
        }
        store.close()
        let tried = await box.run("webhooks", "test", "\(id)")
        #expect(tried.code == 0 && tried.output.contains("Accepted: 200 taken"))
        #expect(await box.run("webhooks", "test", "99").code == 1)
      }
      let listed = await box.run("webhooks", "list", "--json")
      #expect(listed.code == 0 && listed.json?.array?.first?["name"] == "Billing")
      let database = try Database(path: box.data + "/signalbox.sqlite")
      try database.run("UPDATE webhooks SET failures = 9, failing_since = ?", CommandRunner.noon - 90_000)
      database.close()
      let failing = await box.run("webhooks", "list")
      #expect(failing.code == 1 && failing.output.contains("127.0.0.1"))
      #expect(await box.run("doctor").output.contains("Billing (127.0.0.1) has accepted no events since"))
      let early = await box.run("webhooks", "list", now: CommandRunner.noon - 80_000)
      #expect(early.code == 0, "not yet for a day")
    }
  }

  @Test(
    "the bundle has what the doctor found, is readable by its owner alone, and is told of when it cannot be written")
  func bundle() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let path = box.folder + "/support.tar.gz"
      let written = await box.run("doctor", "--bundle", path)
      #expect(written.errors.contains("the support bundle is in \(path)"))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let text = try await OtherProgram.run("/usr/bin/tar", ["-xzOf", path]).output
      #expect(text.contains("integrity check passed") && text.contains("com.example.shop"))
      #expect(text.contains("\"version\""))
      let database = try Database(path: box.data + "/signalbox.sqlite", mode: .reader)
      defer { database.close() }
      let entry = try #require(try AuditEntry.list(database, limit: 1).items.first).entry
      #expect(entry.action == "database.bundle" && entry.actor == commandActor && entry.subject == "file \(path)")
      let key = box.data + "/secret.key"
      let bytes = FileManager.default.contents(atPath: key)
      let over = await box.run("doctor", "--bundle", key)
      #expect(over.code == 1 && over.errors.contains("\(key) already exists and is not overwritten."), "\(over)")
      #expect(FileManager.default.contents(atPath: key) == bytes)
      let lost = await box.run("doctor", "--bundle", box.folder + "/nowhere/support.tar.gz")
      #expect(lost.code == 1 && lost.errors.contains("cannot be written"))
    }
  }
}
