import Foundation
import JSON
import OpenSSL
import Model
import Testing

@testable import Simulator

@Suite("What the simulated APNs remembers of a connection")
struct APNsLedgerTests {
  let world: APNsWorld
  var scene: APNsScene

  init() throws {
    world = try APNsWorld.shared
    scene = try APNsScene(world)
  }

  @Test("A token read once still expires")
  mutating func expiry() throws {
    _ = try scene.judge().get()
    scene.now += 3540
    _ = try scene.judge().get()
    scene.now += 1
    #expect(scene.reason() == "ExpiredProviderToken")
  }

  @Test("A token may be renewed at once, and again 20 minutes later; older ones stay valid")
  mutating func renewal() throws {
    let first = scene["authorization"]
    _ = try scene.judge().get()
    let second = try world.bearer(age: 30)
    scene["authorization"] = second
    _ = try scene.judge().get()
    let third = try world.bearer(age: 20)
    scene["authorization"] = third
    #expect(scene.reason() == "TooManyProviderTokenUpdates")
    for token in [first, second, first] {
      scene["authorization"] = token
      _ = try scene.judge().get()
    }
    scene.now += APNsLedger.renewalPause
    scene["authorization"] = third
    #expect(try scene.judge().get().usedProviderToken)
  }

  @Test("A token that is not accepted counts as no renewal, and binds nothing")
  mutating func refusedTokens() throws {
    let good = scene["authorization"]
    for age in [7200.0, 7201, 7202] {
      scene["authorization"] = try world.bearer(age: age)
      #expect(scene.reason() == "ExpiredProviderToken")
    }
    #expect(scene.ledger.scope == nil)
    scene["authorization"] = good
    _ = try scene.judge().get()
    #expect(scene.ledger.scope?.team == APNsWorld.team)
  }

  @Test("A second key of the team is related; on another connection every key is")
  mutating func relatedKeys() throws {
    _ = try scene.judge().get()
    scene.keys["KEY0000002"] = APNsKey(team: APNsWorld.team, publicKey: world.otherKey.publicKey)
    scene.keys["KEY0000003"] = APNsKey(team: "TEAM000003", publicKey: world.otherKey.publicKey)
    scene["authorization"] = try world.bearer("KEY0000002", key: world.otherKey)
    _ = try scene.judge().get()
    scene["authorization"] = try world.bearer("KEY0000003", team: "TEAM000003", key: world.otherKey)
    #expect(scene.reason() == "UnrelatedKeyIdInToken")
    scene.ledger = APNsLedger()
    #expect(try scene.judge().get().usedProviderToken)
  }

  @Test("Without keys, any team's well-formed token is taken")
  mutating func unknownKeys() throws {
    scene.keys = [:]
    scene["authorization"] = try world.bearer("ABCDE12345", team: "FGHIJ67890", key: world.otherKey)
    #expect(try scene.judge().get().usedProviderToken)
    #expect(scene.ledger.scope?.team == "FGHIJ67890")
  }

  @Test("A time written as text is read, and so is a claim too many")
  mutating func lenient() throws {
    let time = String(Int64(APNsWorld.now.timeIntervalSince1970))
    let token = try JSONWebToken.sign(
      .es256, key: world.key, header: [("kid", .string(APNsWorld.keyID)), ("typ", "JWT")],
      claims: [("iss", .string(APNsWorld.team)), ("iat", .string(time)), ("kid", .string(APNsWorld.keyID))])
    scene["authorization"] = "Bearer \(token)"
    #expect(try scene.judge().get().usedProviderToken)
  }

  @Test("More tokens than are kept do not make it forget the accepted one")
  mutating func flood() throws {
    let good = scene["authorization"]
    _ = try scene.judge().get()
    for number in 0..<(2 * APNsLedger.tokenLimit) {
      scene["authorization"] = "bearer a.\(number).c"
      #expect(scene.reason() == "InvalidProviderToken")
    }
    scene["authorization"] = good
    #expect(try scene.judge().get().usedProviderToken)
    scene["authorization"] = try world.bearer(age: 30)
    #expect(try scene.judge().get().usedProviderToken)
  }

  @Test("Another body or topic is not taken for the one before")
  mutating func changes() throws {
    #expect(try scene.judge().get().payload["aps"]?["alert"] == "Hello")
    scene.body = Array(#"{"aps":{"alert":"World"}}"#.utf8)
    scene["apns-topic"] = "com.example.second"
    let push = try scene.judge().get()
    #expect(push.payload["aps"]?["alert"] == "World")
    #expect(push.topic == "com.example.second")
    scene.body = Array("{".utf8)
    #expect(scene.reason() == "PayloadEmpty")
  }
}
