import Certificates
import Foundation
import Mustache
import Push
import Store

/// The scheduled pushes that need a certificate or key, for its page; those that fall after its end are told.
struct ForecastValue {
  private static let shown = 50

  let pushes: [PlannedPush]
  let notAfter: Date?
  let apps: [App]

  func value(_ texts: Texts) -> Value {
    let missed = Forecast.missed(pushes, notAfter: notAfter)
    let isMissed = Set(missed)
    return [
      "any": .bool(!pushes.isEmpty),
      "missed": .string(missed.isEmpty ? "" : texts("expiry.missed", count: missed.count)),
      "missed_next": .string(texts("expiry.missed_next", ["date": notAfter?.utcText ?? ""])),
      "more": .string(pushes.count > Self.shown ? texts("expiry.more", count: pushes.count - Self.shown) : ""),
      // Those that are missed come last in time, and first here.
      "pushes": .list(
        (missed + pushes.filter { !isMissed.contains($0) }).prefix(Self.shown).map { push in
          [
            "href": .string("/pushes/\(push.uid)"), "name": .string(push.title ?? push.uid),
            "app": .string(apps.first { $0.id == push.appID }?.name ?? push.bundleID),
            "environment": .string(push.environment.word(texts)),
            "production": .bool(push.environment == .production), "at": .string(Timestamp.text(push.sendAt)),
            "at_text": .string(push.sendAt.utcText), "missed": .bool(isMissed.contains(push)),
          ]
        }),
    ]
  }
}
