package import Foundation
import HTTP2
package import JSON
import Model

/// A request that reached one of the simulated services, and its answer.
package struct CaughtRequest: Sendable, Identifiable {
  /// What became of it.
  package enum Outcome: String, Sendable, CaseIterable {
    /// A push that a phone received.
    case arrived
    /// A push that is stored for a phone that is off or asleep.
    case waiting
    /// A push that no phone gets: it has expired, or must not be stored.
    case lost
    /// A push that was accepted, although no phone has its token, or nobody has its topic.
    case noPhone = "no_phone"
    case refused
    /// A simulated error withheld the answer.
    case unanswered
    /// A call that is no push, or a push that was only checked.
    case answered
  }

  /// Counts up over all services.
  package internal(set) var id: Int64 = 0
  package let server: SimulatedServer
  package let at: Date
  package let method: String
  /// Path and query as sent.
  package let target: String
  private let sentFields: HeaderList
  /// The first ``bodyLimit`` bytes; empty if it signs in.
  package let body: [UInt8]
  package let bodyByteCount: Int
  /// Nil: there was no answer.
  package let status: Int?
  package let answerFields: [Field]
  /// Empty if it is an access token.
  package let answerBody: [UInt8]
  /// The service's code for a refusal, also of one target within an answer 200.
  package let reason: String?
  /// Whether a simulated error decided.
  package let isFault: Bool
  private let landing: Landing?

  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  /// Bytes of a body that are kept.
  static let bodyLimit = 256 << 10

  /// What was sent.
  struct Sent {
    let server: SimulatedServer
    let at: Date
    let method: String
    let target: String
    let fields: HeaderList
    var body: [UInt8]
    let bodyByteCount: Int
    /// Whether body and answer are left out, because they sign in.
    var isSecret = false
  }

  /// The answer; all nil or empty: there was none.
  struct Answer {
    var status: Int?
    var fields: [Field] = []
    var body: [UInt8] = []
    var reason: String?
    var isFault = false
    var landing: Landing?
  }

  init(_ sent: Sent, _ answer: Answer) {
    (server, at, method, target) = (sent.server, sent.at, sent.method, sent.target)
    (sentFields, bodyByteCount) = (sent.fields, sent.bodyByteCount)
    body = sent.isSecret ? [] : sent.body.count > Self.bodyLimit ? Array(sent.body.prefix(Self.bodyLimit)) : sent.body
    (status, answerFields, isFault, landing) = (answer.status, answer.fields, answer.isFault, answer.landing)
    answerBody = sent.isSecret ? [] : Array(answer.body.prefix(Self.bodyLimit))
    reason = answer.reason
  }

  /// Bytes that it takes in memory, about.
  var cost: Int { body.count + answerBody.count + sentFields.byteCount + 500 }

  package var outcome: Outcome {
    if let landing {
      return landing.arrived > 0 ? .arrived : landing.waiting > 0 ? .waiting : landing.lost > 0 ? .lost : .noPhone
    }
    guard let status else { return .unanswered }
    return status >= 400 || reason != nil ? .refused : .answered
  }

  /// The first phones that a push was for.
  package var phones: [Int64] { landing?.phones ?? [] }

  /// The header fields as sent, without what signs in.
  package var fields: [Field] {
    sentFields.filter { !$0.name.hasPrefix(":") }.map { field in
      Field(name: field.name, value: Self.secret.contains(field.name) ? Self.hidden(field.value) : field.value)
    }
  }

  private static let secret: Set<String> = ["authorization", "proxy-authorization", "cookie"]

  /// The scheme alone, as `bearer …`.
  private static func hidden(_ value: String) -> String {
    let separator = value.firstIndex { $0 == " " || $0 == "=" }
    return (separator.map { value[...$0] } ?? "") + "…"
  }

  // MARK: Content

  private var isForm: Bool {
    fields.contains { $0.name == "content-type" && $0.value.lowercased().hasPrefix(LegacyForm.mediaType) }
  }

  /// The body as JSON, that of GCM's plain-text form too; nil: it is none, or was too long to keep.
  package var json: JSONValue? {
    guard !body.isEmpty, body.count == bodyByteCount else { return nil }
    // First, whatever it is announced as: curl calls every body a form. What cannot be read is shown as text.
    if let json = try? JSONValue(parsing: body) { return json }
    guard server == .fcm, isForm else { return nil }
    let call = SimulatedCall(method: method, target: target, authorization: nil, body: body)
    return LegacyForm.json(call.formPairs)
  }

  /// Device tokens, registration tokens and registration IDs that it names.
  package var tokens: [String] {
    switch server {
    case .development, .production:
      let parts = target.split(separator: "/")
      return parts.count == 3 && parts[1] == "device" ? [String(parts[2])] : []
    case .fcm:
      let json = json
      let one = json?["message"]?["token"]?.string ?? json?["message"]?["fid"]?.string ?? json?["to"]?.string
      return [one].compactMap(\.self).filter { !$0.hasPrefix("/topics/") }
        + (json?["registration_ids"]?.array ?? []).compactMap(\.string)
    case .jpush:
      let json = json
      let batch = (json?["pushlist"]?.object ?? [:]).values.compactMap { $0["target"]?.string }
      return (json?["audience"]?["registration_id"]?.array ?? []).compactMap(\.string) + batch.sorted()
    }
  }

  /// Title and text of the notification; nil: it has none.
  package var alert: (title: String?, body: String?) {
    let json = json
    switch server {
    case .development, .production: return Self.alert(json?["aps"]?["alert"])
    case .fcm:
      guard let message = json?["message"] else { return Self.alert(json?["notification"]) }
      if let shown = AndroidNotification(message) { return (shown.title, shown.body) }
      return Self.alert(message["apns"]?["payload"]?["aps"]?["alert"])
    case .jpush:
      let notification = json?["notification"]
      let android = notification?["android"]
      let ios = Self.alert(notification?["ios"]?["alert"])
      return (
        android?["title"]?.string ?? ios.title,
        android?["alert"]?.string ?? ios.body ?? notification?["alert"]?.string
          ?? json?["message"]?["msg_content"]?.string
      )
    }
  }

  private static func alert(_ alert: JSONValue?) -> (title: String?, body: String?) {
    (alert?["title"]?.string, alert?["body"]?.string ?? alert?.string)
  }

  /// Every text in the JSON of the body, or the body itself.
  var texts: [String] { json.map(Self.texts) ?? [String(decoding: body, as: UTF8.self)] }

  private static func texts(_ json: JSONValue) -> [String] {
    switch json {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(texts)
    case .object(let members): members.values.flatMap(texts)
    case .null, .bool, .integer, .double: []
    }
  }

  /// The push's ID from the console (``APNsPayload/idKey``), wherever the service has it.
  package var push: String? {
    let key = APNsPayload.idKey
    let json = json
    let places = [
      json, json?["message"]?["data"], json?["data"], json?["notification"]?["ios"]?["extras"],
      json?["notification"]?["android"]?["extras"], json?["message"]?["extras"],
    ]
    return places.lazy.compactMap { $0?[key]?.string }.first
  }
}
