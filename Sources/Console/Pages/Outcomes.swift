import Foundation
import Mustache
import Push
import Store

/// Pictures and words for outcomes that several pages share.
extension OutcomeCounts {
  /// The parts of an outcome bar, in percent of `target`.
  func bar(target: Int) -> Value {
    let whole = Double(max(target, total, 1))
    var x = 0.0
    return .list(
      OutcomeKind.allCases.compactMap { kind in
        let width = Double(self[kind]) * 100 / whole
        guard width > 0 else { return nil }
        defer { x += width }
        return ["kind": .string(kind.name), "x": .double(x.hundredths), "width": .double(width.hundredths)]
      })
  }

  /// As “612 accepted, 3 failed, …”.
  func text(_ texts: Texts) -> String {
    OutcomeKind.allCases.map { "\(self[$0].grouped) \(texts("words.\($0.name)"))" }.joined(separator: ", ")
  }
}

extension Double {
  /// Rounded for SVG attributes.
  var hundredths: Double { (self * 100).rounded() / 100 }
}

extension Environment {
  func word(_ texts: Texts) -> String { texts("words.\(rawValue)") }
}

extension Audience {
  /// As “all devices”, “tag vip and not beta”, “3 device tokens”.
  func text(_ texts: Texts) -> String {
    guard case .rule(let rule) = self else { return texts("audience.all") }
    func list(_ key: String, _ names: [String]) -> String? {
      names.isEmpty
        ? nil
        : names.count <= 3
          ? texts("audience.\(key)", ["names": names.joined(separator: ", ")])
          : texts("audience.\(key)_count", count: names.count)
    }
    let parts = [
      list("tag", rule.tag), list("tag_and", rule.tagAnd), list("tag_not", rule.tagNot), list("alias", rule.alias),
      list("registration_id", rule.registrationID), list("device_token", rule.deviceToken.map(\.abbreviated)),
    ]
    return parts.compactMap { $0 }.joined(separator: texts("audience.and"))
  }
}

/// One line of a list of pushes.
struct PushRow {
  let push: PushRecord
  let app: App?
  /// The time, if rows say what is still to come.
  var now: Date?
  /// Whether it can be cancelled here.
  var mayCancel = false

  /// When it is sent, and the way to stop it; of what is not for later, nothing.
  private func later(_ texts: Texts) -> Value {
    guard let now, push.state == .queued, let date = push.waits(now: now) else { return [] }
    let time = Value.instant(date)
    return [
      [
        "datetime": time.datetime, "text": time.text, "ahead": .string(texts.ahead(date, now: now)),
        "cancel": mayCancel ? [["href": .string("/pushes/\(push.uid)/cancel")]] : [],
      ]
    ]
  }

  func value(_ texts: Texts) -> Value {
    let target = push.target ?? 0
    // Of fifty drafts on a page only the audience is read, and the payload if there are no words.
    let draft = try? JSONValue(parsing: Data(push.draftJSON.utf8))  // nil: of another version; the row shows the rest
    let content = [push.title, push.body].compactMap { $0 }.first { !$0.isEmpty }
    let accepted = push.counts.accepted
    let failed = push.counts.failed + push.counts.deadToken
    let created = Value.instant(push.createdAt)
    return [
      "href": .string("/pushes/\(push.uid)"),
      "content": .string(content ?? draft?["apns"]?["payload"]?.text() ?? texts("pushes.no_text")),
      "source": .string(texts("source.\(push.source)")), "who": .string(push.createdBy),
      "app": .string(app?.name ?? ""), "environment": .string(push.environment.word(texts)),
      "production": .bool(push.environment == .production),
      "audience": .string(draft.flatMap(Audience.init(draft:))?.text(texts) ?? ""),
      "state": .string(push.state.rawValue), "later": later(texts),
      "state_text": .string(texts(push.stateKey(now: now))),
      "target": .string(push.target.map(\.grouped) ?? "–"), "accepted": .string(accepted.grouped),
      "failed": .string(failed.grouped), "any_failed": .bool(failed > 0),
      "outcome_bar": push.counts.bar(target: target), "outcome_text": .string(push.counts.text(texts)),
      "created": created.datetime, "created_text": created.text,
    ]
  }
}

extension PushRecord {
  /// The key of the word for its state: a push that waits for its time is scheduled.
  func stateKey(now: Date?) -> String {
    guard state == .queued, let now, waits(now: now) != nil else { return "words.\(state.rawValue)" }
    return "when.scheduled"
  }

  /// What was asked for; nil if a former version wrote what this one cannot read.
  var draft: PushDraft? {
    guard let json = try? JSONValue(parsing: Data(draftJSON.utf8)) else { return nil }  // the page says so
    return try? PushDraft(json: json)  // as above
  }

  /// What stands over its page.
  func heading(_ texts: Texts) -> String {
    [title, body].compactMap { $0 }.first { !$0.isEmpty } ?? texts("pushes.no_text")
  }
}
