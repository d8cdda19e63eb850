import Certificates
import Foundation
import JSON
import OpenSSL
package import Model
package import SQLite
package import Store

extension NewPush {
  /// Creates a push from a draft, with a new unguessable ID and search terms.
  package init(_ draft: PushDraft, app: App, source: PushSource, by creator: String) {
    self.init(draft.json.text(), app: app.id, draft.environment, source: source, by: creator)
    (title, body) = Self.words(draft)
    sendAt = draft.sendAt
    pushType = draft.pushType
    searchTerms = Self.searchTerms(draft)
  }

  /// One run of a schedule, created by the schedule's creator.
  init(_ draft: PushDraft, of schedule: Schedule) {
    self.init(draft.json.text(), app: schedule.appID, schedule.environment, source: .schedule, by: schedule.createdBy)
    (title, body) = (schedule.title, schedule.body)
    pushType = draft.pushType
    searchTerms = Self.searchTerms(draft)
  }

  /// A retry of `parent` for the devices it did not reach, sent now with a new ID and seed.
  init(repeating parent: Push, source: PushSource, by creator: String) {
    self.init(parent.draftJSON, app: parent.appID, parent.environment, source: source, by: creator)
    (title, body, parentID) = (parent.title, parent.body, parent.id)
    pushType = parent.pushType
  }

  private init(_ draftJSON: String, app: Int64, _ environment: Environment, source: PushSource, by creator: String) {
    self.init(
      uid: Self.freshUID(), seed: Random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }, appID: app,
      environment: environment, draftJSON: draftJSON, source: source, createdBy: creator)
    signature = Random.token(bytes: 18)
  }

  fileprivate static func words(_ draft: PushDraft) -> (title: String?, body: String?) {
    let alert = draft.apns.payload?["aps"]?["alert"]
    let title = draft.notification.title ?? alert?["title"]?.string
    let body = draft.notification.body ?? alert?["body"]?.string ?? alert?.string
    // A custom message shows nothing, but people know it by its text.
    guard title == nil, body == nil, let message = JPushContent.message(in: draft.notification.extras) else {
      return (title, body)
    }
    return (message["title"]?.string, message["msg_content"]?.string)
  }

  fileprivate static func searchTerms(_ draft: PushDraft) -> [String] {
    names(draft) + draft.notification.localizations.flatMap { [$0.title, $0.body].compactMap(\.self) }
  }

  private static func names(_ draft: PushDraft) -> [String] {
    switch draft.audience {
    case .channel(let id): return [id]
    case .topic(let name): return [name]
    case .condition(let text): return TopicCondition(text)?.topics ?? []
    case .all, .rule: break
    }
    guard case .rule(let rule) = draft.audience else { return [] }
    return rule.tag + rule.tagAnd + rule.tagNot + rule.alias + rule.registrationID + rule.segment
  }

  /// Without a hyphen at the beginning, which a command line would take for an option.
  fileprivate static func freshUID() -> String {
    var uid = Random.token(bytes: 12)
    while uid.hasPrefix("-") { uid = Random.token(bytes: 12) }
    return uid
  }

  /// As long as a public ID, which counts towards the payload's size.
  package static let sampleID = String(repeating: "0", count: 16)
  /// As long as a signature of 144 bits, which counts too.
  package static let sampleSignature = String(repeating: "0", count: 24)
}

extension NewSchedule {
  /// Creates a schedule from a repeating draft, with a new unguessable ID and search terms.
  package init(_ draft: PushDraft, app: App, source: PushSource, by creator: String) {
    self.init(uid: NewPush.freshUID(), appID: app.id, draft: draft, source: source, createdBy: creator)
    (title, body) = NewPush.words(draft)
    searchTerms = NewPush.searchTerms(draft)
  }
}

extension Lint.Context {
  /// The linter's context for a push of an app.
  init(_ database: Database, _ app: App, _ draft: PushDraft, now: Date) throws {
    let environment = draft.environment
    let isForAndroid = draft.options.anyAndroid && draft.platforms.contains(.android)
    let credentials = try Credential.all(database, app: app.id).filter {
      $0.environment == environment || isForAndroid && !$0.provider.tellsEnvironments
    }
    let jpush = try DeviceCount.all(database, app: app.id).filter {
      $0.provider == .jpush && $0.state == .active
        && ($0.environment == environment || isForAndroid && $0.platform == .android)
    }
    self.init(
      aliasRule: app.rule, now: now, uid: NewPush.sampleID, signature: NewPush.sampleSignature,
      credential: try CredentialScope.find(database, app: app.id, environment: environment),
      services: Set(credentials.map(\.provider)),
      jpush: draft.platforms.intersection(jpush.map(\.platform)))
    packageName = app.packageName
    for credential in credentials where credential.health == .refused {
      refusals[credential.provider] = credential.lastRefusal ?? ""
    }
    try findMissing(database, in: draft, app: app.id)
  }

  /// Looks for the names in the draft's audience that the app does not have: segments, tags and aliases of no device, and
  /// the broadcast channel.
  package mutating func findMissing(_ database: Database, in draft: PushDraft, app: Int64) throws {
    if case .channel(let id) = draft.audience {
      channel = try Self.channel(database, id, draft.environment, app: app)
    }
    guard case .rule(let rule) = draft.audience else { return }
    missingTags = try Tag.missing(database, Set(rule.tag + rule.tagAnd + rule.tagNot), app: app)
    missingAliases = try AliasCount.missing(database, rule.alias, app: app)
    missingSegments = try Segment.missing(database, rule.segment, app: app)
  }

  private static func channel(
    _ database: Database, _ id: String, _ environment: Environment, app: Int64
  ) throws -> KnownChannel {
    if let known = try Channel.find(database, app: app, environment: environment, channel: id) {
      return known.missingSince == nil ? .exists(known.policy) : .gone
    }
    for other in Environment.allCases where other != environment {
      if try Channel.find(database, app: app, environment: other, channel: id) != nil { return .elsewhere }
    }
    return .unknown
  }
}
