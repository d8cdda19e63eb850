import Foundation
import JSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Simulator

/// The simulated JPush without sockets, with phones and a clock that the test moves.
private final class JPushScene: Sendable {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)
  let simulator: PushSimulator
  /// An iPhone with a development build, one with the App Store's, and an Android phone.
  let phones: [SimulatedPhone]
  private let clock: Clock

  private final class Clock: Sendable {
    let date = Mutex(JPushScene.start)
  }

  var book: PhoneBook { simulator.phones }
  var ids: [String] { phones.map(\.tokenText) }

  init(_ change: (inout PushSimulator.Configuration) -> Void = { _ in }) throws {
    let clock = Clock()
    self.clock = clock
    var configuration = PushSimulator.Configuration()
    configuration.now = { clock.date.withLock { $0 } }
    change(&configuration)
    simulator = try PushSimulator(configuration: configuration)
    var phones: [SimulatedPhone] = []
    for (platform, environment) in [
      (Platform.ios, Model.Environment.development), (.ios, .production), (.android, .development),
    ] {
      phones.append(
        try simulator.phones.add(
          NewPhone(
            name: "p", platform: platform, provider: .jpush, environment: environment, topic: "com.example.shop")))
    }
    self.phones = phones
    // Not JPush's: nothing here may reach it.
    try simulator.phones.add(
      NewPhone(name: "other", platform: .android, environment: .development, topic: "com.example.shop"))
  }

  func pass(_ seconds: TimeInterval) { clock.date.withLock { $0 += seconds } }

  func call(
    _ method: String, _ target: String, _ body: JSONValue? = nil, authorization: String = "Basic YTpi"
  ) async throws -> SimulatedReply {
    let reply = try await simulator.jpush.answer(
      SimulatedCall(method: method, target: target, authorization: authorization, body: body?.bytes ?? []))
    guard let reply else { throw CancellationError() }
    return reply
  }

  /// Pushes an alert.
  func push(
    _ audience: JSONValue = "all", cid: String? = nil, _ options: JSONValue = [:]
  ) async throws -> SimulatedReply {
    var body: [String: JSONValue] = [
      "platform": "all", "audience": audience, "notification": ["alert": "Hi"], "options": options,
    ]
    body["cid"] = cid.map(JSONValue.string)
    return try await call("POST", "/v3/push", .object(body))
  }

  /// How many notifications each phone has.
  var received: [Int] { phones.map { book.phone($0.id)?.received.count ?? 0 } }
}

extension SimulatedReply {
  fileprivate var headers: [String: String] {
    Dictionary(uniqueKeysWithValues: (limits?.fields ?? []).map { ($0.name, $0.value) })
  }

  fileprivate var code: Int64? { json["error"]?["code"]?.integer }
}

@Suite("Simulated JPush")
struct JPushServiceTests {
  @Test("it takes the default push of each of JPush's own libraries", arguments: JPushClientRequest.all)
  func libraries(request: JPushClientRequest) async throws {
    let scene = try JPushScene()
    let body = try JSONValue(parsing: Data(request.body.utf8))
    for path in [request.paths.validate, request.paths.push] {
      let reply = try await scene.call("POST", path, body)
      #expect(reply.status == 200, "\(path): \(reply.json)")
    }
    // The first iPhone has a development build, the second one the App Store's.
    #expect(scene.received == (request.isProduction ? [0, 1, 1] : [1, 0, 1]))
  }

  @Test("a push reaches one environment of iOS and all of Android, and is numbered")
  func push() async throws {
    let scene = try JPushScene()
    let development = try await scene.push("all", ["apns_production": false, "sendno": 18])
    #expect(development.status == 200 && development.json["sendno"] == "18")
    #expect(development.json["msg_id"]?.string.flatMap { Int64($0) } != nil)
    #expect(scene.received == [1, 0, 1])
    // Absent means production, as JPush's documents say.
    _ = try await scene.push()
    #expect(scene.received == [1, 1, 2])
    let android = try #require(scene.book.phone(scene.phones[2].id)?.received.first)
    #expect(android.androidNotification?.body == "Hi" && android.isShown)
    #expect(android.apnsID != development.json["msg_id"]?.string)
  }

