import Certificates
import Foundation
import OpenSSL
import Model
import TestSupport
import Testing

@testable import Simulator

/// One thing changed of a good call, and what APNs says to it.
struct APNsFault: Sendable, CustomTestStringConvertible {
  let name: String
  let status: Int
  let reason: String
  let change: @Sendable (inout APNsScene, APNsWorld) throws -> Void

  init(
    _ name: String, _ status: Int, _ reason: String,
    _ change: @escaping @Sendable (inout APNsScene, APNsWorld) throws -> Void
  ) {
    self.name = name
    self.status = status
    self.reason = reason
    self.change = change
  }

  var testDescription: String { "\(name): \(status) \(reason)" }
}

@Suite("The judge of the simulated APNs")
struct APNsValidatorTests {
  // MARK: Refusals

  static let requestFaults: [APNsFault] = [
    APNsFault("GET", 405, "MethodNotAllowed") { scene, _ in scene.method = "GET" },
    APNsFault("another path", 404, "BadPath") { scene, _ in scene.path = "/2/device/\(APNsWorld.token)" },
    APNsFault("a longer word", 404, "BadPath") { scene, _ in scene.path = "/3/devices/\(APNsWorld.token)" },
    APNsFault("one part more", 404, "BadPath") { scene, _ in scene.path += "/0" },
    APNsFault("no token", 400, "MissingDeviceToken") { scene, _ in scene.path = "/3/device/" },
    APNsFault("no token and no slash", 400, "MissingDeviceToken") { scene, _ in scene.path = "/3/device" },
    APNsFault("a short token", 400, "BadDeviceToken") { scene, _ in scene.path.removeLast(2) },
    APNsFault("an odd token", 400, "BadDeviceToken") { scene, _ in scene.path += "0" },
    APNsFault("a token with a strange character", 400, "BadDeviceToken") { scene, _ in
      scene.path.removeLast()
      scene.path += "g"
    },
    APNsFault("a token of 201 bytes", 400, "BadDeviceToken") { scene, _ in
      scene.path = "/3/device/" + String(repeating: "ab", count: 201)
    },
    APNsFault("a topic twice", 400, "DuplicateHeaders") { scene, _ in
      scene.headers.append(("apns-topic", APNsWorld.topic))
    },
    APNsFault("an unknown header twice", 400, "DuplicateHeaders") { scene, _ in
      scene.headers += [("user-agent", "a"), ("user-agent", "b")]
    },
    APNsFault("an id without hyphens", 400, "BadMessageId") { scene, _ in
      scene["apns-id"] = "eabeae5414a811e5b60b1697f925ec7b"
    },
    APNsFault("an id with a strange character", 400, "BadMessageId") { scene, _ in
      scene["apns-id"] = "gabeae54-14a8-11e5-b60b-1697f925ec7b"
    },
    APNsFault("an expiration in words", 400, "BadExpirationDate") { scene, _ in
      scene["apns-expiration"] = "tomorrow"
    },
    APNsFault("an expiration below zero", 400, "BadExpirationDate") { scene, _ in scene["apns-expiration"] = "-1" },
    APNsFault("an expiration without digits", 400, "BadExpirationDate") { scene, _ in
      scene["apns-expiration"] = ""
    },
    APNsFault("a priority of 7", 400, "BadPriority") { scene, _ in scene["apns-priority"] = "7" },
    APNsFault("a background push of priority 10", 400, "BadPriority") { scene, _ in
      scene["apns-push-type"] = "background"
      scene["apns-priority"] = "10"
    },
    APNsFault("a collapse id of 65 bytes", 400, "BadCollapseId") { scene, _ in
      scene["apns-collapse-id"] = String(repeating: "ü", count: 32) + "u"
    },
    APNsFault("an unknown push type", 400, "InvalidPushType") { scene, _ in scene["apns-push-type"] = "Alert" },
    APNsFault("an alert to a topic for calls", 400, "InvalidPushType") { scene, _ in
      scene["apns-topic"] = "com.example.app.voip"
    },
    APNsFault("a call to a topic for alerts", 400, "DeviceTokenNotForTopic") { scene, _ in
      scene["apns-push-type"] = "voip"
    },
    APNsFault("no topic", 400, "MissingTopic") { scene, _ in scene["apns-topic"] = nil },
    APNsFault("a topic with blanks", 400, "BadTopic") { scene, _ in scene["apns-topic"] = "com.example my app" },
    APNsFault("an empty topic", 400, "BadTopic") { scene, _ in scene["apns-topic"] = "" },
    APNsFault("a topic that nobody has", 400, "TopicDisallowed") { scene, _ in scene.topics = ["com.example.other"] },
    APNsFault("no payload", 400, "PayloadEmpty") { scene, _ in scene.body = [] },
    APNsFault("a payload that is no JSON", 400, "PayloadEmpty") { scene, _ in scene.body = Array("Hello".utf8) },
    APNsFault("a payload that is no object", 400, "PayloadEmpty") { scene, _ in scene.body = Array("[1]".utf8) },
    APNsFault("a payload of 4097 bytes", 413, "PayloadTooLarge") { scene, _ in scene.body = payload(4097) },
    APNsFault("a call of 5121 bytes", 413, "PayloadTooLarge") { scene, _ in
      scene["apns-push-type"] = "voip"
      scene["apns-topic"] = "com.example.app.voip"
      scene.body = payload(5121)
    },
  ]

