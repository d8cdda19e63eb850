import Delivery
import Foundation
import JSON
import Model
import Simulator
import Store
import Testing

extension DeliveryScene {
  /// What a phone's app tells the console beside its token.
  struct Person: Sendable {
    var name: String
    var tags: [String] = []
    var environment = Model.Environment.development
    var topic = DeliveryScene.topic
    /// In which environment the console believes it to be; nil: the right one.
    var registeredAs: Model.Environment?
  }

  /// Phones with the app, registered an hour ago by alias, tags and a registration id made of the name.
  @discardableResult
  func add(_ people: [Person]) async throws -> [SimulatedPhone] {
    let phones = try people.map { person in
      try simulator.phones.add(
        NewPhone(name: person.name, environment: person.environment, topic: person.topic, alias: person.name))
    }
    let registrations = zip(people, phones).map { person, phone in
      var registration = Registration(
        token: phone.token, environment: person.registeredAs ?? person.environment, platform: .ios)
      registration.alias = .set(person.name)
      registration.registrationID = .set("rid" + person.name)
      registration.tags = .set(person.tags)
      return registration
    }
    let added = try await store.write { [app] database in
      try Device.register(database, app: app.id, registrations, now: Date() - 3600)
    }
    guard added.allSatisfy({ $0.deviceID != nil }) else { throw SceneError("not all registered: \(added)") }
    return phones
  }

  /// So many phones of nobody in particular.
  @discardableResult
  func add(_ count: Int, environment: Model.Environment = .development) async throws -> [SimulatedPhone] {
    try await add((1...count).map { Person(name: "p\($0)", environment: environment) })
  }

  /// A push as the console keeps it, queued; at most once, so that each double is one too many.
  func push(
    _ audience: JSONValue = "all", environment: Model.Environment = .development,
    options: JSONValue = ["at_most_once": true],
    notification: JSONValue = ["title": "Hello", "body": "from the console"]
  ) async throws -> Push {
    let draft = try PushDraft(json: [
      "app": .string(app.bundleID), "environment": .string(environment.rawValue), "audience": audience,
      "notification": notification, "options": options,
    ])
    return try await store.write { [app] database in
      try Push.create(database, NewPush(draft, app: app, source: .api, by: "test"), now: Date())
    }
  }

  /// Carries a push out until the engine has done with it.
  func carryOut(_ push: Push) async throws {
    try await bounded("the push ends") { [engine] in await engine.runOnly(push.id) }
  }

  /// Makes a push and carries it out.
  func deliver(
    _ audience: JSONValue = "all", environment: Model.Environment = .development,
    options: JSONValue = ["at_most_once": true]
  ) async throws -> Push {
    let queued = try await push(audience, environment: environment, options: options)
    try await carryOut(queued)
    return try await store.read { try Push.get($0, id: queued.id) }
  }

  /// What came of a push that was for these phones.
  func tally(_ push: Push, _ phones: [SimulatedPhone]) async throws -> Tally {
    try await Tally(store, push: push.id, audience: Set(phones.map(\.token)), phones: simulator.phones)
  }

  /// The device of a phone.
  func device(_ phone: SimulatedPhone) async throws -> Device {
    let found = try await store.read { [app] database in
      try Device.find(database, app: app.id, token: phone.token)
    }
    return try #require(found)
  }
}
