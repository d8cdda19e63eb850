import Calendar
import Certificates
import Delivery
import Foundation
import JSON
import Model
import SQLite
import Store

/// The effect of a draft: a sentence, a lock screen, and the exact request.
struct PushPreview: Sendable {
  let check: PushCheck
  /// Whether the app is not chosen yet.
  private let isOpen: Bool
  /// The app's credentials in the draft's environment.
  let credentials: [Credential]
  let preview: Preview
  let dialects: [DialectText]
  let payload: APNsPayload
  /// The draft with the text in ``language``.
  private let shown: PushDraft
  /// The language that is shown; nil: the default text.
  let language: LanguageTag?
  /// How many devices get each text, by its position; of the first ``sample`` of the audience. Nil: it was not counted.
  let variants: [Int: Int]?
  /// The request to the first of ``providers``.
  private let request: Request

  /// A request to a push service.
  private struct Request: Sendable {
    var headers = "content-type: application/json"
    let payload: String
    let size: Int
    let limit: Int
  }

  var draft: PushDraft { check.draft }
  var app: App { check.app }

  /// Devices whose languages are counted.
  static let sample = 1000

  /// What stands in requests for the bundle ID of an app that is not chosen yet.
  private static let anyApp = "$BUNDLE_ID"

  /// - Parameters:
  ///   - isOpen: whether the app is not chosen yet, so that the check's own stands in for it.
  ///   - language: of the text to show; another one than the draft's: the default text.
  init(
    _ check: PushCheck, isOpen: Bool = false, credentials: [Credential], language: String? = nil,
    variants: [Int: Int]? = nil, address: String, now: Date
  ) {
    (self.check, self.isOpen, self.credentials, self.variants) = (check, isOpen, credentials, variants)
    var whole = check.draft
    if isOpen { whole.app = Self.anyApp }
    let texts = whole.notification.localizations
    let shown = texts.firstIndex { $0.language.text == language }
    self.language = shown.map { texts[$0].language }
    let draft = whole.localized(shown.map { $0 + 1 } ?? 0)
    self.shown = draft
    payload = APNsPayload(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature)
    preview = Preview(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature, sentAt: now, address: address)
    dialects = Dialect.written.map { DialectText(whole, in: $0, sentAt: now, address: address) }
    switch Self.providers(check)[0] {
    case .apns:
      request = Request(
        headers: preview.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), payload: preview.json,
        size: preview.size, limit: preview.limit)
    case .fcm where Self.isAppleOnly(check):
      let body: JSONValue = ["message": ["token": "$DEVICE_TOKEN", "apns": payload.fcmBlock(sentAt: now)]]
      request = Request(payload: body.text(pretty: true), size: preview.size, limit: preview.limit)
    case .fcm:
      let message = FCMMessage(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature)
      let target = draft.audience.topicTarget ?? ["token": "$DEVICE_TOKEN"]
      let body: JSONValue = ["message": .object((message.json.object ?? [:]).merging(target) { $1 })]
      request = Request(payload: body.text(pretty: true), size: message.size, limit: message.limit)
    case .jpush:
      let message = JPushMessage(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature)
      let body = message.request(to: draft.platforms, audience: ["registration_id": ["$REGISTRATION_ID"]], cid: nil)
      let (size, limit) = message.size
      request = Request(payload: body.text(pretty: true), size: size, limit: limit)
    }
  }

  /// The services that reach the audience; those of its platforms if it has no device yet, or was not counted.
  private static func providers(_ check: PushCheck) -> [ProviderKind] {
    let found = ProviderKind.allCases.filter { check.count?.reachable($0) ?? 0 > 0 }
    return found.isEmpty ? Platform.allCases.filter(check.draft.platforms.contains).map(\.ownProvider) : found
  }

  /// Whether FCM reaches iPhones of the audience, and no Android device.
  private static func isAppleOnly(_ check: PushCheck) -> Bool {
    guard check.draft.platforms.contains(.ios), check.draft.audience.topicTarget == nil else { return false }
    guard check.draft.platforms.contains(.android) else { return true }
    guard let count = check.count else { return false }
    return count.reachable(Reach(.android, .fcm)) == 0 && count.reachable(Reach(.ios, .fcm)) > 0
  }

  var providers: [ProviderKind] { Self.providers(check) }

  /// The platforms of the audience's devices; none if they are not known.
  private var reached: Set<Platform> {
    guard check.unknown == 0, let count = check.count else { return [] }
    return Set(draft.platforms.filter { count.reachable($0) > 0 })
  }

  /// Checks a draft. If counting the audience takes longer than 2 seconds, the count is shown as “many”.
  ///
  /// - Parameter isOpen: whether the app is not chosen yet, so that the draft's stands in for it.
  /// - Throws: `Problems` at `app` if there is no such app.
  static func find(_ draft: PushDraft, isOpen: Bool = false, _ page: PageContext) async throws -> PushPreview {
    let check: PushCheck
    do {
      check = try await page.console.intake.check(draft, now: page.now, within: .seconds(2))
    } catch let error as PushIntake.NoApp {
      throw Problems([error.problem])
    }
    var credentials: [Credential] = []
    if !isOpen {
      credentials = try await page.store.read { database in
        try Credential.all(database, app: check.app.id).filter { $0.environment == draft.environment }
      }
    }
    return PushPreview(
      check, isOpen: isOpen, credentials: credentials, language: page.form.filled("preview_language"),
      variants: try await variants(draft, check.app, page), address: page.address, now: page.now)
  }

  /// Nil: there is one text only, nobody knows the devices, or reading them takes too long.
  private static func variants(_ draft: PushDraft, _ app: App, _ page: PageContext) async throws -> [Int: Int]? {
    guard let languages = draft.languages, draft.audience.subscribers == nil else { return nil }
    let query = AudienceQuery(app: app.id, draft, now: page.now)
    do {
      return try await page.store.read(limit: .seconds(2)) {
        try DeviceLanguage.counts($0, query, languages, limit: sample)
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      return nil
    }
  }

  /// The texts to choose from; none if there is one only.
  private func languages(_ texts: Texts) -> [ChoiceView] {
    let others = draft.notification.localizations.map(\.language.text)
    guard !others.isEmpty else { return [] }
    return ([""] + others).enumerated().map { variant, tag in
      let name = tag.isEmpty ? texts("send.default_text") : tag
      let count = variants.map { $0[variant, default: 0] }
      return ChoiceView(
        value: tag, label: count.map { texts("send.language_count", ["language": name, "count": $0.grouped]) } ?? name,
        isSelected: tag == language?.text ?? "")
    }
  }

  private func languagesText(_ texts: Texts) -> String {
    guard let count = variants?.values.reduce(0, +) else { return "" }
    return count < Self.sample
      ? texts("send.languages_counted") : texts("send.languages_sampled", ["count": Self.sample.grouped])
  }

  /// Nil: it goes to devices.
  var subscribers: Audience.Subscribers? { draft.audience.subscribers }

  /// Services that a push can be sent through now; by the time of a later one, others may have a credential.
  private var services: Set<ProviderKind> {
    isOpen || draft.sendAt != nil || draft.recurrence != nil
      ? Set(ProviderKind.allCases) : Set(credentials.map(\.provider))
  }

  /// Devices that the push reaches: without a credential for their service they get nothing. Nil: they were not counted.
  var reachable: Int? {
    let services = services
    return check.count.map { count in
      services.reduce(services.isEmpty ? 0 : check.unknown) { $0 + count.reachable($1) }
    }
  }

  private var unreachable: Int? { check.count.flatMap { count in reachable.map { count.total + check.unknown - $0 } } }

  private func reachable(_ platform: Platform) -> Int {
    services.reduce(0) { $0 + (check.count?.reachable(Reach(platform, $1)) ?? 0) }
  }

  func devicesText(_ texts: Texts) -> String {
    if let subscribers { return texts("send.\(subscribers.rawValue)_subscribers") }
    guard let reachable else { return texts("send.many") }
    let devices = texts("send.devices", count: reachable)
    return kindsText(texts).map { texts.noted(devices, $0) } ?? devices
  }

  /// As “1,150 iOS, 54 Android, 31 unreachable”; nil if all are of one platform and can be reached.
  private func kindsText(_ texts: Texts) -> String? {
    guard let unreachable else { return nil }
    let platforms = Platform.allCases.filter { reachable($0) > 0 }
    var parts: [String] = []
    if platforms.count > 1 {
      parts = platforms.map { texts.counted(reachable($0), texts("platform.\($0.rawValue)")) }
    }
    if unreachable > 0 { parts.append(texts("send.out_of_reach", count: unreachable)) }
    return parts.isEmpty ? nil : texts.clauses(parts)
  }

  func sentence(_ page: PageContext) -> String {
    let texts = page.texts
    let sentence = texts(
      "send.sentence",
      [
        "devices": devicesText(texts), "app": app.name, "environment": draft.environment.word(texts),
        "audience": draft.audience.text(texts),
        "credential": credentialText(page), "bytes": request.size.grouped, "limit": request.limit.grouped,
      ]
    ).capitalizedFirst
    let details = [time(page), texts.speed(draft, devices: reachable)].compactMap { $0 }
    if details.isEmpty { return sentence }
    return [sentence, texts("send.sentence_how", ["details": texts.phrases(details)])].sentences
  }

  /// As “APNs (AuthKey_X, never expires), JPush (built-in simulator)”.
  private func credentialText(_ page: PageContext) -> String {
    let texts = page.texts
    return texts.list(
      providers.map { provider in
        let state = CredentialState(credentials.first { $0.provider == provider }, now: page.now)
        return texts.noted(provider.name, state.text(texts))
      })
  }

  /// The send time, for example “in 3 days, 2026-12-01 09:00 Europe/Berlin (08:00 UTC)”; nil means now.
  private func time(_ page: PageContext) -> String? {
    let texts = page.texts
    if let rule = draft.recurrence { return texts.rule(rule, from: draft.sendAt ?? page.now) }
    guard let sendAt = draft.sendAt else { return nil }
    let zone = (try? SendForm(form: page.form).zone()) ?? .utc  // cannot fail: the draft was read with it
    return texts("when.sentence", ["ahead": texts.ahead(sendAt, now: page.now), "time": texts.moment(sendAt, zone)])
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

  /// What the checks found, with a way on for each that has one.
  func findings(_ texts: Texts) -> [FindingView] {
    // Until an app is chosen, nothing is said of one.
    check.findings.filter { !isOpen || $0.problem.field != "app" }.map { finding in
      var view = FindingView(finding, texts)
      view.lead(to: app, draft, finding, texts)
      view.fixText = finding.fix.map { texts.repair(of: draft, to: $0) } ?? ""
      return view
    }
  }

  func view(_ page: PageContext) -> PushPreviewView {
    let texts = page.texts
    var found = findings(texts)
    if check.unknown > 0 {
      found.append(
        FindingView(
          severity: .hint, severityText: texts("severity.hint"),
          message: texts("send.unknown_tokens", count: check.unknown), field: "device_token"))
    }
    let platforms = reached.isEmpty ? draft.platforms : reached
    let message = platforms.contains(.android) ? FCMMessage(shown) : nil
    let callbacks = CallbackRows(
      payload.facts, type: payload.pushType, reachesIOS: platforms.contains(.ios),
      message: message.flatMap { $0.isEmpty ? nil : $0.json },
      isJPush: providers.contains(.jpush) && !providers.contains(.fcm))
    let isSimulated = credentials.contains { $0.provider == .apns && $0.place == .simulator }
    return PushPreviewView(
      sentence: sentence(page), times: times(page),
      lockScreen: LockScreenView(payload, shown, app: isOpen ? nil : app, texts).shown(on: reached),
      findings: found,
      limit: request.limit, bytes: request.size,
      bytesText: texts("send.bytes_of", ["bytes": request.size.grouped, "limit": request.limit.grouped]),
      headers: request.headers, payload: request.payload,
      reachable: subscribers != nil ? "–" : reachable?.grouped ?? texts("send.many"),
      unreachable: subscribers != nil ? "–" : unreachable?.grouped ?? "–",
      dialects: dialects.map { DialectView($0, texts, isSimulated: isSimulated) }, callbacks: callbacks.rows(texts),
      callbacksText: callbacks.summary(texts), languages: languages(texts), languagesText: languagesText(texts))
  }
}
