import JSON
import Text

extension Lint {
  /// Misplaced, misspelt and ignored keys.
  static func keys(_ draft: PushDraft) -> [Finding] {
    if let payload = draft.apns.payload { return outside(draft, payload) + inside(draft, payload) }
    return extras(draft)
  }

  private static func extras(_ draft: PushDraft) -> [Finding] {
    let ours = [
      APNsPayload.linkKey: draft.notification.link != nil, APNsPayload.imageKey: draft.notification.image != nil,
      APNsPayload.idKey: true, APNsPayload.signatureKey: true,
    ]
    return draft.notification.extras.keys.sorted().compactMap { key in
      let field = "notification.extras.\(key)"
      let removed = changing(draft) { $0.notification.extras[key] = nil }
      if ours[key] == true { return finding(.warning, field, .keyShadowed, ["key": key], fix: removed) }
      guard key != "aps", let right = appleKey(meantBy: key) else { return nil }
      let value = draft.notification.extras[key]
      switch right {
      case "content-available", "mutable-content":
        let isOn = [1, true, "1"].contains(value)
        let fix = changing(removed) {
          if isOn, right == "content-available" { $0.notification.contentAvailable = true }
          if isOn, right == "mutable-content" { $0.notification.mutableContent = true }
        }
        return finding(.warning, field, .misspeltKey, ["key": key, "right": right], fix: fix)
      case "alert", "badge", "sound", "thread-id", "interruption-level":
        return finding(.warning, field, .keyOutsideAps, ["key": key])
      default: return nil  // "category", "event", "url" … are an app's words as well
      }
    }
  }

  /// Beside `aps` in a raw payload.
  private static func outside(_ draft: PushDraft, _ payload: JSONValue) -> [Finding] {
    (payload.object ?? [:]).keys.sorted().compactMap { key in
      guard key != "aps", let right = appleKey(meantBy: key) else { return nil }
      let field = "apns.payload.\(key)"
      switch right {
      case "content-available", "mutable-content":
        let fix = moving(key, in: draft, to: right)
        return finding(.warning, field, .misspeltKey, ["key": key, "right": right], fix: fix)
      case "alert", "badge", "sound", "thread-id", "interruption-level":
        return finding(.warning, field, .keyOutsideAps, ["key": key], fix: moving(key, in: draft, to: right))
      default: return nil
      }
    }
  }

  /// Inside `aps` in a raw payload.
  private static func inside(_ draft: PushDraft, _ payload: JSONValue) -> [Finding] {
    (payload["aps"]?.object ?? [:]).keys.sorted().compactMap { key in
      guard APNsField.aps[key] == nil else { return nil }
      let field = "apns.payload.aps.\(key)"
      if let right = appleKey(meantBy: key) {
        let fix = changingPayload(draft) { payload, aps in
          let value = aps.removeValue(forKey: key)
          if aps[right] == nil { aps[right] = value }
        }
        return finding(.warning, field, .misspeltKey, ["key": key, "right": right], fix: fix)
      }
      let fix = changingPayload(draft) { payload, aps in
        let value = aps.removeValue(forKey: key)
        if payload[key] == nil { payload[key] = value }
      }
      return finding(.warning, field, .keyInsideAps, ["key": key], fix: fix)
    }
  }

  /// `content_available`, `contentAvailable`, `content-availible` … for `content-available`.
  static func appleKey(meantBy key: String) -> String? {
    if APNsField.aps[key] != nil { return key }
    let plain = Suggestion.plain(key)
    return APNsField.aps.keys.sorted().first { right in
      let wanted = Suggestion.plain(right)
      return wanted == plain || (wanted.count >= 12 && Suggestion.distance(wanted, plain) <= 2)
    }
  }

  private static func moving(_ key: String, in draft: PushDraft, to right: String) -> PushDraft {
    changingPayload(draft) { payload, aps in
      let value = payload.removeValue(forKey: key)
      if aps[right] == nil { aps[right] = value }
    }
  }

  static func changingPayload(
    _ draft: PushDraft, _ change: (inout [String: JSONValue], inout [String: JSONValue]) -> Void
  ) -> PushDraft {
    changing(draft) { draft in
      var payload = draft.apns.payload?.object ?? [:]
      var aps = payload["aps"]?.object ?? [:]
      change(&payload, &aps)
      payload["aps"] = .object(aps)
      draft.apns.payload = .object(payload)
    }
  }
}
