import Foundation
import HTTP2
import JSON
import Model

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
    link = ServiceLink(FCMRules(), endpoint: try endpoint.endpoint(tools), authorization: token, tools: tools)
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
      let message = FCMVariant(variant, push).json(devices.first?.platform ?? .android).object ?? [:]
      let body: JSONValue = ["validate_only": true, "message": .object(message.merging(target) { $1 })]
      link.ask(path: path, json: body.bytes)
    }
    return variants.count
  }

  fileprivate func send(
    _ message: JSONValue, counting badge: Badge?, _ counted: (Int) -> JSONValue, push: Int64,
    to devices: [ProviderDevice], kept: Int, noting notes: (any DepartureNotes)?
  ) {
    guard let badge else { return send(message, push: push, to: devices, kept: kept, noting: notes) }
    // The gap reaches from the token to the badge: the members of a message are sorted, and `android` or `apns` is the
    // first.
    let body = CountedBody { Self.body(counted($0)).bytes }
    let (token, count) = (Self.body(message).gap, body.gap ?? 0)
    let between = body.bytes[token..<count]
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: Array(body.bytes[..<token] + body.bytes[count...]), gap: token,
      capacity: devices.count, notes: notes, keptAnswers: kept)
    for device in devices {
      let number = badge.number(after: device.badge)
      batch.append(id: device.id, path: path, body: Self.quotable(device.token) + between + Array(String(number).utf8))
    }
    link.submit(batch.build())
  }

  private func send(
    _ message: JSONValue, push: Int64, to devices: [ProviderDevice], kept: Int, noting notes: (any DepartureNotes)?
  ) {
    let (body, gap) = Self.body(message)
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: body, gap: gap, capacity: devices.count, notes: notes,
      keptAnswers: kept)
    for device in devices { batch.append(id: device.id, path: path, body: Self.quotable(device.token)) }
    link.submit(batch.build())
  }

  /// One message to a topic or a condition, for the one member that stands for the subscribers.
  fileprivate func send(
    _ message: JSONValue, target: [String: JSONValue], push: Int64, to members: [ProviderDevice], kept: Int,
    noting notes: (any DepartureNotes)?
  ) {
    let body = JSONValue.object(["message": .object((message.object ?? [:]).merging(target) { $1 })])
    var batch = RequestBatchBuilder(
      template: .json, tag: push, body: body.bytes, capacity: members.count, notes: notes,
      keptAnswers: kept)
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

/// One text of a push as FCM takes it. iPhones get what APNs would get.
private struct FCMVariant: Sendable {
  private let draft: PushDraft
  private let push: ProviderPush
  private let message: FCMMessage
  private let payload: APNsPayload

  init(_ draft: PushDraft, _ push: ProviderPush) {
    (self.draft, self.push) = (draft, push)
    message = FCMMessage(draft, uid: push.uid, signature: push.signature)
    payload = APNsPayload(draft, uid: push.uid, signature: push.signature)
  }

  func json(_ platform: Platform) -> JSONValue {
    platform == .ios ? ["apns": payload.fcmBlock(sentAt: push.sentAt)] : message.json
  }

  /// The badge that each device of a platform has its own number of; nil: all get the same message.
  func badge(_ platform: Platform) -> Badge? {
    if platform == .ios { return payload.badge?.isRelative == true ? payload.badge : nil }
    return message.isCounted ? draft.notification.badge : nil
  }

  /// The message with a number in place of a counted badge.
  ///
  /// - Parameters:
  ///   - first: when the devices were handed over first; the time to live counts from then.
  ///   - left: seconds of the time to live for Android; nil: the draft's.
  func json(_ platform: Platform, since first: Date, left: Int?, count: Int? = nil) -> JSONValue {
    if platform == .ios {
      let whole = payload.fcmBlock(sentAt: first)
      guard let count, var block = whole.object else { return ["apns": whole] }
      block["payload"] = APNsPayload.counted(payload.json, count)
      return ["apns": .object(block)]
    }
    let message =
      left.map { FCMMessage(draft, uid: push.uid, signature: push.signature, timeToLive: $0) } ?? message
    return count.map { message.json(count: $0) } ?? message.json
  }
}

/// A push for FCM. Android's time to live is counted from the moment of each batch, because FCM takes seconds; APNs
/// takes a moment.
private struct FCMPush: PreparedPush {
  let provider: FCMProvider
  let push: ProviderPush
  private let answers = AnswerBudget()
  private let messages: Variants<FCMVariant>

  init(provider: FCMProvider, push: ProviderPush) {
    (self.provider, self.push) = (provider, push)
    messages = Variants(push.draft.variants.map { FCMVariant($0, push) })
  }

  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    push.send(to: devices, noting: notes) { first, devices, notes in
      let left = push.timeLeft(at: provider.now(), since: first)
      messages.send(to: devices, noting: notes) { variant, devices, notes in
        Variants<FCMVariant>.byPlatform(devices, noting: notes) { platform, devices, notes in
          send(variant, platform, since: first, left: left, to: devices, noting: notes)
        }
      }
    }
  }

  private func send(
    _ variant: FCMVariant, _ platform: Platform, since first: Date, left: Int?, to devices: [ProviderDevice],
    noting notes: (any DepartureNotes)?
  ) {
    let (kept, message) = (answers.take(atMost: devices.count), variant.json(platform, since: first, left: left))
    if let target = push.draft.audience.topicTarget {
      return provider.send(message, target: target, push: push.id, to: devices, kept: kept, noting: notes)
    }
    provider.send(
      message, counting: variant.badge(platform), { variant.json(platform, since: first, left: left, count: $0) },
      push: push.id,
      to: devices, kept: kept, noting: notes)
  }
}