  @Test("with notifications off JPush answers as before, and nothing is shown")
  func notificationsOff() async throws {
    let scene = try JPushScene()
    for phone in scene.phones { try scene.book.setNotifications(phone.id, .off) }
    let reply = try await scene.push("all", ["apns_production": false])
    #expect(reply.status == 200 && reply.json["msg_id"]?.string != nil)
    #expect(scene.received == [1, 0, 1])
    let shown = scene.phones.flatMap { scene.book.phone($0.id)?.received ?? [] }.filter(\.isShown)
    #expect(shown.isEmpty)
  }

  @Test("audiences by registration ID, alias and tags are combined; nobody is 1011 with a number")
  func audience() async throws {
    let scene = try JPushScene()
    let options: JSONValue = ["apns_production": false]
    let tagged = try await scene.call(
      "POST", "/v3/devices/\(scene.ids[2])", ["tags": ["add": ["a", "b"]], "alias": "x"])
    #expect(tagged.status == 200 && tagged.body.isEmpty)
    _ = try await scene.push(["registration_id": [.string(scene.ids[0]), .string(scene.ids[2])]], options)
    #expect(scene.received == [1, 0, 1])
    _ = try await scene.push(["alias": ["x"], "tag": ["a"], "tag_and": ["b"]], options)
    #expect(scene.received == [1, 0, 2])
    let nobody = try await scene.push(["alias": ["x"], "tag_not": ["a"]], options)
    #expect(nobody.status == 400 && nobody.code == 1011 && nobody.json["msg_id"]?.integer != nil)
    // The other environment's phone is no target, as at JPush.
    let wrong = try await scene.push(["registration_id": [.string(scene.ids[1])]], options)
    #expect(wrong.code == 1011)
  }

  @Test("of very many cids the last are known, and the first are forgotten")
  func answers() {
    var answers = JPushAnswers()
    let limit = JPushAnswers.limit
    for number in 1...limit * 2 + 1 { answers.keep(.number(number), to: "c-\(number)", now: JPushScene.start) }
    #expect(answers.find("c-1", now: JPushScene.start) == nil)
    #expect(answers.find("c-\(limit + 1)", now: JPushScene.start) == .number(limit + 1))
    #expect(answers.find("c-\(limit * 2 + 1)", now: JPushScene.start) == .number(limit * 2 + 1))
    #expect(answers.find("c-\(limit + 1)", now: JPushScene.start.addingTimeInterval(86_400)) == nil)
  }

