package import JSON

/// What a push has for JPush alone: sent on to the devices that JPush reaches; other services have nothing of the kind.
///
/// Nothing in it changes who gets what: it draws the notification of JPush's library, and guides the services of phone
/// makers that JPush uses (docs/protocols.md §4.2).
package struct JPushBlock: Sendable, Hashable {
  /// Members of `notification.android`.
  package var android: [String: JSONValue] = [:]
  /// Members of `options`.
  package var options: [String: JSONValue] = [:]
  /// Where JPush reports to, by itself; nil: nowhere.
  package var callback: JSONValue?

  package init() {}

  static let androidKeys = [
    "alert_type", "badge_class", "big_pic_path", "big_text", "builder_id", "category", "custom_buttons",
    "display_foreground", "icon_bg_color", "inbox", "intent", "large_icon", "mipns_content_forshort",
    "mzpns_content_forshort", "oppns_content_forshort", "priority", "small_icon_uri", "style", "third_url_encode",
    "uri_action", "uri_activity", "uri_flag", "vpns_content_forshort",
  ]
  static let optionKeys = [
    "auto_truncation", "business_operation_code", "classification", "mkt_enable", "need_backup",
    "notification_3rd_ver", "portal_extra", "receipt_id", "test_message", "third_party_channel",
  ]
  /// Bytes of ``options`` and ``callback``; JPush's own limit counts ``android`` with the rest of its part.
  static let limit = 8000

  package var isEmpty: Bool { android.isEmpty && options.isEmpty && callback == nil }

  package var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if !android.isEmpty { members["android"] = .object(android) }
    if !options.isEmpty { members["options"] = .object(options) }
    members["callback"] = callback
    return .object(members)
  }

  /// The keys as a request to JPush names them: those that Android phones alone get, and those of the whole request.
  package var names: (android: [String], all: [String]) {
    (
      android.keys.sorted().map { "notification.android.\($0)" },
      options.keys.sorted().map { "options.\($0)" } + (callback == nil ? [] : ["callback"])
    )
  }

  /// Reads the member `jpush` of a draft.
  static func read(_ fields: JSONFields) -> Self {
    fields.object("jpush") { fields in
      var block = Self()
      block.android = members(fields, "android", androidKeys)
      block.options = members(fields, "options", optionKeys)
      block.callback = fields.members("callback").flatMap { $0.isEmpty ? nil : .object($0) }
      if block.size > limit {
        fields.report(Problem("", JPushMessageProblem.block, ["size": String(block.size), "limit": String(limit)]))
      }
      return block
    } ?? Self()
  }

  private static func members(_ fields: JSONFields, _ name: String, _ keys: [String]) -> [String: JSONValue] {
    fields.object(name) { part in
      var members: [String: JSONValue] = [:]
      for key in keys { members[key] = part.value(key) }
      return members
    } ?? [:]
  }

  var size: Int { JSONValue.object(options).bytes.count + (callback?.bytes.count ?? 0) }
}
