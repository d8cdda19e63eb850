import Calendar
import Foundation
import HTTPServer
import Model
import Reminders
import SQLite
import Store

/// What the form is opened with.
extension SendPages {
  /// Prefills the form from another push, a schedule or a device; otherwise only with the app.
  static func start(_ page: PageContext) async throws -> Form {
    if let kept = page.keptForm() { return kept.form }
    if let draft = page.filled("draft") { return try await DraftPages.resume(page, draft) }
    if let uid = page.filled("from") {
      let (found, zone) = try await page.store.read { database in
        (try Push.find(database, uid: uid)?.draft, try ReminderSettings.load(database).zone.identifier)
      }
      guard var draft = found else { throw PageError.notFound("push", list: "/pushes") }
      // A push from the API may have no time zone; the form then uses the one in the settings.
      if draft.timeZone == nil { draft.timeZone = try? NamedZone(zone) }  // unknown zone: UTC
      return Form(draft)
    }
    if let uid = page.filled("schedule") {
      guard let schedule = try await page.store.read({ try Schedule.find($0, uid: uid) }), let draft = schedule.draft
      else { throw PageError(.notFound, "missing_schedule", action: ("/schedules", "schedules.title")) }
      return Form(restarted(draft, now: page.now))
    }
    var fields = try await reached(page).map { (name: "platforms", value: $0.rawValue) }
    if let text = page.filled("device"), let id = Int64(text) {
      let (device, app) = try await page.store.read { database in
        let device = try Device.get(database, id: id)
        return (device, try App.get(database, id: device.appID))
      }
      fields = [
        ("app", app.bundleID), ("environment", device.environment.rawValue), ("platforms", device.platform.rawValue),
        ("audience", "device_token"), ("device_token", device.tokenText),
      ]
    }
    if let app = page.filled("app") { fields.append(("app", app)) }
    for kind in ["tag", "alias", "segment"] {
      guard let name = page.filled(kind) else { continue }
      fields += [("audience", kind), (kind, kind == "alias" ? Form.words([name]) : Form.parts([name]))]
    }
    if let topic = page.filled("topic") {
      fields += [("environment", page.filled("environment") ?? ""), ("audience", "topic"), ("topic", topic)]
    }
    if let channel = page.filled("channel") {
      fields.removeAll { $0.name == "platforms" }
      fields += [
        ("platforms", Platform.ios.rawValue), ("environment", page.filled("environment") ?? ""),
        ("audience", "channel"), ("channel", channel),
        ("push_type", PushType.liveactivity.rawValue),
      ]
    }
    return Form(fields)
  }

  /// The platforms that the app, or any app, has a credential for; iOS if there is none yet, or if iPhones are registered
  /// with FCM.
  private static func reached(_ page: PageContext) async throws -> [Platform] {
    let bundleID = page.filled("app")
    let bound = try await page.store.read { database in
      let app = try bundleID.flatMap { try App.find(database, bundleID: $0)?.id }
      let services = try Credential.all(database, app: app).map(\.provider)
      let others = try DeviceCount.all(database, app: app).filter { services.contains($0.provider) }.map(\.platform)
      return Set(services.flatMap(\.usualPlatforms) + others)
    }
    return bound.isEmpty ? [.ios] : Platform.allCases.filter(bound.contains)
  }

  /// Copies a repeating push: a start time in the past becomes now.
  private static func restarted(_ draft: PushDraft, now: Date) -> PushDraft {
    var draft = draft
    if let sendAt = draft.sendAt, sendAt <= now { draft.sendAt = nil }
    return draft
  }
}