  @Test("validate checks and sends nothing; a cid sends once in a day")
  func idempotency() async throws {
    let scene = try JPushScene()
    let body: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "Hi"]]
    #expect(try await scene.call("POST", "/v3/push/validate", body).status == 200)
    #expect(scene.received == [0, 0, 0])
    let cids = try await scene.call("GET", "/v3/push/cid?count=2")
    #expect(cids.json["cidlist"]?.array?.count == 2)
    for count in ["0", "1001", "-1", "x"] {
      let refused = try await scene.call("GET", "/v3/push/cid?count=\(count)")
      #expect(refused.status == 400 && refused.code == 1003, "\(count)")
    }
    let first = try await scene.push(cid: "c-1")
    scene.pass(86_000)
    #expect(try await scene.push(cid: "c-1").json == first.json)
    #expect(scene.received == [0, 1, 1])
    scene.pass(500)
    #expect(try await scene.push(cid: "c-1").json != first.json)
    #expect(scene.received == [0, 2, 2])
    let batch = try await scene.call(
      "POST", "/v3/push/batch/regid/single",
      [
        "pushlist": [
          "b-1": ["platform": "all", "target": .string(scene.ids[2]), "notification": ["alert": "x"]],
          "b-2": ["platform": "all", "target": "none", "notification": ["alert": "x"]],
        ]
      ])
    #expect(batch.json["b-1"]?["msg_id"]?.integer != nil && batch.json["b-2"]?["error"]?["code"] == 1011)
  }

  @Test("a recalled push reaches no further phone, and stays where it was received")
  func recall() async throws {
    let scene = try JPushScene()
    try scene.book.setPower(scene.phones[2].id, .off)
    let sent = try await scene.push()
    let id = try #require(sent.json["msg_id"]?.string)
    let done = try await scene.call("DELETE", "/v3/push/\(id)")
    #expect(done.status == 200 && done.body.isEmpty)
    try scene.book.setPower(scene.phones[2].id, .on)
    #expect(scene.received == [0, 1, 0])
    for path in ["/v3/push/1", "/v3/push/x"] {
      let refused = try await scene.call("DELETE", path)
      #expect(refused.status == 400 && refused.code == 1003, "\(path)")
    }
  }

  @Test(
    "what is wrong is refused with JPush's code",
    arguments: [
      ("{}", 1002), (#"{"platform":"all","audience":"all","notification":{"alert":"x"},"x":1}"#, 1009),
      (#"{"platform":"all","audience":{"alias":"x"},"notification":{"alert":"x"}}"#, 1003), ("nonsense", 1003),
    ])
  func wrong(body: String, code: Int) async throws {
    let scene = try JPushScene()
    let reply = try await scene.simulator.jpush.answer(
      SimulatedCall(method: "POST", target: "/v3/push", authorization: "Basic YTpi", body: Array(body.utf8)))
    #expect(reply?.code == Int64(code) && reply?.status == 400)
  }

  @Test("the number on the icon is counted for each device, and stands in the payload as a number")
  func badge() async throws {
    let scene = try JPushScene()
    func push(_ badge: JSONValue, _ platform: String = "ios") async throws {
      let key = platform == "ios" ? "badge" : "badge_add_num"
      let part: JSONValue = .object(["alert": "Hi", key: badge])
      let reply = try await scene.call(
        "POST", "/v3/push",
        [
          "platform": [.string(platform)], "audience": "all", "notification": .object([platform: part]),
          "options": ["apns_production": false],
        ])
      #expect(reply.status == 200, "\(badge)")
    }
    func last(_ phone: Int, _ path: String...) throws -> JSONValue? {
      let json = try #require(scene.book.phone(scene.phones[phone].id)?.received.first).json
      return path.reduce(json as JSONValue?) { $0?[$1] }
    }
    for (badge, number) in [("+1", 1), ("+1", 2), (5, 5), ("-2", 3), ("-9", 0), ("+1", 1)] as [(JSONValue, Int64)] {
      try await push(badge)
      #expect(try last(0, "aps", "badge") == .integer(number), "\(badge)")
    }
    for number in [2, 4] as [Int64] {
      try await push(2, "android")
      #expect(try last(2, "android", "notification", "notification_count") == .integer(number))
    }
    let kept = try #require(scene.book.phone(scene.phones[0].id)).keptState
    #expect(kept["badge"] == 1)
  }

  @Test(
    "an address that JPush does not have is 404, a method that the address does not take 405",
    arguments: [
      ("GET", "/v3/push", 405, 1001), ("PUT", "/v3/push", 405, 1001), ("GET", "/v3/push/validate", 405, 1001),
      ("DELETE", "/v3/push/cid", 405, 1001), ("GET", "/v3/push/1", 405, 1001), ("POST", "/v3/received", 405, 1003),
      ("PUT", "/v3/devices/x", 405, 7002), ("PUT", "/v3/aliases/x", 405, 7002), ("POST", "/v3/tags", 405, 7002),
      ("DELETE", "/v3/schedules", 405, 8100), ("GET", "/v3/nothing", 404, 1003), ("POST", "/v3/push/x/y", 404, 1003),
      ("GET", "/v1/app", 404, 1003), ("GET", "/v3/schedules/x/y", 404, 8104), ("GET", "/v3/devices", 404, 7002),
      ("GET", "/v3/tags/x/y", 404, 7002),
    ])
  func addresses(method: String, target: String, status: Int, code: Int) async throws {
    let scene = try JPushScene()
    let reply = try await scene.call(method, target)
    #expect(reply.status == status && reply.code == Int64(code), "\(reply.json)")
  }

  @Test("a phone number is kept with the device, and removed by an empty text")
  func mobile() async throws {
    let scene = try JPushScene()
    let path = "/v3/devices/\(scene.ids[0])"
    #expect(try await scene.call("POST", path, ["mobile": "13012345678"]).status == 200)
    #expect(try await scene.call("GET", path).json["mobile"] == "13012345678")
    #expect(scene.book.phone(scene.phones[0].id)?.keptState["mobile"] == "13012345678")
    #expect(try await scene.call("POST", path, ["alias": "x"]).status == 200)
    #expect(try await scene.call("GET", path).json["mobile"] == "13012345678")
    for wrong in ["abc", 5, "123456789012345678901"] as [JSONValue] {
      #expect(try await scene.call("POST", path, ["mobile": wrong]).code == 7002, "\(wrong)")
    }
    #expect(try await scene.call("POST", path, ["mobile": ""]).status == 200)
    #expect(try await scene.call("GET", path).json["mobile"] == .null)
  }

  @Test("a push replaces one of the app of the last day, where it waits and where it is shown, or is refused")
  func override() async throws {
    let scene = try JPushScene()
    let phone = scene.phones[2].id
    let first = try #require(try await scene.push().json["msg_id"]?.string)
    for wrong in ["1", first + "0"] {
      let refused = try await scene.push("all", ["override_msg_id": .string(wrong)])
      #expect(refused.status == 400 && refused.code == 1003)
    }
    #expect(scene.received == [0, 1, 1], "nothing was sent")
    let foreign = try await scene.call(
      "POST", "/v3/push/validate",
      [
        "platform": "all", "audience": "all", "notification": ["alert": "Hi"],
        "options": ["override_msg_id": .string(first)],
      ], authorization: "Basic eDp5")
    #expect(foreign.code == 1003, "of another app")
    let second = try await scene.push("all", ["override_msg_id": .string(first)])
    #expect(scene.received == [0, 2, 1], "the one in the shade is replaced")
    let next = try #require(second.json["msg_id"]?.string)
    _ = try await scene.push("all", ["override_msg_id": .string(next)])
    #expect(scene.received == [0, 3, 1])
    try scene.book.setPower(phone, .off)
    let waiting = try #require(try await scene.push().json["msg_id"]?.string)
    _ = try await scene.push("all", ["override_msg_id": .string(waiting)])
    #expect(scene.book.phone(phone)?.waiting.count == 1)
    scene.pass(86_400)
    #expect(try await scene.push("all", ["override_msg_id": .string(waiting)]).code == 1003)
  }

  @Test("every call is seen: what arrived, what nobody has, what was refused and what only asks")
  func caught() async throws {
    let scene = try JPushScene { $0.phones = PhoneBook(acceptsUnknownTokens: true) }
    let id = scene.ids[2]
    _ = try await scene.push(["registration_id": [.string(id)]], cid: "c-1")
    _ = try await scene.push(["registration_id": [.string(id)]], cid: "c-1")
    _ = try await scene.push(["registration_id": ["1a0018970af"]])
    _ = try await scene.push(["alias": ["nobody"]])
    _ = try await scene.call("POST", "/v3/push", ["platform": "all"])
    _ = try await scene.call("GET", "/v3/push")
    _ = try await scene.call("GET", "/v3/push/cid")
    _ = try await scene.call("POST", "/v3/push", authorization: "")
    let all = Array(scene.simulator.requests.requests(RequestQuery()).reversed())
    #expect(
      all.map { "\($0.status ?? 0) \($0.outcome.rawValue) \($0.reason ?? "-")" } == [
        "200 arrived -", "200 answered -", "200 no_phone -", "400 refused JPush 1011", "400 refused JPush 1002",
        "405 refused JPush 1001", "200 answered -", "401 refused JPush 1004",
      ])
    #expect(all[0].tokens == [id] && all[0].alert.body == "Hi" && all[0].phones == [scene.phones[2].id])
    #expect(all[2].tokens == ["1a0018970af"])
  }

  @Test("keys are required, and checked if they are known; every answer states the limits")
  func access() async throws {
    let scene = try JPushScene { $0.jpushKeys = ["a": "b"] }
    let reply = try await scene.push()
    #expect(reply.status == 200)
    let fields = reply.headers
    #expect(fields["x-rate-limit-limit"] == "600" && fields["x-rate-limit-remaining"] == "599")
    for wrong in ["", "Basic YTpj", "Bearer x"] {
      let refused = try await scene.call("POST", "/v3/push", [:], authorization: wrong)
      #expect(refused.status == 401 && refused.code == 1004)
      #expect(refused.headers["x-rate-limit-remaining"] == "600")
    }
    for _ in 1..<600 { _ = try await scene.call("GET", "/v3/push/cid") }
    let last = try await scene.push()
    #expect(last.status == 429 && last.code == 2002)
    scene.pass(60)
    #expect(try await scene.push().status == 200)
  }

  @Test("devices, aliases and tags are kept with the phones")
  func devices() async throws {
    let scene = try JPushScene()
    let (one, other) = (scene.ids[0], scene.ids[2])
    func ok(_ method: String, _ target: String, _ body: JSONValue? = nil) async throws -> JSONValue {
      let reply = try await scene.call(method, target, body)
      #expect(reply.status == 200, "\(method) \(target)")
      return reply.json
    }
    _ = try await ok("POST", "/v3/tags/%E6%B7%B1/", ["registration_ids": ["add": [.string(one), .string(other)]]])
    #expect(try await ok("GET", "/v3/tags/") == ["tags": ["深"]])
    #expect(try await ok("GET", "/v3/tags/深/registration_ids/\(one)") == ["result": true])
    _ = try await ok("DELETE", "/v3/tags/深?platform=android")
    #expect(try await ok("GET", "/v3/devices/\(other)") == ["tags": [], "alias": .null, "mobile": .null])
    _ = try await ok("POST", "/v3/devices/\(one)", ["alias": "anna"])
    _ = try await ok("POST", "/v3/devices/\(other)", ["alias": "anna"])
    #expect(try await ok("GET", "/v3/aliases/anna?platform=ios") == ["registration_ids": [.string(one)]])
    _ = try await ok("POST", "/v3/aliases/anna", ["registration_ids": ["remove": [.string(one)]]])
    _ = try await ok("DELETE", "/v3/aliases/anna")
    #expect(try await ok("GET", "/v3/aliases/anna") == ["registration_ids": []])
    let status = try await ok("POST", "/v3/devices/status/", ["registration_ids": [.string(one), "none"]])
    #expect(status == [one: ["online": true], "none": [:]])
    let unknown = try await scene.call("GET", "/v3/devices/none")
    #expect(unknown.status == 400 && unknown.code == 7002)
    let bad = try await scene.call("POST", "/v3/devices/\(one)", ["alias": "a-b"])
    #expect(bad.code == 7002)
  }

  @Test("reports count what arrived, also later")
  func reports() async throws {
    let scene = try JPushScene()
    try scene.book.setPower(scene.phones[2].id, .off)
    let push = try await scene.push("all", ["apns_production": false])
    let id = try #require(push.json["msg_id"]?.string)
    func report(_ path: String) async throws -> JSONValue? {
      try await scene.call("GET", "\(path)?msg_ids=\(id)%2C1").json.array?.first
    }
    let before = try #require(try await report("/v3/received/detail"))
    #expect(before["jpush_received"] == 0 && before["ios_apns_sent"] == 1 && before["ios_apns_received"] == 1)
    try scene.book.setPower(scene.phones[2].id, .on)
    #expect(try await report("/v3/received")?["android_received"] == 1)
    #expect(try await report("/v3/messages/detail")?["jpush"]?["received"] == 1)
    let status = try await scene.call(
      "POST", "/v3/status/message",
      ["msg_id": .integer(Int64(id) ?? 0), "registration_ids": [.string(scene.ids[0]), .string(scene.ids[1]), "none"]])
    #expect(
      status.json == [
        scene.ids[0]: ["status": 0], scene.ids[1]: ["status": 3], "none": ["status": 2],
      ])
    let undated = try await scene.call(
      "POST", "/v3/status/message", ["msg_id": 1, "registration_ids": ["none"], "date": "2027-02-30"])
    #expect(undated.status == 400 && undated.code == 1003)
  }

  private static let schedule: JSONValue = [
    "name": "Task_1", "enabled": true,
    // 2027-01-15 16:00:00 in Beijing is the beginning of the scene.
    "trigger": [
      "periodical": [
        "start": "2027-01-15 00:00:00", "end": "2027-01-18 00:00:00", "time": "17:00:00", "time_unit": "day",
        "frequency": 1,
      ]
    ],
    "push": [
      "cid": "ignored", "platform": "all", "audience": "all", "notification": ["alert": "Hi"],
      "options": ["apns_production": false],
    ],
  ]

  @Test("schedules are created once, listed, read, changed and deleted, each by its own app")
  func schedules() async throws {
    let scene = try JPushScene()
    var body = Self.schedule.object ?? [:]
    body["cid"] = "s-1"
    let made = try await scene.call("POST", "/v3/schedules/", .object(body))
    let id = try #require(made.json["schedule_id"]?.string)
    #expect(made.json["name"] == "Task_1")
    #expect(try await scene.call("POST", "/v3/schedules", .object(body)).json == made.json, "the same cid")
    let list = try await scene.call("GET", "/v3/schedules/?page=1").json
    #expect(list["total_count"] == 1 && list["schedules"]?.array?.first?["schedule_id"] == .string(id))
    let foreign = try await scene.call("GET", "/v3/schedules/\(id)", authorization: "Basic eDp5")
    #expect(foreign.status == 404 && foreign.code == 8104)
    let changed = try await scene.call("PUT", "/v3/schedules/\(id)", ["name": "Other", "enabled": false])
    #expect(changed.json["name"] == "Other" && changed.json["enabled"] == false)
    #expect(changed.json["push"]?["cid"] == nil && changed.json["trigger"] == Self.schedule["trigger"])
    let single = try await scene.call(
      "PUT", "/v3/schedules/\(id)", ["trigger": ["single": ["time": "2027-02-01 00:00:00"]]])
    #expect(single.status == 400 && single.code == 8100)
    #expect(try await scene.call("DELETE", "/v3/schedules/\(id)").status == 200)
    #expect(try await scene.call("GET", "/v3/schedules/\(id)").code == 8104)
    let refused = try await scene.call("POST", "/v3/schedules", ["name": "x"])
    #expect(refused.status == 400 && refused.code == 8100)
  }

  @Test(
    "a schedule of more than a year ahead is refused",
    arguments: [
      ["single": ["time": "2028-02-20 00:00:00"]],
      [
        "periodical": [
          "start": "2028-02-20 00:00:00", "end": "2028-02-25 00:00:00", "time": "17:00:00", "time_unit": "day",
          "frequency": 1,
        ]
      ],
      [
        "periodical": [
          "start": "2027-01-15 00:00:00", "end": "2028-02-25 00:00:00", "time": "17:00:00", "time_unit": "day",
          "frequency": 1,
        ]
      ],
    ] as [JSONValue])
  func farSchedule(trigger: JSONValue) async throws {
    let scene = try JPushScene()
    let body = (Self.schedule.object ?? [:]).merging(["trigger": trigger]) { $1 }
    let refused = try await scene.call("POST", "/v3/schedules", .object(body))
    #expect(refused.status == 400 && refused.code == 8100, "\(refused.json)")
    var near = body
    near["trigger"] = ["single": ["time": "2028-01-10 00:00:00"]]
    #expect(try await scene.call("POST", "/v3/schedules", .object(near)).status == 200)
  }

  @Test("a schedule sends when it is due, numbers its messages, and ends; one that is switched off sends nothing")
  func due() async throws {
    let scene = try JPushScene()
    let made = try await scene.call("POST", "/v3/schedules", Self.schedule)
    let path = "/v3/schedules/" + (made.json["schedule_id"]?.string ?? "")
    scene.pass(3599)
    scene.simulator.jpush.sendDue()
    #expect(scene.received == [0, 0, 0])
    scene.pass(1)
    scene.simulator.jpush.sendDue()
    scene.simulator.jpush.sendDue()
    #expect(scene.received == [1, 0, 1])
    scene.pass(86_400)
    // A request comes in.
    let ids = try await scene.call("GET", path + "/msg_ids").json
    #expect(scene.received == [2, 0, 2] && ids["count"] == 2)
    let message = try #require(ids["msgids"]?.array?.last?["msg_id"]?.string)
    let summary = try await scene.call("GET", "/v3/messages?msg_ids=\(message)").json.array?.first
    #expect(summary?["ios"]?["apns_sent"] == 1 && summary?["android"]?["received"] == 1)
    _ = try await scene.call("PUT", path, ["enabled": false])
    scene.pass(86_400)
    scene.simulator.jpush.sendDue()
    #expect(scene.received == [2, 0, 2])
    let list = try await scene.call("GET", "/v3/schedules").json
    #expect(list["total_count"] == 0, "the end has passed")
    #expect(try await scene.call("PUT", path, ["name": "late"]).code == 8100)
  }

  private static func basic(_ key: String) -> String { "Basic " + Data("\(key):b".utf8).base64EncodedString() }

  @Test("of schedules that have ended, the last are kept; so are the counts of the apps that called last")
  func forgets() async throws {
    let scene = try JPushScene()
    var ids: [String] = []
    let once: JSONValue = [
      "name": "x", "enabled": true, "trigger": ["single": ["time": "2027-01-15 17:00:00"]],
      "push": ["platform": "all", "audience": "all", "notification": ["alert": "Hi"]],
    ]
    for number in 0...JPushTimetable.endedLimit {
      let key = Self.basic("k\(number / JPushTimetable.liveLimit)")
      let made = try await scene.call("POST", "/v3/schedules", once, authorization: key)
      ids.append(try #require(made.json["schedule_id"]?.string))
    }
    let last = Self.basic("k\(JPushTimetable.endedLimit / JPushTimetable.liveLimit)")
    // An app may call so often a minute.
    scene.pass(60)
    #expect(try await scene.call("GET", "/v3/schedules/\(ids[0])", authorization: Self.basic("k0")).status == 200)
    scene.pass(3600)
    #expect(try await scene.call("GET", "/v3/schedules/\(ids[0])", authorization: Self.basic("k0")).code == 8104)
    for (id, key) in [(ids[1], Self.basic("k0")), (ids[JPushTimetable.endedLimit], last)] {
      #expect(try await scene.call("GET", "/v3/schedules/\(id)", authorization: key).status == 200)
    }

    func left(_ key: String) async throws -> String? {
      try await scene.call("GET", "/v3/push/cid", authorization: Self.basic(key)).headers["x-rate-limit-remaining"]
    }
    #expect(try await left("a") == "599")
    for number in 0..<JPushService.windowLimit { _ = try await left("first \(number)") }
    #expect(try await left("a") == "598")
    for number in 0..<2 * JPushService.windowLimit { _ = try await left("second \(number)") }
    #expect(try await left("a") == "599", "forgotten")
  }

  @Test("users are counted by hour, day and month of Beijing")
  func users() async throws {
    let scene = try JPushScene()
    _ = try await scene.push("all", ["apns_production": false])
    let received = try #require(scene.book.phone(scene.phones[2].id)?.received.first)
    _ = try scene.book.tap(scene.phones[2].id, received.id)
    scene.pass(86_400)
    try scene.book.setPower(scene.phones[0].id, .off)
    let users = try await scene.call("GET", "/v3/users?time_unit=DAY&start=2027-01-14&duration=3").json
    #expect(users["items"]?.array?.map { $0["time"] } == ["2027-01-14", "2027-01-15", "2027-01-16"])
    #expect(users["items"]?.array?.map { $0["ios"]?["online"] } == [0, 1, 1])
    #expect(users["items"]?.array?.map { $0["android"]?["active"] } == [0, 1, 0])
    let wrong = try await scene.call("GET", "/v3/users?time_unit=HOUR&start=2027-01-14&duration=3")
    #expect(wrong.code == 3004)
    #expect(try await scene.call("GET", "/v3/users?time_unit=DAY&start=2026-01-14&duration=3").code == 3005)
  }

  @Test("faults have JPush's codes and headers")
  func faults() async throws {
    let scene = try JPushScene()
    let box = scene.simulator.faults(.jpush)
    box.set(try Faults(parsing: "status=429,next=1,retry=7,reason=1011,next=1,status=401,next=1", for: .jpush))
    let limited = try await scene.push()
    #expect(limited.status == 429 && limited.code == 2002)
    #expect(limited.headers["x-rate-limit-reset"] == "7")
    #expect(try await scene.push().code == 1011)
    #expect(try await scene.push().code == 1004)
    #expect(try await scene.push().status == 200)
    #expect(scene.simulator.counters(.jpush).byReason == ["JPush 2002": 1, "JPush 1011": 1, "JPush 1004": 1])
    box.set(try Faults(parsing: "reason=1011,token=\(scene.ids[0])", for: .jpush))
    #expect(box.faults.description.contains(scene.ids[0]))
    #expect(try await scene.push(["registration_id": [.string(scene.ids[0])]]).code == 1011)
  }

  @Test("a reinstalled app gets another registration ID, and the old one is nobody's")
  func reinstalled() async throws {
    let scene = try JPushScene()
    let old = scene.ids[2]
    try scene.book.uninstall(scene.phones[2].id)
    #expect(try await scene.push(["registration_id": [.string(old)]]).code == 1011)
    let token = try scene.book.reinstall(scene.phones[2].id)
    #expect(token.isRegistrationID && token.text != old && token.text.count == 19)
    #expect(try await scene.push(["registration_id": [.string(token.text)]]).status == 200)
    #expect(try await scene.push(["registration_id": [.string(old)]]).code == 1011)
  }
}