  static let tokenFaults: [APNsFault] = [
    APNsFault("neither certificate nor token", 403, "MissingProviderToken") { scene, _ in
      scene["authorization"] = nil
    },
    APNsFault("another scheme", 403, "MissingProviderToken") { scene, _ in scene["authorization"] = "basic YTpi" },
    APNsFault("a scheme alone", 403, "MissingProviderToken") { scene, _ in scene["authorization"] = "bearer " },
    APNsFault("no token at all", 403, "InvalidProviderToken") { scene, _ in scene["authorization"] = "bearer a.b.c" },
    APNsFault("another key's signature", 403, "InvalidProviderToken") { scene, world in
      scene["authorization"] = try world.bearer(key: world.otherKey)
    },
    APNsFault("an unknown key", 403, "InvalidProviderToken") { scene, world in
      scene["authorization"] = try world.bearer("KEY0000009")
    },
    APNsFault("another team", 403, "InvalidProviderToken") { scene, world in
      scene["authorization"] = try world.bearer(team: "TEAM000009")
    },
    APNsFault("no time", 403, "InvalidProviderToken") { scene, world in
      let token = try JSONWebToken.sign(
        .es256, key: world.key, header: [("kid", .string(APNsWorld.keyID))], claims: [("iss", "TEAM000001")])
      scene["authorization"] = "bearer \(token)"
    },
    APNsFault("RS256", 403, "InvalidProviderToken") { scene, world in
      let key = try PrivateKey.generateRSA()
      scene.keys[APNsWorld.keyID]?.publicKey = key.publicKey
      let token = try JSONWebToken.sign(
        .rs256, key: key, header: [("kid", .string(APNsWorld.keyID))],
        claims: [("iss", .string(APNsWorld.team)), ("iat", .integer(Int64(APNsWorld.now.timeIntervalSince1970)))])
      scene["authorization"] = "bearer \(token)"
    },
    APNsFault("an hour and a second old", 403, "ExpiredProviderToken") { scene, world in
      scene["authorization"] = try world.bearer(age: 3601)
    },
    APNsFault("from the future", 403, "ExpiredProviderToken") { scene, world in
      scene["authorization"] = try world.bearer(age: -61)
    },
    APNsFault("a key of the other environment", 403, "BadEnvironmentKeyInToken") { scene, _ in
      scene.keys[APNsWorld.keyID]?.environment = .development
    },
    APNsFault("a key for another app", 400, "TopicDisallowed") { scene, _ in
      scene.keys[APNsWorld.keyID]?.bundleIDs = ["com.example.other"]
    },
    APNsFault("device management", 400, "TopicDisallowed") { scene, _ in
      scene["apns-push-type"] = "mdm"
      scene["apns-topic"] = "com.apple.mgmt.External.1"
    },
    APNsFault("a key id of 9 characters where no keys are known", 403, "InvalidProviderToken") { scene, world in
      scene.keys = [:]
      scene["authorization"] = try world.bearer("KEY000001")
    },
    APNsFault("half a signature where no keys are known", 403, "InvalidProviderToken") { scene, world in
      scene.keys = [:]
      scene["authorization"] = String(try world.bearer().dropLast(43))
    },
    APNsFault("another team on the same connection", 403, "UnrelatedKeyIdInToken") { scene, world in
      _ = try scene.judge().get()
      scene.keys["KEY0000002"] = APNsKey(team: "TEAM000002", publicKey: world.otherKey.publicKey)
      scene["authorization"] = try world.bearer("KEY0000002", team: "TEAM000002", key: world.otherKey)
    },
    APNsFault("a restricted key on a team's connection", 403, "UnrelatedKeyIdInToken") { scene, world in
      _ = try scene.judge().get()
      scene.keys["KEY0000002"] = APNsKey(
        team: APNsWorld.team, publicKey: world.otherKey.publicKey, bundleIDs: [APNsWorld.topic])
      scene["authorization"] = try world.bearer("KEY0000002", key: world.otherKey)
    },
    APNsFault("a third token within 20 minutes", 429, "TooManyProviderTokenUpdates") { scene, world in
      _ = try scene.judge().get()
      scene["authorization"] = try world.bearer(age: 30)
      _ = try scene.judge().get()
      scene.now += 1199
      scene["authorization"] = try world.bearer(age: 20)
    },
  ]

