import Foundation
import JSON
import Logging
import Model
import TestSupport
import Testing

@testable import Simulator

@Suite("Reports of simulated phones")
struct PhoneReporterTests {
  private struct Refused: Error {}

  /// One report: who, what and of which push.
  private struct Report: Equatable {
    let token: String
    let event: String
    let ids: [String]

    init(_ token: String, _ event: String, _ ids: [String]) { (self.token, self.event, self.ids) = (token, event, ids) }

    init(_ body: [UInt8]) throws {
      let json = try JSONValue(parsing: body)
      token = json["token"]?.string ?? ""
      let receipts = json["receipts"]?.array ?? []
      event = receipts.first?["event"]?.string ?? ""
      ids = receipts.map { "\($0["sbid"]?.string ?? "") \($0["sbsig"]?.string ?? "")" }
    }
  }

  /// Runs a reporter of a phone book while `body` acts.
  private func reports(
    _ book: PhoneBook, _ count: Int, _ body: () async throws -> Void
  ) async throws -> [Report] {
    let (bodies, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let reporter = PhoneReporter(book, log: Logger(label: "test", sink: MemorySink())) { continuation.yield($0) }
    let task = Task { await reporter.run() }
    defer { task.cancel() }
    try await body()
    var reports: [Report] = []
    for await body in bodies {
      reports.append(try Report(body))
      if reports.count == count { break }
    }
    return reports
  }

  private func payload(_ id: String, text: String = "Hello") -> JSONValue {
    ["aps": ["alert": .string(text)], "sbid": .string(id), "sbsig": "sig"]
  }

  private func send(_ scene: PhoneScene, _ payload: JSONValue) {
    let push = AcceptedPush(
      token: scene.phone.token, apnsID: UUID().uuidString, topic: PhoneScene.topic, pushType: .alert, priority: 10,
      expiration: nil, collapseID: nil, payload: payload, rawPayload: Array(payload.data()), uniqueID: nil,
      usedProviderToken: true)
    _ = scene.deliver(push)
  }

  @Test("displayed when it is shown, opened by a tap, dismissed when the rest is cleared")
  func iPhone() async throws {
    let scene = try PhoneScene()
    let token = scene.phone.tokenText
    let reports = try await reports(scene.book, 5) {
      send(scene, payload("p1"))
      send(scene, payload("p2"))
      send(scene, payload("p3"))
      // Without our keys there is nothing to report.
      try scene.send()
      let first = try #require(try scene.current().received.last)
      try scene.book.tap(scene.phone.id, first.id)
      try scene.book.clear(scene.phone.id)
    }
    #expect(
      reports == [
        Report(token, "displayed", ["p1 sig"]), Report(token, "displayed", ["p2 sig"]),
        Report(token, "displayed", ["p3 sig"]), Report(token, "opened", ["p1 sig"]),
        Report(token, "dismissed", ["p2 sig", "p3 sig"]),
      ])
  }

  @Test("what newer notifications displaced is not dismissed")
  func displaced() async throws {
    let scene = try PhoneScene()
    let limit = SimulatedPhone.receivedLimit
    let reports = try await reports(scene.book, limit + 4) {
      for number in 1...limit + 3 { send(scene, payload("p\(number)")) }
      try scene.book.clear(scene.phone.id)
    }
    #expect(reports.last?.event == "dismissed")
    #expect(reports.last?.ids == (4...limit + 3).map { "p\($0) sig" })
  }

  @Test("an Android phone reports too, and what was on a phone before can still be dismissed")
  func android() async throws {
    let scene = try await FCMScene()
    let token = scene.phone.tokenText
    func send(_ id: String) async throws {
      try await scene.send([
        "token": .string(token), "notification": ["title": "Hello"], "data": ["sbid": .string(id), "sbsig": "sig"],
      ])
    }
    try await send("p1")
    let reports = try await reports(scene.book, 2) {
      try await send("p2")
      try scene.book.clear(scene.phone.id)
    }
    #expect(
      reports == [Report(token, "displayed", ["p2 sig"]), Report(token, "dismissed", ["p1 sig", "p2 sig"])])
  }

  @Test("what is not shown because notifications are off is not reported")
  func notificationsOff() async throws {
    let scene = try PhoneScene()
    let reports = try await reports(scene.book, 1) {
      try scene.book.setNotifications(scene.phone.id, .off)
      send(scene, payload("p1"))
      try scene.book.setAppState(scene.phone.id, .foreground)
      send(scene, payload("p2"))
      try scene.book.setNotifications(scene.phone.id, .allowed)
      send(scene, payload("p3"))
    }
    #expect(reports == [Report(scene.phone.tokenText, "displayed", ["p3 sig"])])
  }

  @Test("a report that is not taken is logged, and the next one is made")
  func failure() async throws {
    let scene = try PhoneScene()
    let sink = MemorySink()
    let (attempts, continuation) = AsyncStream.makeStream(of: Void.self)
    let reporter = PhoneReporter(scene.book, log: Logger(label: "test", sink: sink)) { _ in
      continuation.yield()
      throw Refused()
    }
    let task = Task { await reporter.run() }
    send(scene, payload("p1"))
    send(scene, payload("p2"))
    var tried = attempts.makeAsyncIterator()
    for _ in 0..<2 { await tried.next() }
    task.cancel()
    await task.value
    #expect(sink.entries.count { $0.level == .warning } == 2)
  }
}
