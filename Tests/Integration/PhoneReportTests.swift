import Console
import Delivery
import Foundation
import JSON
import Logging
import Model
import Reactor
import Simulator
import Store
import TestSupport
import Testing

@testable import signalbox

/// `serve --demo` in this process.
@Suite("Simulated phones report by themselves", .timeLimit(.minutes(2)))
struct PhoneReportTests {
  private func serve(_ body: (Service) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("signalbox-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    var options = Service.Options.test(folder.path)
    options.isDemo = true
    options.log = Logger(label: "signalbox", level: .error, sink: StreamSink.standardError(.text))
    options.passwordCost = .quickForTests
    try await Service.with(options, body)
  }

  @Test("in the demo a push to everybody is displayed, opened and dismissed on both platforms")
  func demo() async throws {
    try await serve { service in
      let phones = try #require(service.simulator?.phones)
      let notification: JSONValue = ["title": "Hello", "body": "World"]
      let draft = try PushDraft(json: [
        "app": "com.example.shop", "environment": "development", "platforms": ["ios", "android"], "audience": "all",
        "notification": notification,
      ])
      let push = try await service.store.write { database in
        let app = try #require(try App.find(database, bundleID: "com.example.shop"))
        return try Push.create(database, NewPush(draft, app: app, source: .api, by: "test"), now: Date())
      }
      service.engine.enqueue(push.id)
      func counts() async throws -> [Platform: ReceiptCounts] {
        try await service.store.read { try ReceiptCounts.byPlatform($0, push: push.id) }
      }
      try await waitUntil("all six phones have displayed it") {
        try await counts().mapValues(\.displayed) == [.ios: 4, .android: 2]
      }
      let received = phones.phones().filter { !$0.received.isEmpty }
      #expect(received.count == 6)
      for phone in received where phone.platform == .android || phone.name.hasPrefix("Ada") {
        try phones.tap(phone.id, try #require(phone.received.first).id)
      }
      try await waitUntil("three have opened it") {
        try await counts().mapValues(\.opened) == [.ios: 1, .android: 2]
      }
      phones.clearAll()
      try await waitUntil("the others have dismissed it") {
        try await counts().mapValues(\.dismissed) == [.ios: 3, .android: 0]
      }
      let keys = try await service.store.read { try ClientKey.all($0, app: push.appID) }
      #expect(keys.count == 1, "the app's page has code that works")
    }
  }
}
