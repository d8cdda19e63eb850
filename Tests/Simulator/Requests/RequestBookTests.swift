import Foundation
import HTTP2
import JSON
import Model
import Testing

@testable import Simulator

@Suite("The simulator as a catcher")
struct RequestBookTests {
  private static func found(
    _ simulator: PushSimulator, _ change: (inout RequestQuery) -> Void = { _ in }
  ) -> [CaughtRequest] {
    var query = RequestQuery()
    change(&query)
    return simulator.requests.requests(query)
  }

  private static func outcomes(_ simulator: PushSimulator) -> [String] {
    found(simulator).reversed().map { "\($0.status ?? 0) \($0.outcome.rawValue) \($0.reason ?? "-")" }
  }

  // MARK: What is seen

  @Test("APNs: what arrived, what no phone has, and what was refused, each with its answer")
  func apns() async throws {
    try await SimulatorScene.run({ $0.phones = PhoneBook(acceptsUnknownTokens: true) }) { scene in
      let client = try scene.client()
      let stranger = SimulatedPhone.newToken(.apns)
      _ = try await client.send([scene.phone.token, stranger], body: #"{"aps":{"alert":"Hi"},"sbid":"p1"}"#)
      _ = try await client.send([scene.phone.token], topic: "com.example.other")
      _ = try await client.send([stranger], body: "")
      try scene.book.setPower(scene.phone.id, .off)
      _ = try await client.send([scene.phone.token])
      _ = try await client.send([scene.phone.token], fields: [HeaderField("apns-expiration", "1")])
      scene.simulator.faults(.development).set(try Faults(parsing: "status=503,reason=Shutdown,next=1"))
      _ = try await client.send([stranger])
      #expect(
        Self.outcomes(scene.simulator) == [
          "200 arrived -", "200 no_phone -", "400 refused DeviceTokenNotForTopic", "400 refused PayloadEmpty",
          "200 waiting -", "200 lost -", "503 refused Shutdown",
        ])
      let all = Self.found(scene.simulator)
      #expect(all.map(\.isFault) == [true] + Array(repeating: false, count: 6))
      let first = try #require(all.last)
      #expect(first.server == .development && first.method == "POST" && first.phones == [scene.phone.id])
      #expect(first.target == "/3/device/\(scene.phone.tokenText)" && first.tokens == [scene.phone.tokenText])
      #expect(first.push == "p1" && first.alert.body == "Hi" && first.json?["sbid"] == "p1")
      let fields = Dictionary(first.fields.map { ($0.name, $0.value) }) { $1 }
      #expect(fields["apns-topic"] == SimulatorScene.topic && fields["authorization"] == "bearer …")
      #expect(first.answerFields.contains { $0.name == "apns-id" })
      #expect(String(decoding: all[4].answerBody, as: UTF8.self) == #"{"reason":"DeviceTokenNotForTopic"}"#)
      // What the sender did wrong is found by the token of the phone that missed it.
      #expect(Self.found(scene.simulator) { $0.token = stranger.hexadecimal.uppercased() }.count == 3)
      try await client.stop()
    }
  }

  @Test("a request that a fault cuts, resets or leaves unanswered is there too, with what the phone got")
  func unanswered() async throws {
    try await SimulatorScene.run { scene in
      scene.simulator.faults(.development).set(try Faults(parsing: "silent=1"))
      let client = try scene.client(.development, SimulatorClient.configuration(requestTimeout: .milliseconds(50)))
      _ = try await client.send([scene.phone.token])
      let one = try #require(Self.found(scene.simulator).last)
      #expect(one.status == nil && one.outcome == .arrived && one.isFault && one.phones == [scene.phone.id])
      try await client.stop()
    }
  }

