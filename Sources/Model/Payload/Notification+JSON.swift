package import JSON
import Text

/// The notification of a push under a name that does not clash with `Foundation.Notification`.
package typealias PushNotification = Notification

extension Notification {
  package var json: JSONValue {
    let texts = [
      "title": title, "subtitle": subtitle, "body": body, "sound": sound, "category": category,
      "thread_id": threadID, "interruption_level": interruptionLevel?.rawValue, "image": image, "link": link,
    ]
    var members = texts.compactMapValues { $0.map(JSONValue.string) }
    members["badge"] = badge?.json
    if contentAvailable { members["content_available"] = true }
    if mutableContent { members["mutable_content"] = true }
    if !extras.isEmpty { members["extras"] = .object(extras) }
    if !localizations.isEmpty {
      members[Localization.key] = .object(
        Dictionary(localizations.map { ($0.language.text, $0.json) }) { first, _ in first })
    }
    return .object(members)
  }

  static func read(_ fields: JSONFields) -> Self {
    var notification = Self()
    let title = TextLimit.characters(PushLimits.title)
    let word = TextLimit.characters(PushLimits.word)
    notification.title = fields.string("title", limit: title, lines: true)
    notification.subtitle = fields.string("subtitle", limit: title, lines: true)
    notification.body = fields.string("body", limit: .characters(PushLimits.body), lines: true)
    notification.badge = readBadge(fields)
    notification.sound = fields.string("sound", limit: word)
    notification.category = fields.string("category", limit: word)
    notification.threadID = fields.string("thread_id", limit: word)
    notification.interruptionLevel = fields.choice("interruption_level")
    notification.image = fields.address("image", limit: .characters(PushLimits.address))
    notification.link = fields.string("link", limit: word)
    notification.contentAvailable = fields.bool("content_available") ?? false
    notification.mutableContent = fields.bool("mutable_content") ?? false
    notification.extras = fields.members("extras") ?? [:]
    notification.localizations = Localization.read(fields)
    return notification
  }

  private static func readBadge(_ fields: JSONFields) -> Badge? {
    guard let value = fields.value("badge"), let text = value.string else {
      return fields.integer("badge", in: PushLimits.badge).map(Badge.set)
    }
    if let badge = Badge(json: value) { return badge }
    fields.report("badge", Problem("", DraftMessage.badgeRelative, ["value": text.abbreviated(to: 40)]))
    return nil
  }
}