  static let certificateFaults: [APNsFault] = [
    APNsFault("a certificate of yesterday", 403, "BadCertificate") { scene, world in
      scene.show(try world.certificate(days: -9 ... -1))
    },
    APNsFault("a certificate of tomorrow", 403, "BadCertificate") { scene, world in
      scene.show(try world.certificate(days: 1...9))
    },
    APNsFault("a certificate for something else", 403, "BadCertificate") { scene, world in
      scene.show(world.authority.certificate)
    },
    APNsFault("a certificate of the other environment", 403, "BadCertificateEnvironment") { scene, world in
      scene.show(try world.certificate(AppleMarks(isDevelopment: true, isProduction: false)))
    },
    APNsFault("a certificate of the other environment beside a good token", 403, "BadCertificateEnvironment") {
      scene, world in
      scene.certificate = try world.certificate(AppleMarks(isDevelopment: true, isProduction: false))
    },
    APNsFault("a certificate of several topics, and no topic", 400, "MissingTopic") { scene, world in
      scene.show(try world.certificate())
      scene["apns-topic"] = nil
    },
    APNsFault("a certificate of another app", 400, "TopicDisallowed") { scene, world in
      scene.show(try world.certificate(topic: "com.example.other"))
    },
    APNsFault("a service that the certificate does not list", 400, "TopicDisallowed") { scene, world in
      scene.show(try world.certificate())
      scene["apns-topic"] = "com.example.app.push-type.liveactivity"
      scene["apns-push-type"] = "liveactivity"
    },
    APNsFault("a location, even if the certificate lists it", 400, "TopicDisallowed") { scene, world in
      let name = "com.example.app.location-query"
      scene.show(
        try world.certificate(
          AppleMarks(isDevelopment: true, isProduction: true, topics: [.init(name: name, kinds: ["app"])])))
      scene["apns-topic"] = name
      scene["apns-push-type"] = "location"
    },
  ]

  @Test("One fault, one reason", arguments: requestFaults + tokenFaults + certificateFaults)
  func refusal(fault: APNsFault) throws {
    let world = try APNsWorld.shared
    var scene = try APNsScene(world)
    try fault.change(&scene, world)
    guard case .failure(let rejection) = scene.judge() else {
      Issue.record("It was accepted.")
      return
    }
    #expect(rejection.reason == fault.reason)
    #expect(rejection.status == fault.status)
    #expect(rejection.status == Reason.of(fault.reason).status)
    let id = try #require(rejection.apnsID)
    #expect(fault.reason == "BadMessageId" ? UUID(uuidString: id) != nil : id == scene["apns-id"])
    #expect(rejection.timestamp == nil)
  }

  @Test("Every reason that a request alone can have is in the table")
  func completeness() {
    let others: Set = [
      "IdleTimeout", "ExpiredToken", "Unregistered", "TooManyRequests", "Forbidden", "BadEnvironmentKeyIdInToken",
      "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]
    let given = Set((Self.requestFaults + Self.tokenFaults + Self.certificateFaults).map(\.reason))
    let broadcast: Set = [
      "FeatureNotEnabled", "MissingChannelId", "BadChannelId", "ChannelNotRegistered", "BadRequestParams",
      "BadRequestPayload", "MissingPushType", "CannotCreateChannelConfig", "TopicMismatch",
    ]
    let all = Set(Reason.table.filter { $0.source == .apns }.map(\.code))
    #expect(given == all.subtracting(others).subtracting(broadcast))
  }

  /// A JSON object of so many bytes.
  private static func payload(_ count: Int) -> [UInt8] {
    Array(#"{"a":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: count - 8) + Array(#""}"#.utf8)
  }
}
