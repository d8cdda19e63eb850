import Foundation
import JSON
import Model
import OpenSSL
import Testing

@testable import Simulator

@Suite("Broadcast channels of the simulated APNs")
struct ChannelTests {
  private static let id = "dHN0LXNyY2gtY2hubA=="

  /// A good call of one kind, changed.
  private static func judge(
    _ method: String, _ path: String, _ body: String = "", environment: Model.Environment = .production,
    _ change: (inout APNsScene, APNsWorld) throws -> Void = { _, _ in }
  ) throws -> Result<ChannelCall, APNsRejection> {
    let world = try APNsWorld.shared
    var scene = try APNsScene(world)
    (scene.method, scene.path, scene.body, scene.environment) = (method, path, Array(body.utf8), environment)
    for name in ["apns-topic", "apns-push-type", "apns-id"] { scene[name] = nil }
    try change(&scene, world)
    let validator = APNsValidator(
      environment: scene.environment, knownKeys: scene.keys, knownTopics: scene.topics)
    do throws(APNsRejection) {
      return .success(
        try validator.judgeChannel(
          APNsCall(
            method: scene.method, path: scene.path, headers: scene.headers, body: scene.body,
            bodyByteCount: scene.body.count),
          identity: APNsConnectionIdentity(certificate: scene.certificate), ledger: &scene.ledger, now: scene.now))
    } catch {
      return .failure(error)
    }
  }

  private static func reason(_ result: Result<ChannelCall, APNsRejection>) -> String? {
    if case .failure(let rejection) = result { "\(rejection.status) \(rejection.reason)" } else { nil }
  }

  private static let channels = "/1/apps/com.example.app/channels"
  private static let broadcasts = "/4/broadcasts/apps/com.example.app"
  private static let policy = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
  private static let update = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#

  @Test("good calls are understood")
  func good() throws {
    guard case .create("com.example.app", .storesLatest) = try Self.judge("POST", Self.channels, Self.policy).get()
    else {
      Issue.record("create")
      return
    }
    guard case .list("com.example.app") = try Self.judge("GET", "/1/apps/com.example.app/all-channels").get() else {
      Issue.record("list")
      return
    }
    for method in ["GET", "DELETE"] {
      _ = try Self.judge(method, Self.channels) { scene, _ in scene["apns-channel-id"] = Self.id }.get()
    }
    let sent = try Self.judge("POST", Self.broadcasts, Self.update) { scene, _ in
      scene["apns-channel-id"] = Self.id
      scene["apns-push-type"] = "liveactivity"
      scene["apns-expiration"] = "0"
      scene["apns-request-id"] = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    }
    guard case .send(let push) = try sent.get() else {
      Issue.record("send")
      return
    }
    #expect(push.channel == Self.id && push.priority == 10 && push.expiration.timeIntervalSince1970 == 0)
  }

  /// A call, a change, and what APNs says.
  struct Fault: Sendable, CustomTestStringConvertible {
    let method: String
    let path: String
    let body: String
    let answer: String
    let change: @Sendable (inout APNsScene, APNsWorld) throws -> Void

    init(
      _ method: String, _ path: String, _ body: String, _ answer: String,
      _ change: @escaping @Sendable (inout APNsScene, APNsWorld) throws -> Void = { _, _ in }
    ) { (self.method, self.path, self.body, self.answer, self.change) = (method, path, body, answer, change) }

    var testDescription: String { "\(method) \(path): \(answer)" }
  }

  private static func send(
    _ answer: String, _ body: String = update, _ change: @escaping @Sendable (inout APNsScene, APNsWorld) throws -> Void
  ) -> Fault {
    Fault("POST", broadcasts, body, answer) { scene, world in
      scene["apns-channel-id"] = id
      scene["apns-push-type"] = "liveactivity"
      try change(&scene, world)
    }
  }

