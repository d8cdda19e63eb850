import Foundation
import HTTP2
import JSON
import Model
import Synchronization

/// Sends pushes through FCM HTTP v1 with one service account: one request for each device, over as many connections as
/// needed (docs/protocols.md §3).
package final class FCMProvider: LinkedProvider {
  package let link: ServiceLink
  private let path: String
  private let clock: @Sendable () -> Date

  /// - Parameters:
  ///   - endpoint: of the messages; access tokens come from the account's token URI.
  ///   - trust: of `endpoint`, and of a token URI that is not Google's.
  ///   - tools: shared resources.
  /// - Throws: `TLSError` if the trust is unusable; ``ProviderProblem`` for an unusable token URI.
  package init(_ account: ServiceAccount, endpoint: FCMEndpoint, _ tools: ProviderTools) throws {
    path = "/v1/projects/\(Self.escaped(project: account.projectID))/messages:send"
    clock = tools.clock
    let token = try AccessToken(account, trust: endpoint.trust, tools)
    var tools = tools
    // Every success means the same, and has some 100 bytes. The names of the first messages are read (NameBudget).
    tools.connections.connection.keepsBodyOfSuccess = false
    link = ServiceLink(FCMRules(), endpoint: try endpoint.endpoint(), authorization: token, tools: tools)
  }

  package func prepare(_ push: ProviderPush) -> any PreparedPush { FCMPush(provider: self, push: push) }

  /// A message to a topic that is only validated: it reaches nobody, and shows whether the service account may send for
  /// the project.
  package func probe(topic: String) {
    link.ask(
      path: path, json: Array(#"{"validate_only":true,"message":{"topic":"signalbox","data":{"probe":"1"}}}"#.utf8))
  }

  package func validate(_ push: ProviderPush, _ devices: [ProviderDevice]) -> Int {
    let target =
      push.draft.audience.topicTarget
      ?? devices.first.map { ["token": .string(String(decoding: Self.quotable($0.token), as: UTF8.self))] }
    guard let target else { return 0 }
    let variants = push.draft.audience.topicTarget == nil ? push.draft.variants : [push.draft]
    for variant in variants {
      let message = FCMMessage(variant, uid: push.uid, signature: push.signature).json.object ?? [:]
      let body: JSONValue = ["validate_only": true, "message": .object(message.merging(target) { $1 })]
      link.ask(path: path, json: body.bytes)
    }
    return variants.count
  }

  fileprivate func send(
    _ message: FCMMessage, _ badge: Badge?, push: Int64, to devices: [ProviderDevice], named: Int,
    noting notes: (any DepartureNotes)?
  ) {
    guard message.isCounted, let badge else {
      return send(message, push: push, to: devices, named: named, noting: notes)
    }
    // The gap reaches from the token to the badge: the members of a message are sorted, and `android` is the first.
    let body = CountedBody { Self.body(message.json(count: $0)).bytes }
    let (token, count) = (Self.body(message.json).gap, body.gap ?? 0)
    let between = body.bytes[token..<count]
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: Array(body.bytes[..<token] + body.bytes[count...]), gap: token,
      capacity: devices.count, notes: notes, keptAnswers: named)
    for device in devices {
      let number = badge.number(after: device.badge)
      batch.append(id: device.id, path: path, body: Self.quotable(device.token) + between + Array(String(number).utf8))
    }
    link.submit(batch.build())
  }

  private func send(
    _ message: FCMMessage, push: Int64, to devices: [ProviderDevice], named: Int, noting notes: (any DepartureNotes)?
  ) {
    let (body, gap) = Self.body(message.json)
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: body, gap: gap, capacity: devices.count, notes: notes,
      keptAnswers: named)
    for device in devices { batch.append(id: device.id, path: path, body: Self.quotable(device.token)) }
    link.submit(batch.build())
  }

  /// One message to a topic or a condition, for the one member that stands for the subscribers.
  fileprivate func send(
    _ message: FCMMessage, target: [String: JSONValue], push: Int64, to members: [ProviderDevice], named: Int,
    noting notes: (any DepartureNotes)?
  ) {
    let body = JSONValue.object(["message": .object((message.json.object ?? [:]).merging(target) { $1 })])
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: body.bytes, capacity: members.count, notes: notes,
      keptAnswers: named)
    for member in members { batch.append(id: member.id, path: path) }
    link.submit(batch.build())
  }

  fileprivate func now() -> Date { clock() }

  /// The request's body without the token, and the token's place.
  static func body(_ message: JSONValue) -> (bytes: [UInt8], gap: Int) {
    let start = Array(#"{"message":{"token":""#.utf8)
    let members = message.bytes.dropFirst()
    let separator: [UInt8] = members.count == 1 ? [] : [UInt8(ascii: ",")]
    return (start + [UInt8(ascii: "\"")] + separator + members + [UInt8(ascii: "}")], start.count)
  }

  /// A token between the quotation marks of a JSON string. Firebase's tokens need no escapes.
  static func quotable(_ token: DeviceToken) -> [UInt8] {
    let isPlain = token.bytes.reduce(true) { $0 && $1 > 0x20 && $1 < 0x7f && $1 != 0x22 && $1 != 0x5c }
    return isPlain ? token.bytes : Array(token.hexadecimal.utf8)
  }

  /// A project ID as a segment of a path; `example.com:shop` needs no escapes either (RFC 3986 §3.3).
  static func escaped(project: String) -> String { escaped(project, CharacterSet.unreserved.union([":"])) }

  /// A text as a segment of a path or a value of a query.
  static func escaped(_ text: String) -> String { escaped(text, .unreserved) }

  fileprivate static func escaped(_ text: String, _ plain: CharacterSet) -> String {
    text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
  }
}

extension CharacterSet {
  fileprivate static let ascii = CharacterSet(charactersIn: "\u{0}"..."\u{7f}")
  fileprivate static let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics.intersection(.ascii))
}

/// How many more messages of a push are asked for their names: the first ones, each time that it is begun or continued.
private final class NameBudget: Sendable {
  private let left = Mutex(200)

  func take(atMost count: Int) -> Int {
    left.withLock { left in
      let taken = min(left, count)
      left -= taken
      return taken
    }
  }
}

/// A push for FCM. Its time to live is counted from the moment of each batch, because FCM takes seconds.
private struct FCMPush: PreparedPush {
  let provider: FCMProvider
  let push: ProviderPush
  private let names = NameBudget()
  private let messages: Variants<(draft: PushDraft, message: FCMMessage)>

  init(provider: FCMProvider, push: ProviderPush) {
    (self.provider, self.push) = (provider, push)
    messages = Variants(push.draft.variants.map { ($0, FCMMessage($0, uid: push.uid, signature: push.signature)) })
  }

  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    push.send(to: devices, noting: notes) { first, devices, notes in
      let left = push.timeLeft(at: provider.now(), since: first)
      messages.send(to: devices, noting: notes) { variant, devices, notes in
        let message = left.map { FCMMessage(variant.draft, uid: push.uid, signature: push.signature, timeToLive: $0) }
        send(message ?? variant.message, to: devices, noting: notes)
      }
    }
  }

  private func send(_ message: FCMMessage, to devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    let named = names.take(atMost: devices.count)
    if let target = push.draft.audience.topicTarget {
      return provider.send(message, target: target, push: push.id, to: devices, named: named, noting: notes)
    }
    provider.send(message, push.draft.notification.badge, push: push.id, to: devices, named: named, noting: notes)
  }
}
