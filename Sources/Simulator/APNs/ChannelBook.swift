import Foundation
import HTTP2
import JSON
package import Model
import OpenSSL
import Synchronization

/// The broadcast channels of the simulated APNs, and the phones that subscribed to them. Saved where the phones are. Safe
/// to use from any thread.
package final class ChannelBook: Sendable {
  /// A channel of one app in one environment.
  package struct Channel: Sendable, Hashable {
    /// Base64, as Apple's.
    package let id: String
    package let environment: Model.Environment
    package let app: String
    package let policy: ChannelPolicy
    /// Row IDs of phones.
    package fileprivate(set) var subscribers: Set<Int64>
    /// How many pushes were accepted.
    package fileprivate(set) var accepted: Int

    init(
      id: String, environment: Model.Environment, app: String, policy: ChannelPolicy, subscribers: Set<Int64> = [],
      accepted: Int = 0
    ) {
      (self.id, self.environment, self.app, self.policy) = (id, environment, app, policy)
      (self.subscribers, self.accepted) = (subscribers, accepted)
    }
  }

  package enum Problem: Error, Sendable, Hashable {
    case noSuchChannel
    /// The phone has another app, or its build is of the other environment.
    case otherApp
  }

  /// Apple's limit for an app and environment.
  static let limit = 10_000
  /// Apple keeps a message no longer, in seconds.
  static let longestStorage: TimeInterval = 8 * 3600

  private struct Place: Hashable {
    let environment: Model.Environment
    let app: String
  }

  private let channels: Mutex<[Place: [String: Channel]]>
  private let phones: PhoneBook

  /// - Parameter phones: whose storage had channels, and gets them; phones that are gone have no subscriptions.
  package init(_ phones: PhoneBook = PhoneBook()) {
    self.phones = phones
    let present = Set(phones.phones().map(\.id))
    var kept: [Place: [String: Channel]] = [:]
    for var channel in phones.keptChannels {
      channel.subscribers.formIntersection(present)
      kept[Place(environment: channel.environment, app: channel.app), default: [:]][channel.id] = channel
    }
    channels = Mutex(kept)
    // Saved without them: a new phone may get the ID of one that is gone.
    if phones.keptChannels.contains(where: { !$0.subscribers.isSubset(of: present) }) { keepSoon() }
  }

  private func keepSoon() { phones.keepSoon { self.all } }

  /// All channels, in the order of app and ID.
  package var all: [Channel] {
    channels.withLock { $0.values.flatMap(\.values) }.sorted { ($0.app, $0.id) < ($1.app, $1.id) }
  }

  /// Subscribes a phone, as its app does with ActivityKit.
  package func subscribe(_ phone: SimulatedPhone, to id: String) throws(Problem) {
    try change(id, phone) { $0.subscribers.insert(phone.id) }
  }

  /// Subscribes the phone that a push is for, if the push starts a Live Activity that listens to a channel
  /// (docs/protocols.md §1.4).
  func join(_ push: AcceptedPush, _ environment: Model.Environment) {
    guard push.pushType == .liveactivity, let aps = push.payload["aps"], aps["event"]?.string == "start",
      let id = aps["input-push-channel"]?.string,
      let phone = phones.phones(token: SimulatedPhone.token(push.token, for: push.pushType))
        .first(where: { $0.environment == environment })
    else { return }
    // Nil: without such a channel, the activity starts and hears nothing.
    _ = try? subscribe(phone, to: id)
  }

  package func unsubscribe(_ phone: SimulatedPhone, from id: String) throws(Problem) {
    try change(id, phone) { $0.subscribers.remove(phone.id) }
  }

  private func change(_ id: String, _ phone: SimulatedPhone, _ body: (inout Channel) -> Void) throws(Problem) {
    let found = channels.withLock { channels -> Problem? in
      let place = Place(environment: phone.environment, app: phone.topic)
      guard channels[place]?[id] != nil else {
        return channels.values.contains { $0[id] != nil } ? .otherApp : .noSuchChannel
      }
      body(&channels[place, default: [:]][id, default: Self.placeholder])
      return nil
    }
    if let found { throw found }
    keepSoon()
  }

  private static let placeholder = Channel(id: "", environment: .development, app: "", policy: .storesNothing)

  // MARK: What APNs answers

  func create(_ policy: ChannelPolicy, app: String, _ environment: Model.Environment) throws(APNsRejection) -> String {
    let id = Data(Random.bytes(16)).base64EncodedString()
    let isFull = channels.withLock { channels in
      let place = Place(environment: environment, app: app)
      guard channels[place]?.count ?? 0 < Self.limit else { return true }
      channels[place, default: [:]][id] = Channel(id: id, environment: environment, app: app, policy: policy)
      return false
    }
    if isFull { throw APNsRejection("CannotCreateChannelConfig") }
    keepSoon()
    return id
  }

  func find(_ id: String, app: String, _ environment: Model.Environment) throws(APNsRejection) -> Channel {
    let found = channels.withLock { $0[Place(environment: environment, app: app)]?[id] }
    guard let found else { throw APNsRejection("ChannelNotRegistered") }
    return found
  }

  func delete(_ id: String, app: String, _ environment: Model.Environment) throws(APNsRejection) {
    let gone = channels.withLock { $0[Place(environment: environment, app: app)]?.removeValue(forKey: id) }
    guard gone != nil else { throw APNsRejection("ChannelNotRegistered") }
    keepSoon()
  }

  func list(app: String, _ environment: Model.Environment) -> [String] {
    channels.withLock { ($0[Place(environment: environment, app: app)] ?? [:]).keys.sorted() }
  }

  /// Counts an accepted push.
  func accept(_ id: String, app: String, _ environment: Model.Environment) {
    _ = channels.withLock { $0[Place(environment: environment, app: app)]?[id]?.accepted += 1 }
    keepSoon()
  }
}