  static let faults: [Fault] = [
    Fault("POST", "/1/apps/com.example.app", policy, "404 BadPath"),
    Fault("POST", "/1/apps/com.example.app/channels/x", policy, "404 BadPath"),
    Fault("PUT", channels, policy, "405 MethodNotAllowed"),
    Fault("POST", "/1/apps/com.example.app/all-channels", "", "405 MethodNotAllowed"),
    Fault("GET", broadcasts, "", "405 MethodNotAllowed"),
    Fault("POST", "/1/apps/com.example.app.voip/channels", policy, "400 TopicDisallowed"),
    Fault("POST", channels, policy, "400 FeatureNotEnabled") { scene, _ in scene.topics = ["com.example.other"] },
    Fault("POST", channels, policy, "403 MissingProviderToken") { scene, _ in scene["authorization"] = nil },
    Fault("POST", channels, policy, "403 TopicMismatch") { scene, world in
      scene.show(try world.certificate(topic: "com.example.other"))
    },
    Fault("POST", channels, policy, "400 BadMessageId") { scene, _ in scene["apns-request-id"] = "1" },
    Fault("POST", channels, policy, "400 BadRequestParams") { scene, _ in
      scene.headers += [("apns-channel-id", id), ("apns-channel-id", id)]
    },
    Fault("POST", channels, "", "400 PayloadEmpty"),
    Fault("POST", channels, "[]", "400 BadRequestPayload"),
    Fault("POST", channels, #"{"message-storage-policy":1}"#, "400 MissingPushType"),
    Fault("POST", channels, #"{"message-storage-policy":1,"push-type":"alert"}"#, "400 InvalidPushType"),
    Fault("POST", channels, #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "400 BadRequestPayload"),
    Fault("GET", channels, "", "400 MissingChannelId"),
    Fault("DELETE", channels, "", "400 BadChannelId") { scene, _ in scene["apns-channel-id"] = "not base64" },
    send("400 MissingChannelId") { scene, _ in scene["apns-channel-id"] = nil },
    send("400 MissingPushType") { scene, _ in scene["apns-push-type"] = nil },
    send("400 InvalidPushType") { scene, _ in scene["apns-push-type"] = "alert" },
    send("400 BadPriority") { scene, _ in scene["apns-priority"] = "7" },
    send("400 BadExpirationDate") { scene, _ in scene["apns-expiration"] = "soon" },
    send("400 PayloadEmpty", "") { _, _ in },
    send("400 BadRequestPayload", "Hello") { _, _ in },
    send("413 PayloadTooLarge", #"{"a":"\#(String(repeating: "x", count: 5120))"}"#) { _, _ in },
  ]

  @Test("each mistake has Apple's reason", arguments: faults)
  func mistakes(fault: Fault) throws {
    let result = try Self.judge(fault.method, fault.path, fault.body, fault.change)
    #expect(Self.reason(result) == fault.answer)
    #expect(Reason.of(fault.answer.split(separator: " ")[1].description).isKnown)
  }

  @Test("channels belong to an app and an environment, and there is a limit")
  func book() throws {
    let book = ChannelBook()
    let id = try book.create(.storesNothing, app: "com.example.app", .production)
    #expect(ChannelID.problem(with: id) == nil)
    #expect(book.list(app: "com.example.app", .production) == [id])
    #expect(book.list(app: "com.example.app", .development) == [])
    #expect(throws: APNsRejection("ChannelNotRegistered")) { try book.find(id, app: "com.example.app", .development) }
    #expect(throws: APNsRejection("ChannelNotRegistered")) { try book.delete(id, app: "com.example.b", .production) }
    for _ in 1..<ChannelBook.limit { _ = try book.create(.storesNothing, app: "com.example.app", .production) }
    #expect(throws: APNsRejection("CannotCreateChannelConfig")) {
      try book.create(.storesNothing, app: "com.example.app", .production)
    }
    try book.delete(id, app: "com.example.app", .production)
    _ = try book.create(.storesNothing, app: "com.example.app", .production)
  }
}
