package import Foundation
import HTTP2
import JSON
import Model
import OpenSSL

/// Sends pushes through JPush's REST API v3 with one key pair: one request for up to 1000 registration IDs
/// (docs/protocols.md §4.2).
package final class JPushProvider: LinkedProvider {
  package let link: ServiceLink
  private let rules: JPushRules
  private let appKey: String
  private let isProduction: Bool
  private let clock: @Sendable () -> Date

  /// - Throws: `TLSError` if the trust is unusable.
  init(_ keys: JPushKeyPair, environment: Model.Environment, endpoint: JPushEndpoint, _ tools: ProviderTools) throws {
    let rules = JPushRules()
    (self.rules, appKey, clock) = (rules, keys.appKey, tools.clock)
    isProduction = environment == .production
    var tools = tools
    tools.connections.connection.keepsFieldsOfSuccess = true
    let report = tools.report
    tools.report = { for part in rules.expand($0) { report(part) } }
    link = ServiceLink(
      rules, endpoint: try endpoint.endpoint(.push, tools), authorization: BasicAuthorization(keys), tools: tools)
  }

  package func prepare(_ push: ProviderPush) -> any PreparedPush { JPushPush(provider: self, push: push) }

  /// A push that is only validated: it reaches nobody, and shows whether JPush accepts the keys.
  package func probe(topic: String) {
    let body: JSONValue = [
      "platform": "all", "audience": ["registration_id": ["0"]], "notification": ["alert": "Signalbox"],
      "options": ["apns_production": .bool(isProduction)],
    ]
    link.ask(path: "/v3/push/validate", json: body.bytes)
  }

  package func validate(_ push: ProviderPush, _ devices: [ProviderDevice]) -> Int {
    // Every text is tried with all of the devices: which one a device gets does not matter here.
    push.draft.variants.reduce(0) { count, variant in
      let message = JPushMessage(variant, uid: push.uid, signature: push.signature)
      let groups = Self.groups(Array(devices.indices), devices, message)
      for indices in groups {
        let members = indices.map { devices[$0] }
        let request = message.request(to: Self.platforms(of: members), cid: nil)
        link.ask(path: "/v3/push/validate", json: Self.body(request, to: members))
      }
      return count + groups.count
    }
  }

  /// The devices of each request.
  private static func groups(_ indices: [Int], _ devices: [ProviderDevice], _ message: JPushMessage) -> [[Int]] {
    guard !message.fitsBothPlatforms else { return indices.isEmpty ? [] : [indices] }
    return Platform.allCases.map { platform in indices.filter { devices[$0].platform == platform } }
      .filter { !$0.isEmpty }
  }

  private static func platforms(of members: [ProviderDevice]) -> Set<Platform> {
    // Asked for each platform: a set of a thousand members' would hash every one.
    Set(Platform.allCases.filter { platform in members.contains { $0.platform == platform } })
  }

  /// The body of a request, with its receivers. Their IDs are written as the bytes that they are: a string for each
  /// would cost more than the rest of the request.
  static func body(_ request: JSONValue, to members: [ProviderDevice]) -> [UInt8] {
    var json = JSONWriter(capacity: 4096 + 32 * members.count)
    json.object { json in
      json.object("audience") { json in
        json.array("registration_id", members) { json, device in json.string(utf8: device.token.bytes) }
      }
      json.members(of: request)
    }
    return json.bytes
  }

  /// With the limits in devices, and the pause that JPush's limits ask for.
  package func health(at now: Date) -> ProviderHealth {
    var health = link.health(at: now)
    health.limit = health.limit.map { $0 * JPushMessage.deviceLimit }
    if health.circuit == .closed, let pause = rules.pause(at: now) {
      health.circuit = .open(reason: "JPush 2002", since: pause.since, until: pause.until)
    }
    return health
  }

  fileprivate func send(
    _ message: JPushMessage, _ push: ProviderPush, timeToLive: Int?, to devices: [ProviderDevice],
    _ answers: AnswerBudget, noting notes: (any DepartureNotes)?
  ) {
    let chunks = stride(from: 0, to: devices.count, by: JPushMessage.deviceLimit).map {
      $0..<min($0 + JPushMessage.deviceLimit, devices.count)
    }
    for chunk in chunks {
      for indices in Self.groups(Array(chunk), devices, message) {
        let members = indices.map { devices[$0] }
        let ids = members.map(\.id)
        let request = message.request(
          to: Self.platforms(of: members), cid: Self.cid(appKey, push, ids), sendno: push.id, timeToLive: timeToLive)
        var batch = RequestBatchBuilder(
          template: .json, tag: push.id, capacity: 1, notes: notes.map { GroupNotes($0, indices, ids) },
          keptAnswers: answers.take(atMost: 1))
        batch.append(id: rules.begin(ids), path: "/v3/push", body: Self.body(request, to: members))
        link.submit(batch.build())
      }
    }
  }

  fileprivate func now() -> Date { clock() }

  /// The same for the same devices of a push: JPush answers a repetition within a day with the first answer, and sends
  /// nothing more (docs/protocols.md §4.2).
  static func cid(_ appKey: String, _ push: ProviderPush, _ devices: [Int64]) -> String {
    let numbers = [push.seed.littleEndian] + devices.map { UInt64(bitPattern: $0).littleEndian }
    let bytes = numbers.withUnsafeBytes { Array($0) }
    var uuid = ""
    for (index, digit) in Hexadecimal.encode(Digest.sha256(bytes).prefix(16)).enumerated() {
      if [8, 12, 16, 20].contains(index) { uuid.append("-") }
      uuid.append(digit)
    }
    return "\(appKey)-\(uuid)"
  }
}

/// A push for JPush. Its time to live is counted from the moment of each request, because JPush takes seconds.
private struct JPushPush: PreparedPush {
  let provider: JPushProvider
  let push: ProviderPush
  private let messages: Variants<JPushMessage>
  private let answers = AnswerBudget()

  init(provider: JPushProvider, push: ProviderPush) {
    (self.provider, self.push) = (provider, push)
    messages = Variants(push.draft.variants.map { JPushMessage($0, uid: push.uid, signature: push.signature) })
  }

  /// A request has one text, so that devices in another language are in another one.
  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    push.send(to: devices, noting: notes) { first, devices, notes in
      let left = push.timeLeft(at: provider.now(), since: first)
      messages.send(to: devices, noting: notes) { message, devices, notes in
        provider.send(message, push, timeToLive: left, to: devices, answers, noting: notes)
      }
    }
  }
}

/// One request stands for several devices: all of them leave with it.
private final class GroupNotes: DepartureNotes {
  private let notes: any DepartureNotes
  private let places: [Int]
  private let devices: [Int64]

  init(_ notes: any DepartureNotes, _ places: [Int], _ devices: [Int64]) {
    (self.notes, self.places, self.devices) = (notes, places, devices)
  }

  func left(_ index: Int, id: Int64) {
    for (place, device) in zip(places, devices) { notes.left(place, id: device) }
  }

  func returned(_ index: Int) { for place in places { notes.returned(place) } }
}

/// Basic authorization with the app key and the master secret, which never expires.
final class BasicAuthorization: RequestAuthorization {
  private let value: String
  var changed: () -> Void = {}

  init(_ keys: JPushKeyPair) { value = Self.value(keys) }

  static func value(_ keys: JPushKeyPair) -> String {
    "Basic " + Data("\(keys.appKey):\(keys.masterSecret)".utf8).base64EncodedString()
  }

  func current(at now: Date) -> AuthorizationState { .value(value) }
  func renew(at now: Date) -> Bool { false }
  func stop() {}
}