  @Test("FCM: messages, topics, refusals in v1 and in the legacy protocol; access tokens are kept out")
  func fcm() async throws {
    let scene = try await FCMScene { $0.phones = PhoneBook(acceptsUnknownTokens: true) }
    let (token, stranger) = (scene.phone.tokenText, SimulatedPhone.newToken(.fcm).text)
    try await scene.notify("One")
    try await scene.send(["token": .string(stranger), "notification": ["title": "Two"]])
    try await scene.send(["topic": "news", "notification": ["title": "Three"]])
    try await scene.send(["token": .string(token), "x": 1])
    try await scene.send(["token": .string(token)], dry: true)
    _ = try await scene.legacy(["to": .string(token), "notification": ["title": "Four"]])
    _ = try await scene.legacy(["registration_ids": ["", .string(stranger)]])
    _ = try await scene.legacy(["to": ""])
    _ = try await scene.legacy([:])
    _ = try await scene.call("GET", "/v1/nothing/at/all")
    #expect(
      Self.outcomes(scene.simulator) == [
        "200 answered -", "200 arrived -", "200 no_phone -", "200 no_phone -", "400 refused INVALID_ARGUMENT",
        "200 answered -", "200 arrived -", "200 no_phone MissingRegistration", "200 refused MissingRegistration",
        "400 refused MissingRegistration", "404 refused NOT_FOUND",
      ])
    let all = Array(Self.found(scene.simulator).reversed())
    #expect(all[0].target == "/token" && all[0].body.isEmpty && all[0].answerBody.isEmpty && all[0].bodyByteCount > 0)
    #expect(all[1].alert.title == "One" && all[1].tokens == [token] && all[6].alert.title == "Four")
    #expect(all[3].tokens.isEmpty)
    #expect(Self.found(scene.simulator) { $0.token = stranger }.count == 2)
  }

  @Test("of header fields that sign in, only the scheme is told")
  func secrets() {
    let fields = HeaderList([
      ("authorization", "key=AAAA"), ("proxy-authorization", "Basic QQ=="), ("cookie", "a=b"), ("x-other", "key=AAAA"),
    ])
    let sent = CaughtRequest.Sent(
      server: .fcm, at: FCMScene.start, method: "POST", target: "/fcm/send", fields: fields, body: [], bodyByteCount: 0)
    #expect(CaughtRequest(sent, .init()).fields.map(\.value) == ["key=…", "Basic …", "a=…", "key=AAAA"])
  }

  @Test(
    "a body is read as what it is, whatever it is announced as",
    arguments: [
      (SimulatedServer.development, #"{"aps":{"alert":{"title":"Sale"}}}"#, "Sale"),
      (.fcm, #"{"notification":{"title":"Sale"}}"#, "Sale"), (.fcm, "registration_id=x&data.a=b", nil),
    ] as [(SimulatedServer, String, String?)])
  func announced(server: SimulatedServer, body: String, title: String?) {
    let sent = CaughtRequest.Sent(
      server: server, at: FCMScene.start, method: "POST", target: "/x",
      fields: HeaderList([("content-type", "application/x-www-form-urlencoded")]), body: Array(body.utf8),
      bodyByteCount: body.utf8.count)
    let request = CaughtRequest(sent, .init())
    #expect(request.alert.title == title && request.json != nil)
    #expect(title != nil || request.json?["data"]?["a"] == "b")
  }

  // MARK: What is searched for

  @Test(
    "a request is found by a part of a text, and by a place in its JSON",
    arguments: [
      ("", true), ("sale", true), ("SALE:", true), ("winter", false), ("comment", true), ("aps", false),
    ])
  func parts(part: String, isFound: Bool) {
    var content = ContentQuery()
    content.part = part.isEmpty ? nil : part
    #expect(Self.wants(content) == isFound)
  }

  @Test(
    "a place has a value, as text or as JSON",
    arguments: [
      ("/aps/badge", nil, true), ("/aps/badge", "3", true), ("/aps/badge", "4", false), ("/aps/sound", nil, false),
      ("/link", "comment", true), ("/link", "\"comment\"", true), ("/link", "like", false), ("/flag", "true", true),
      ("/list/1", "b", true), ("/list", #"["a","b"]"#, true), ("/number", "3", true), ("/number", "\"3\"", true),
    ] as [(String, String?, Bool)])
  func places(place: String, value: String?, isFound: Bool) {
    var content = ContentQuery()
    (content.place, content.value) = (JSONPointer(place), value)
    #expect(Self.wants(content) == isFound)
  }

  private static func wants(_ content: ContentQuery) -> Bool {
    let body: JSONValue = [
      "aps": ["alert": ["title": "Weekend sale: 20% off"], "badge": 3], "link": "comment", "flag": true,
      "list": ["a", "b"], "number": "3",
    ]
    let sent = CaughtRequest.Sent(
      server: .production, at: FCMScene.start, method: "POST", target: "/3/device/00", fields: HeaderList(),
      body: body.bytes, bodyByteCount: body.bytes.count)
    var query = RequestQuery()
    query.content = content
    let book = RequestBook()
    book.add(CaughtRequest(sent, .init()))
    return book.requests(query).count == 1
  }

  @Test("the last requests are kept, fewer if they are large; IDs go on after all were forgotten")
  func limits() {
    let book = RequestBook()
    func add(_ size: Int) {
      let body = [UInt8](repeating: 0x20, count: size)
      book.add(
        CaughtRequest(
          CaughtRequest.Sent(
            server: .fcm, at: FCMScene.start, method: "POST", target: "/", fields: HeaderList(), body: body,
            bodyByteCount: size), .init()))
    }
    for _ in 0..<RequestBook.limit + 5 { add(1) }
    let all = book.requests(RequestQuery())
    #expect(all.count == RequestBook.limit && all.first?.id == Int64(RequestBook.limit + 5) && all.last?.id == 6)
    for _ in 0..<200 { add(1 << 20) }
    let large = book.requests(RequestQuery())
    #expect(large.count < 150 && large.allSatisfy { $0.body.count == CaughtRequest.bodyLimit })
    book.clear()
    #expect(book.requests(RequestQuery()).isEmpty)
    add(1)
    #expect(book.requests(RequestQuery()).map(\.id) == [Int64(RequestBook.limit + 206)])
  }

  @Test("waiting ends with the request")
  func waits() async throws {
    let scene = try await FCMScene()
    async let found = scene.simulator.requests.requests(Self.titled("Two"), atLeast: 1, within: .seconds(3600))
    try await scene.notify("One")
    try await scene.notify("Two")
    #expect(await found.count == 1)
  }

  private static func titled(_ title: String) -> RequestQuery {
    var query = RequestQuery()
    query.content.title = title
    return query
  }
}