/// A validated request to a channel, or about channels.
enum ChannelCall: Sendable {
  case create(app: String, ChannelPolicy)
  case read(app: String, String)
  case delete(app: String, String)
  case list(app: String)
  case send(ChannelPush)
}

/// A push to a channel that passed validation, apart from the channel itself.
struct ChannelPush: Sendable {
  let app: String
  let channel: String
  let priority: Int
  /// 1970-01-01: one attempt.
  let expiration: Date
  let payload: JSONValue
  let rawPayload: [UInt8]
  let usedProviderToken: Bool
}

extension APNsValidator {
  static func isAboutChannels(_ path: String) -> Bool { path.hasPrefix("/1/apps/") || path.hasPrefix("/4/broadcasts/") }

  /// Judges a request about channels as APNs would (docs/protocols.md §1.8). Apple does not document the order of its
  /// checks: as for devices, the path comes first, then the credential, the headers, and the payload.
  func judgeChannel(
    _ call: APNsCall, identity: APNsConnectionIdentity, ledger: inout APNsLedger, now: Date
  ) throws(APNsRejection) -> ChannelCall {
    let (app, isList, isSend) = try place(call.path)
    let methods = isList ? ["GET"] : isSend ? ["POST"] : ["POST", "GET", "DELETE"]
    guard methods.contains(call.method) else { throw APNsRejection("MethodNotAllowed") }
    let fields = APNsFields(call.headers)
    if fields.hasRepeats { throw APNsRejection("BadRequestParams") }
    if let id = fields.requestID, !APNsFields.isUUID(id) { throw APNsRejection("BadMessageId") }
    let credential = try credential(fields, identity, &ledger, now)
    try check(app, credential)
    if isList { return .list(app: app) }
    if isSend { return .send(try push(call, fields, app, credential, &ledger)) }
    if call.method == "POST" { return .create(app: app, try policy(call, &ledger)) }
    let channel = try channel(fields)
    return call.method == "GET" ? .read(app: app, channel) : .delete(app: app, channel)
  }

