import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import TestSupport
import Testing

@testable import Simulator

@Suite("What the simulated APNs accepts")
struct APNsAcceptanceTests {
  let world: APNsWorld
  var scene: APNsScene

  init() throws {
    world = try APNsWorld.shared
    scene = try APNsScene(world)
  }

  @Test("All of a request is read")
  mutating func all() throws {
    scene["apns-expiration"] = "1795003600"
    scene["apns-priority"] = "5"
    scene["apns-collapse-id"] = String(repeating: "c", count: 64)
    scene.body = Array(#"{"aps":{"alert":"Hello"},"sbid":"p_1"}"#.utf8)
    let push = try scene.judge().get()
    #expect(push.token.hexadecimal == APNsWorld.token.lowercased())
    #expect(push.apnsID == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    #expect(push.topic == "com.example.app")
    #expect(push.pushType == .alert)
    #expect(push.priority == 5)
    #expect(push.expiration == Date(timeIntervalSince1970: 1_795_003_600))
    #expect(!push.isOnceOnly)
    #expect(push.collapseID?.utf8.count == 64)
    #expect(push.payload == ["aps": ["alert": "Hello"], "sbid": "p_1"])
    #expect(push.rawPayload == scene.body)
    #expect(push.uniqueID == "p_1")
    #expect(push.usedProviderToken)
  }

  @Test("Missing headers have defaults")
  mutating func defaults() throws {
    for name in ["apns-id", "apns-push-type", "apns-priority"] { scene[name] = nil }
    let push = try scene.judge().get()
    #expect(UUID(uuidString: push.apnsID) != nil)
    #expect(push.apnsID == push.apnsID.uppercased())
    #expect(push.pushType == .alert)
    #expect(push.priority == 10)
    #expect(push.expiration == nil)
    #expect(push.collapseID == nil)
    #expect(push.uniqueID == nil)
    scene["apns-expiration"] = "0"
    let once = try scene.judge().get()
    #expect(once.isOnceOnly)
    #expect(once.apnsID != push.apnsID)
  }

  @Test("An id comes back letter for letter", arguments: ["EABEAE54-14A8-11E5-B60B-1697F925EC7B"])
  mutating func id(id: String) throws {
    scene["apns-id"] = id
    #expect(try scene.judge().get().apnsID == id)
  }

  @Test("Every push type with a provider token", arguments: PushType.allCases.filter { $0 != .mdm })
  mutating func tokenTypes(type: PushType) throws {
    scene["apns-push-type"] = type.rawValue
    scene["apns-topic"] = APNsWorld.topic + type.topicSuffix
    scene.topics = [APNsWorld.topic]
    scene.keys[APNsWorld.keyID]?.bundleIDs = [APNsWorld.topic]
    #expect(try scene.judge().get().pushType == type)
    // Without the header the topic says it, and else the payload.
    scene["apns-push-type"] = nil
    scene.body = Array((type == .background ? #"{"aps":{"content-available":1}}"# : "{}").utf8)
    #expect(try scene.judge().get().pushType == type)
  }

  @Test("Every push type with a certificate", arguments: PushType.allCases.filter { $0 != .location })
  mutating func certificateTypes(type: PushType) throws {
    let base = type == .mdm ? "com.apple.mgmt.External.4c29d9f4" : APNsWorld.topic
    let topics = [base, base + type.topicSuffix].map { AppleExtensions.Topic(name: $0, kinds: ["app"]) }
    scene.show(
      try world.certificate(AppleMarks(isDevelopment: false, isProduction: true, topics: topics), topic: base))
    scene["apns-push-type"] = type.rawValue
    scene["apns-topic"] = base + type.topicSuffix
    let push = try scene.judge().get()
    #expect(push.pushType == type)
    #expect(!push.usedProviderToken)
  }

  @Test("A certificate of one topic needs no header", arguments: [Environment.development, .production])
  mutating func onlyTopic(environment: Environment) throws {
    scene.environment = environment
    scene.show(
      try world.certificate(
        AppleMarks(
          isDevelopment: environment == .development, isProduction: environment == .production)))
    scene["apns-topic"] = nil
    #expect(try scene.judge().get().topic == APNsWorld.topic)
  }

  @Test("A VoIP certificate opens both environments and only calls", arguments: Environment.allCases)
  mutating func voip(environment: Environment) throws {
    scene.environment = environment
    scene.show(try world.certificate(AppleMarks(isDevelopment: false, isProduction: false, isVoIP: true)))
    scene["apns-topic"] = nil
    scene["apns-push-type"] = "voip"
    #expect(try scene.judge().get().topic == "com.example.app.voip")
    scene["apns-topic"] = APNsWorld.topic
    scene["apns-push-type"] = "alert"
    #expect(scene.reason() == "TopicDisallowed")
  }

  @Test("A certificate without extensions is no push certificate, whatever its subject")
  mutating func plainCertificate() throws {
    scene.show(try world.certificate(AppleMarks(isDevelopment: false, isProduction: false)))
    #expect(scene.reason() == "BadCertificate")
  }

  @Test("Limits are inside")
  mutating func limits() throws {
    scene.body = Array(#"{"a":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 4088) + Array(#""}"#.utf8)
    #expect(try scene.judge().get().rawPayload.count == 4096)
    scene["apns-push-type"] = "voip"
    scene["apns-topic"] = "com.example.app.voip"
    scene.body = Array(#"{"a":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 5112) + Array(#""}"#.utf8)
    #expect(try scene.judge().get().rawPayload.count == 5120)
    for bytes in [32, 80, 200] {
      scene.path = "/3/device/" + String(repeating: "ab", count: bytes)
      #expect(try scene.judge().get().token.bytes.count == bytes)
    }
    for age in [0.0, -60, 3600] {
      scene.ledger = APNsLedger()
      scene["authorization"] = try world.bearer(age: age)
      #expect(try scene.judge().get().usedProviderToken)
    }
  }

  @Test("A background push may have priority 5, or none named")
  mutating func background() throws {
    scene["apns-push-type"] = "background"
    #expect(try scene.judge().get().priority == 5)
    scene["apns-priority"] = "5"
    #expect(try scene.judge().get().priority == 5)
    scene["apns-push-type"] = "alert"
    scene["apns-priority"] = "1"
    #expect(try scene.judge().get().priority == 1)
  }

  @Test("The same header field may be cut into crumbs only where HTTP allows it")
  mutating func cookies() throws {
    scene.headers += [("cookie", "a=1"), ("cookie", "b=2")]
    #expect(try scene.judge().get().usedProviderToken)
  }
}
