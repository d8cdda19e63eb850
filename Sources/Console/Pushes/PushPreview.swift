import Calendar
import Certificates
import Delivery
import Foundation
import JSON
import Model
import Store

/// The effect of a draft: a sentence, a lock screen, and the exact request.
struct PushPreview: Sendable {
  let check: PushCheck
  let credential: Credential?
  let preview: Preview
  let payload: APNsPayload

  var draft: PushDraft { check.draft }
  var app: App { check.app }

  /// - Parameter credential: the app's credential; nil if it has none.
  init(_ check: PushCheck, credential: Credential?, address: String, now: Date) {
    (self.check, self.credential) = (check, credential)
    payload = APNsPayload(check.draft, uid: NewPush.sampleID)
    preview = Preview(check.draft, uid: NewPush.sampleID, sentAt: now, address: address)
  }

  /// Checks a draft. If counting the audience takes longer than 2 seconds, the count is shown as “many”.
  ///
  /// - Throws: `Problems` at `app` if there is no such app.
  static func find(_ draft: PushDraft, _ page: PageContext) async throws -> PushPreview {
    let check: PushCheck
    do {
      check = try await page.console.intake.check(draft, now: page.now, within: .seconds(2))
    } catch let error as PushIntake.NoApp {
      throw Problems([error.problem])
    }
    let credential = try await page.store.read { database in
      let provider: ProviderKind = draft.platforms == [.android] ? .fcm : .apns
      return try Credential.find(
        database, app: check.app.id, provider: provider, environment: draft.environment)
    }
    return PushPreview(check, credential: credential, address: page.address, now: page.now)
  }

  func devicesText(_ texts: Texts) -> String {
    check.reachable.map { texts("send.devices", count: $0) } ?? texts("send.many")
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
    return texts.phrases(
      [sentence] + [time(page), texts.speed(draft, devices: check.reachable)].compactMap { $0 })
  }

  /// The send time, for example “in 3 days, 2026-12-01 09:00 Europe/Berlin (08:00 UTC)”; nil means now.
  private func time(_ page: PageContext) -> String? {
    let texts = page.texts
    if let rule = draft.recurrence { return texts.rule(rule) }
    guard let sendAt = draft.sendAt else { return nil }
    let zone = (try? SendForm(form: page.form).zone()) ?? .utc  // cannot fail: the draft was read with it
    return texts(
      "when.sentence", ["ahead": texts.ahead(sendAt, now: page.now), "time": texts.moment(sendAt, zone)])
  }

  /// The next runs of a repeating push, one per line.
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
    var shown = check.findings.map { FindingView($0, texts) }
    if check.unknown > 0 {
      shown.append(
        FindingView(
          severity: .hint, severityText: texts("severity.hint"),
          message: texts("send.unknown_tokens", count: check.unknown), field: "device_token"))
    }
    let callbacks = CallbackRows(payload.facts)
    return PushPreviewView(
      sentence: sentence(page), times: times(page), lockScreen: LockScreenView(payload, app: app), findings: shown,
      limit: preview.limit, bytes: preview.size,
      bytesText: texts("send.bytes_of", ["bytes": preview.size.grouped, "limit": preview.limit.grouped]),
      headers: preview.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), payload: preview.json,
      reachable: check.reachable?.grouped ?? texts("send.many"), unreachable: check.count?.unreachable.grouped ?? "–",
      curl: preview.apiCommand, apnsCurl: preview.apnsCommand, callbacks: callbacks.rows(texts),
      callbacksText: callbacks.summary(texts))
  }
}