  private func place(_ path: String) throws(APNsRejection) -> (app: String, isList: Bool, isSend: Bool) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch parts.count {
    case 5 where parts[1] == "1" && parts[2] == "apps" && (parts[4] == "channels" || parts[4] == "all-channels"):
      return (parts[3], parts[4] == "all-channels", false)
    case 5 where parts[1] == "4" && parts[2] == "broadcasts" && parts[3] == "apps": return (parts[4], false, true)
    default: throw APNsRejection("BadPath")
    }
  }

  private func check(_ app: String, _ credential: Credential) throws(APNsRejection) {
    // "TopicDisallowed: the bundle ID has a suffix" (docs/protocols.md §1.8).
    guard let topic = APNsTopic(app), topic.suffixType == nil else { throw APNsRejection("TopicDisallowed") }
    guard isKnown(topic) else { throw APNsRejection("FeatureNotEnabled") }
    switch credential {
    case .certificate(let certificate):
      guard certificate.topics.contains(app) else { throw APNsRejection("TopicMismatch") }
    case .token(let token):
      guard token.scope.bundleIDs?.contains(app) != false else { throw APNsRejection("TopicMismatch") }
    }
  }

  private func channel(_ fields: APNsFields) throws(APNsRejection) -> String {
    guard let channel = fields.channelID, !channel.isEmpty else { throw APNsRejection("MissingChannelId") }
    guard ChannelID.problem(with: channel) == nil else { throw APNsRejection("BadChannelId") }
    return channel
  }

  private func policy(_ call: APNsCall, _ ledger: inout APNsLedger) throws(APNsRejection) -> ChannelPolicy {
    if call.bodyByteCount == 0 { throw APNsRejection("PayloadEmpty") }
    guard let json = ledger.json(call.body), case .object = json else { throw APNsRejection("BadRequestPayload") }
    guard let type = json["push-type"]?.string else { throw APNsRejection("MissingPushType") }
    guard type.lowercased() == PushType.liveactivity.rawValue else { throw APNsRejection("InvalidPushType") }
    guard let number = json["message-storage-policy"]?.integer, let policy = ChannelPolicy(rawValue: Int(number))
    else { throw APNsRejection("BadRequestPayload") }
    return policy
  }

  private func push(
    _ call: APNsCall, _ fields: APNsFields, _ app: String, _ credential: Credential, _ ledger: inout APNsLedger
  ) throws(APNsRejection) -> ChannelPush {
    let channel = try channel(fields)
    guard fields.pushType != nil else { throw APNsRejection("MissingPushType") }
    guard try pushType(fields) == .liveactivity else { throw APNsRejection("InvalidPushType") }
    let priority = try priority(fields, .liveactivity)
    let expiration = try expiration(fields) ?? Date(timeIntervalSince1970: 0)
    if call.bodyByteCount == 0 { throw APNsRejection("PayloadEmpty") }
    if call.bodyByteCount > 5120 { throw APNsRejection("PayloadTooLarge") }
    guard let json = ledger.json(call.body), case .object = json else { throw APNsRejection("BadRequestPayload") }
    return ChannelPush(
      app: app, channel: channel, priority: priority, expiration: expiration, payload: json, rawPayload: call.body,
      usedProviderToken: credential.isProviderToken)
  }
}

extension PhoneBook {
  /// Delivers a push to a channel to the phones that subscribed. Which of them it reaches, APNs does not tell.
  func deliver(_ push: ChannelPush, to channel: ChannelBook.Channel, apnsID: String, now: Date) -> Landing {
    var landing = Landing()
    // A broadcast cannot start a Live Activity (docs/protocols.md §1.4).
    guard push.payload["aps"]?["event"]?.string != "start" else { return landing }
    let isOnce = push.expiration.timeIntervalSince1970 == 0
    let latest = now.addingTimeInterval(ChannelBook.longestStorage)
    for id in channel.subscribers.sorted() {
      guard let phone = phone(id) else { continue }
      // A phone that has gone, or has removed the app, gets nothing.
      let result = deliver(
        AcceptedPush(
          token: phone.token, apnsID: apnsID, topic: push.app + PushType.liveactivity.topicSuffix,
          pushType: .liveactivity, priority: push.priority,
          expiration: isOnce ? push.expiration : min(push.expiration, latest), collapseID: nil, payload: push.payload,
          rawPayload: push.rawPayload, uniqueID: push.payload[APNsPayload.idKey]?.string,
          usedProviderToken: push.usedProviderToken, channel: push.channel), environment: channel.environment, now: now)
      if case .success(let one) = result { landing = landing + one }
    }
    return landing
  }
}

extension APNsService {
  /// Carries out a validated request about channels.
  ///
  /// - Returns: the answer, and what became of a push.
  func carryOut(_ call: ChannelCall) throws(APNsRejection) -> (response: ServerResponse, landing: Landing?) {
    switch call {
    case .create(let app, let policy):
      let id = try channels.create(policy, app: app, environment)
      return (ServerResponse(status: 201, fields: [HeaderField(APNsHeader.channelID, id, indexing: .never)]), nil)
    case .read(let app, let id):
      let policy = try channels.find(id, app: app, environment).policy
      let json: JSONValue = ["message-storage-policy": .integer(Int64(policy.rawValue)), "push-type": "LiveActivity"]
      return (Self.answer(json), nil)
    case .delete(let app, let id):
      try channels.delete(id, app: app, environment)
      return (ServerResponse(status: 204), nil)
    case .list(let app):
      let json: JSONValue = ["channels": .array(channels.list(app: app, environment).map(JSONValue.string))]
      return (Self.answer(json), nil)
    case .send(let push):
      let channel = try channels.find(push.channel, app: push.app, environment)
      // "With No Message Stored, the only allowed expiration is 0" (docs/protocols.md §1.8).
      if channel.policy == .storesNothing, push.expiration.timeIntervalSince1970 != 0 {
        throw APNsRejection("BadExpirationDate")
      }
      channels.accept(push.channel, app: push.app, environment)
      let landing = phones.deliver(push, to: channel, apnsID: UUID().uuidString, now: now())
      return (ServerResponse(status: 200), landing)
    }
  }

  private static func answer(_ json: JSONValue) -> ServerResponse {
    ServerResponse(status: 200, fields: [HeaderField("content-type", "application/json")], body: json.bytes)
  }
}
