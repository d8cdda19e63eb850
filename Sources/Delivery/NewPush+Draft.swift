package import Foundation
import JSON
import OpenSSL
package import Model
package import Store

extension NewPush {
  /// A draft as a push of an app, with a new id that is hard to guess and the words that it is found by.
  package init(
    _ draft: PushDraft, app: App, source: String, by creator: String, uid: String? = nil
  ) {
    self.init(
      uid: uid ?? Self.freshUID(), seed: Self.freshSeed(), appID: app.id, environment: draft.environment,
      draftJSON: draft.json.text(), source: source, createdBy: creator)
    let alert = draft.apns.payload?["aps"]?["alert"]
    title = draft.notification.title ?? alert?["title"]?.string
    body = draft.notification.body ?? alert?["body"]?.string ?? alert?.string
    sendAt = draft.sendAt
    searchTerms = Self.searchTerms(draft)
  }

  /// The same, held back for as long as the draft says, so that it can be taken back whole.
  ///
  /// - Parameter seconds: at least so long; 0: only what the draft says.
  package func held(_ draft: PushDraft, atLeast seconds: Int = 0, now: Date) -> NewPush {
    var push = self
    let seconds = max(seconds, draft.options.undoSeconds)
    if seconds > 0 { push.holdUntil = now.addingTimeInterval(TimeInterval(seconds)) }
    return push
  }

  static func searchTerms(_ draft: PushDraft) -> [String] {
    guard case .rule(let rule) = draft.audience else { return [] }
    return rule.tag + rule.tagAnd + rule.tagNot + rule.alias + rule.registrationID
  }

  static func freshUID() -> String { Random.token(bytes: 12) }

  static func freshSeed() -> UInt64 { Random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// How long a public id is: as the linter counts it into the payload.
  package static let sampleID = String(repeating: "0", count: 16)
}

extension Lint.Context {
  /// What the linter is told about an app's pushes.
  ///
  /// - Parameter credential: what the app's key or certificate for the draft's environment may send.
  package init(_ app: App, credential: CredentialScope?, now: Date) {
    self.init(
      aliasRule: app.aliasRule.flatMap(AliasRule.init) ?? .none, now: now, uid: NewPush.sampleID,
      credential: credential)
  }
}
