extension Lint {
  /// The texts in other languages: each is sent to somebody.
  static func localizations(_ draft: PushDraft, _ context: Context) -> [Finding] {
    let texts = draft.notification.localizations
    guard !texts.isEmpty else { return [] }
    if draft.audience.subscribers != nil {
      return [
        Finding(
          severity: .warning,
          problem: Problem("notification.\(Localization.key)", LocalizationMessage.subscribers))
      ]
    }
    return texts.enumerated().flatMap { index, text in
      let localized = draft.localized(index + 1)
      return sizes(localized, text.language, context) + words(draft, localized, text)
    }
  }

  private static func localization(
    _ severity: Severity, _ language: LanguageTag, _ message: LocalizationMessage, part: String = "",
    _ arguments: [String: String] = [:]
  ) -> Finding {
    let field = "notification.\(Localization.key).\(language)\(part.isEmpty ? "" : ".\(part)")"
    let arguments = arguments.merging(["language": language.text]) { $1 }
    return Finding(severity: severity, problem: Problem(field, message, arguments))
  }

  private static func sizes(_ draft: PushDraft, _ language: LanguageTag, _ context: Context) -> [Finding] {
    var sizes: [(provider: ProviderKind, bytes: Int, limit: Int)] = []
    if draft.platforms.contains(.ios) {
      let payload = APNsPayload(draft, uid: context.uid, signature: context.uid)
      sizes.append((.apns, payload.size, payload.limit))
    }
    if context.checksAndroid(draft) {
      let message = FCMMessage(draft, uid: context.uid, signature: context.uid)
      sizes.append((.fcm, message.size, message.limit))
    }
    if let part = context.jpushPart(draft) {
      let (bytes, limit) = JPushMessage(part, uid: context.uid, signature: context.uid).size
      sizes.append((.jpush, bytes, limit))
    }
    let tooLarge = sizes.filter { $0.bytes > $0.limit }.map { size in
      localization(
        .error, language, .tooLarge,
        [
          "size": String(size.bytes), "limit": String(size.limit), "excess": String(size.bytes - size.limit),
          "provider": size.provider.name,
        ])
    }
    guard tooLarge.isEmpty, let size = sizes.first(where: { $0.provider == .apns && $0.bytes * 10 >= $0.limit * 9 })
    else { return tooLarge }
    return [localization(.hint, language, .nearLimit, ["size": String(size.bytes), "limit": String(size.limit)])]
  }

  private static func words(_ draft: PushDraft, _ localized: PushDraft, _ text: Localization) -> [Finding] {
    var findings = texts(localized).compactMap { found -> Finding? in
      let part = found.problem.field.split(separator: ".").last.map(String.init) ?? ""
      let isOwn = ["title": text.title, "subtitle": text.subtitle, "body": text.body][part].flatMap(\.self) != nil
      return isOwn ? localization(.warning, text.language, .jsonAsText, part: part) : nil
    }
    let usual = draft.notification
    let missing = [
      ("title", usual.title, text.title), ("subtitle", usual.subtitle, text.subtitle), ("body", usual.body, text.body),
    ].filter { $0.1 != nil && $0.2 == nil }.map(\.0)
    if !missing.isEmpty {
      findings.append(localization(.warning, text.language, .partial, ["parts": missing.joined(separator: ", ")]))
    }
    return findings
  }
}
