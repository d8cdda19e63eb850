import Foundation
import JSON
import Mustache
import Model
import SQLite
import Store

extension OutcomeCounts {
  /// For example “612 accepted, 3 failed”; leaves out outcomes without devices.
  func text(_ texts: Texts) -> String {
    let kinds = OutcomeKind.allCases.filter { self[$0] > 0 }
    return texts.list(
      (kinds.isEmpty ? [.accepted] : kinds).map { texts.counted(self[$0], texts("words.\($0.name)").lowercased()) })
  }
}

extension Environment {
  func word(_ texts: Texts) -> String { texts("words.\(rawValue)") }
}

extension Audience {
  /// More of a kind are counted, not listed.
  static let mostNamed = 3

  /// For example “all devices”, “tag vip and not beta”, “3 device tokens”.
  ///
  /// - Parameter names: of devices, shown instead of their tokens.
  func text(_ texts: Texts, names: [DeviceToken: String] = [:]) -> String {
    let rule: Rule
    switch self {
    case .all: return texts("audience.all")
    case .channel(let id): return texts("audience.channel", ["channel": id])
    case .topic(let name): return texts("audience.topic", ["topic": name])
    case .condition(let text): return texts("audience.condition", ["condition": text])
    case .rule(let given): rule = given
    }
    func list(_ key: String, _ names: [String]) -> String? {
      names.isEmpty
        ? nil
        : names.count <= Self.mostNamed
          ? texts("audience.\(key)", ["names": texts.list(names)])
          : texts("audience.\(key)_count", count: names.count)
    }
    let named = rule.deviceToken.compactMap { names[$0] }
    let devices =
      !named.isEmpty && named.count == rule.deviceToken.count
      ? texts.list(named) : list("device_token", rule.deviceToken.map { names[$0] ?? $0.abbreviated })
    let parts = [
      list("tag", rule.tag), list("tag_and", rule.tagAnd), list("tag_not", rule.tagNot), list("alias", rule.alias),
      list("registration_id", rule.registrationID), devices,
      list("segment", rule.segment),
    ]
    return parts.compactMap { $0 }.joined(separator: texts("audience.and"))
  }
}

extension Push {
  /// The key of the state's label; a queued push with a future send time is “scheduled”, or in its undo window, and one
  /// that nobody approved is not “canceled”.
  func stateKey(now: Date?) -> String {
    if let refusal { return refusal == .rejected ? "approval.rejected" : "words.approval_expired" }
    guard state == .queued, let now, waits(now: now) != nil else { return "words.\(state.rawValue)" }
    return isUndoable(now: now) ? "when.undoable" : "when.scheduled"
  }

  /// The draft; nil if it was written by a version whose format this one cannot read.
  var draft: PushDraft? {
    guard let json = try? JSONValue(parsing: Data(draftJSON.utf8)) else { return nil }  // nil: the page reports it
    return try? PushDraft(json: json)  // likewise
  }

  /// Whom a delivery was for: a device by its name or token, or the subscribers of a channel or topic, which have no
  /// device here.
  func recipient(_ device: Device?, _ texts: Texts) -> String {
    if let device { return device.name ?? device.token.abbreviated }
    guard let audience = draft?.audience, audience.subscribers != nil else { return texts("push.removed_device") }
    return audience.text(texts).capitalizedFirst
  }

  /// The first text of the notification, for the page's heading.
  func heading(_ texts: Texts) -> String { texts.heading(title, body) }

  /// Platforms and services of its devices; nil: not counted yet.
  func reached(_ database: Database) throws -> [Reach]? {
    target == nil ? nil : Array(try Push.targets(database, id: id).filter { $0.value > 0 }.keys)
  }

  /// The msg_id that the JPush-compatible API answered, or lists for a schedule's run; nil: it knows no such push.
  var messageID: String? {
    let isRun = source == .schedule && ActivityActor(createdBy).source == .jpush
    return source == .jpush || isRun ? String(id) : nil
  }

  /// The pushes with this `msg_id`: our own, or JPush's of a message that was sent through JPush.
  static func ids(_ database: Database, messageID: String) throws -> [Int64] {
    var ids = Set(try SentJPushMessage.pushes(database, messageID: messageID))
    if let id = Int64(messageID), try find(database, id: id)?.messageID == messageID { ids.insert(id) }
    return ids.sorted()
  }
}

extension Texts {
  /// The first text of a notification, or that it has none.
  func heading(_ title: String?, _ body: String?) -> String {
    [title, body].compactMap { $0 }.first { !$0.isEmpty } ?? self("pushes.no_text")
  }
}
