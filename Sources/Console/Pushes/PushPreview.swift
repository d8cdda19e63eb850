import Calendar
import Certificates
import Delivery
import Foundation
import JSON
import Model
import SQLite
import Store

/// What a draft would do, in a sentence, a picture, and the exact request.
struct PushPreview: Sendable {
  let draft: PushDraft
  let app: App
  let credential: Credential?
  let count: AudienceCount?
  /// Tokens that no device has yet: they are registered with the push.
  let unknown: Int
  let findings: [Lint.Finding]
  let preview: Preview
  let payload: APNsPayload

  /// Looks up what the sentence says.
  ///
  /// - Parameters:
  ///   - scope: what the credential may send, if that is known.
  ///   - count: nil if it could not be counted in time.
  init(
    _ draft: PushDraft, app: App, credential: Credential?, scope: CredentialScope?, count: AudienceCount?,
    unknown: Int = 0, address: String,
    now: Date
  ) {
    self.draft = draft
    self.app = app
    self.credential = credential
    self.count = count
    self.unknown = unknown
    findings = Lint.findings(in: draft, Lint.Context(app, credential: scope, now: now))
    payload = APNsPayload(draft, uid: NewPush.sampleID)
    preview = Preview(draft, uid: NewPush.sampleID, sentAt: now, address: address)
  }

  /// Reads what a preview needs.
  ///
  /// - Parameter counting: whether to count the audience, which takes up to two seconds.
  /// - Throws: `Problems` at `app` if there is no such app.
  static func find(_ draft: PushDraft, _ page: PageContext, counting: Bool = true) async throws -> PushPreview {
    let (app, credential, scope, unknown) = try await page.store.read { database in
      let app = try App.find(database, bundleID: draft.app)
      return (
        app,
        try app.flatMap { app in
          try Credential.find(database, app: app.id, provider: .apns, environment: draft.environment)
        },
        try app.flatMap { try CredentialScope.find(database, app: $0.id, environment: draft.environment) },
        try app.map { try Device.unknownTokens(database, app: $0.id, audience: draft.audience).count } ?? 0
      )
    }
    guard let app else { throw Problems([PushPreview.noApp(draft.app)]) }
    return PushPreview(
      draft, app: app, credential: credential, scope: scope,
      count: counting ? try await count(draft, app, page.store) : nil, unknown: unknown, address: page.address,
      now: page.now)
  }

  static func noApp(_ name: String) -> Problem {
    Problem("app", code: "push.no_app", "App “{app}” not found. Add it first.", ["app": name])
  }

  /// An audience that takes long to count is sent to nevertheless: the page then says “many”.
  private static func count(_ draft: PushDraft, _ app: App, _ store: Store) async throws -> AudienceCount? {
    let query = AudienceQuery(
      app: app.id, environment: draft.environment, platforms: draft.platforms, audience: draft.audience)
    do {
      return try await store.read(limit: .seconds(2)) { try query.count($0) }
    } catch let error as SQLiteError where error.code == .interrupt {
      return nil
    }
  }

  /// Whether it may not be sent as it is.
  var problems: [Problem] { findings.filter { $0.severity == .error }.map(\.problem) }

  /// How many devices it would be sent to; nil: not counted in time.
  var reachable: Int? { count.map { $0.reachable + unknown } }

  func devicesText(_ texts: Texts) -> String {
    reachable.map { texts("send.devices", count: $0) } ?? texts("send.many")
  }

  func sentence(_ page: PageContext) -> String {
    let texts = page.texts
    let sentence = texts(
      "send.sentence",
      [
        "devices": devicesText(texts), "app": app.name, "environment": draft.environment.word(texts),
        "audience": draft.audience.text(texts),
        "credential": CredentialState(credential, now: page.now).text(texts), "bytes": preview.size.grouped,
        "limit": preview.limit.grouped,
      ])
    return ([sentence] + [time(page), texts.speed(draft, devices: reachable)].compactMap { $0 }).joined(separator: "; ")
  }

  /// When it is sent, as “in 3 days, 2026-12-01 09:00 Europe/Berlin (08:00 UTC)”; nil: at once.
  private func time(_ page: PageContext) -> String? {
    let texts = page.texts
    if let rule = draft.recurrence { return texts.rule(rule) }
    guard let sendAt = draft.sendAt else { return nil }
    let zone = (try? SendForm(form: page.form).zone()) ?? .utc  // the draft was read with it
    return texts(
      "when.sentence", ["ahead": texts.ahead(sendAt, now: page.now), "time": texts.moment(sendAt, zone)])
  }

  /// The next times of what repeats, one on a line.
  private func times(_ page: PageContext) -> String {
    guard let rule = draft.recurrence else { return "" }
    let texts = page.texts
    let recurrence = Recurrence(rule, from: draft.sendAt ?? page.now)
    return recurrence.occurrences(from: page.now, limit: Schedule.shownTimes).map {
      texts("when.sentence", ["ahead": texts.ahead($0, now: page.now), "time": texts.moment($0, rule.zone)])
    }.joined(separator: "\n")
  }

  func view(_ page: PageContext) -> PushPreviewView {
    let texts = page.texts
    var shown = findings.map { FindingView($0, texts) }
    if unknown > 0 {
      shown.append(
        FindingView(
          severity: .hint, severityText: texts("severity.hint"),
          message: texts("send.unknown_tokens", count: unknown), field: "device_token"))
    }
    let callbacks = CallbackRows(payload.facts)
    return PushPreviewView(
      sentence: sentence(page), times: times(page), lockScreen: LockScreenView(payload, app: app), findings: shown,
      limit: preview.limit, bytes: preview.size,
      bytesText: texts("send.bytes_of", ["bytes": preview.size.grouped, "limit": preview.limit.grouped]),
      headers: preview.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), payload: preview.json,
      reachable: reachable?.grouped ?? texts("send.many"), unreachable: count?.unreachable.grouped ?? "–",
      curl: preview.apiCommand, apnsCurl: preview.apnsCommand, callbacks: callbacks.rows(texts),
      callbacksText: callbacks.summary(texts))
  }
}
