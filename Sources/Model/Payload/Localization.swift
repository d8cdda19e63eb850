import JSON

/// The texts of a notification in one more language. What it leaves out is the default text's.
package struct Localization: Sendable, Hashable {
  package var language: LanguageTag
  package var title: String?
  /// iOS only.
  package var subtitle: String?
  package var body: String?

  package init(_ language: LanguageTag, title: String? = nil, subtitle: String? = nil, body: String? = nil) {
    (self.language, self.title, self.subtitle, self.body) = (language, title, subtitle, body)
  }

  /// The most of one push.
  package static let limit = 20
  /// The member of a notification that holds them.
  package static let key = "localizations"

  var isEmpty: Bool { title == nil && subtitle == nil && body == nil }

  var json: JSONValue {
    .object(["title": title, "subtitle": subtitle, "body": body].compactMapValues { $0.map(JSONValue.string) })
  }

  /// - Returns: in the order of their tags.
  static func read(_ fields: JSONFields) -> [Localization] {
    guard let names = fields.members(key)?.keys.sorted() else { return [] }
    guard names.count <= limit else {
      let arguments = ["limit": String(limit), "count": String(names.count)]
      fields.report(key, Problem("", FieldMessage.tooMany, arguments))
      return []
    }
    var seen: [LanguageTag: String] = [:]
    var found: [Localization] = []
    fields.object(key) { fields in
      for name in names {
        let before = fields.problems.count
        guard let texts = fields.object(name, { Texts($0) }) else { continue }
        do throws(Problem) {
          let tag = try LanguageTag(parsing: name)
          if let other = seen.updateValue(name, forKey: tag) {
            throw Problem("", LocalizationMessage.same, ["one": other, "other": name])
          }
          let content = Localization(tag, title: texts.title, subtitle: texts.subtitle, body: texts.body)
          // A text that is refused is no missing one.
          if content.isEmpty, fields.problems.count == before {
            throw Problem("", LocalizationMessage.empty, ["language": tag.text])
          }
          found.append(content)
        } catch {
          fields.report(name, error)
        }
      }
    }
    return found.sorted { $0.language < $1.language }
  }

  private struct Texts {
    let title, subtitle, body: String?

    init(_ fields: JSONFields) {
      let line = TextLimit.characters(PushLimits.title)
      title = fields.string("title", limit: line, lines: true)
      subtitle = fields.string("subtitle", limit: line, lines: true)
      body = fields.string("body", limit: .characters(PushLimits.body), lines: true)
    }
  }
}

extension Notification {
  /// Refuses what would make texts in other languages useless.
  func reportLocalizations(_ fields: JSONFields, apns: PushDraft.APNsOverrides, android: [String: JSONValue]) {
    guard !localizations.isEmpty else { return }
    if apns.payload != nil {
      fields.report("apns", Problem("payload", LocalizationMessage.rawPayload))
    } else if title == nil, body == nil {
      fields.report("notification", Problem("", LocalizationMessage.noDefault))
    }
    let shown = android["notification"]?.object ?? [:]
    for name in ["body", "body_loc_key", "title", "title_loc_key"] where shown[name] != nil && shown[name] != .null {
      fields.report("android", Problem("notification.\(name)", LocalizationMessage.androidText))
    }
  }
}

extension PushDraft {
  /// The draft of each text: the default one, then those of ``Notification/localizations`` in their order.
  package var variants: [PushDraft] { (0...notification.localizations.count).map(localized) }

  /// The draft with one of its texts.
  ///
  /// - Parameter variant: a position in ``variants``; beyond them: the default text.
  package func localized(_ variant: Int) -> PushDraft {
    guard !notification.localizations.isEmpty else { return self }
    var draft = self
    draft.notification.localizations = []
    guard notification.localizations.indices.contains(variant - 1) else { return draft }
    let texts = notification.localizations[variant - 1]
    draft.notification.title = texts.title ?? notification.title
    draft.notification.subtitle = texts.subtitle ?? notification.subtitle
    draft.notification.body = texts.body ?? notification.body
    return draft
  }

  /// Chooses among ``variants``; nil: there is one text only.
  package var languages: LanguageMatcher? {
    notification.localizations.isEmpty ? nil : LanguageMatcher(notification.localizations.map(\.language))
  }

  /// The language of one of ``variants``; nil: the default text.
  package func language(of variant: Int?) -> LanguageTag? {
    guard let variant, notification.localizations.indices.contains(variant - 1) else { return nil }
    return notification.localizations[variant - 1].language
  }
}

package enum LocalizationMessage: String, MessageSet {
  case tag = "localization.tag"
  case tagSimilar = "localization.tag_similar"
  case same = "localization.same"
  case empty = "localization.empty"
  case noDefault = "localization.no_default"
  case rawPayload = "localization.raw_payload"
  case androidText = "localization.android_text"
  case tooLarge = "localization.too_large"
  case nearLimit = "localization.near_limit"
  case jsonAsText = "localization.json_as_text"
  case partial = "localization.partial"
  case subscribers = "localization.subscribers"

  package var english: String {
    switch self {
    case .tag: "“{value}” is not a language. Use a BCP 47 tag, e.g. de, pt-BR, or zh-Hans."
    case .tagSimilar: "“{value}” is not a BCP 47 language tag. Did you mean “{suggestion}”?"
    case .same: "“{one}” and “{other}” are the same language. Keep one of them."
    case .empty: "The text in {language} is empty. Add a title or a text, or remove the language."
    case .noDefault: "Add a title or a text for devices in other languages."
    case .rawPayload: "A raw payload is the same for every language. Leave it out, or remove the other languages."
    case .androidText: "This would replace the text in every language on Android. Leave it out."
    case .tooLarge:
      "In {language}, the payload has {size} bytes, but {provider} allows at most {limit}. Shorten the text by {excess}."
    case .nearLimit: "In {language}, the payload uses {size} of {limit} bytes."
    case .jsonAsText: "The text in {language} is JSON and would be shown to people as is."
    case .partial: "Missing in {language}: {parts}. Devices show these parts of the default text."
    case .subscribers:
      "Only the default text is sent, because the languages of topic and channel subscribers are unknown."
    }
  }
}
