import Foundation
import JSON
import Mustache
import Model
import Store

/// Words for outcomes that several pages share.
extension OutcomeCounts {
  /// As “612 accepted, 3 failed”; outcomes that no device has are left out.
  func text(_ texts: Texts) -> String {
    let kinds = OutcomeKind.allCases.filter { self[$0] > 0 }
    return (kinds.isEmpty ? [.accepted] : kinds).map { "\(self[$0].grouped) \(texts("words.\($0.name)").lowercased())" }
      .joined(separator: ", ")
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

extension Push {
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
