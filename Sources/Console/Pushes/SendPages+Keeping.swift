import Delivery
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import SQLite
import Store

extension SendPages {
  /// Keeps the push, and hands it over; or keeps the schedule, if it repeats. The same review sent twice (a second
  /// click, a reload) is one.
  ///
  /// - Returns: the address of its page.
  static func keep(_ preview: PushPreview, _ page: PageContext) async throws -> String {
    let (draft, app) = (preview.draft, preview.app)
    let hash = Digest.sha256(Array(draft.json.text().utf8))
    let (actor, now) = (page.actor, page.now)
    let usual = page.console.configuration.undoSeconds
    let key = page.form["idempotency_key"].isEmpty ? Random.token(bytes: 18) : page.form["idempotency_key"]
    let route = "POST /pushes"
    let created = try await page.store.write { database -> (path: String, id: Int64?) in
      let known = try IdempotentAnswer.find(
        database, actor: actor, key: key, route: route, requestHash: hash, now: now)
      switch known {
      case .answered(let answer): return (answer.location ?? "/pushes", nil)
      case .mismatch: throw PageError(.conflict, "push_changed", action: ("/pushes", "nav.pushes"))
      case .fresh: break
      }
      func answer(_ path: String) -> IdempotentAnswer {
        IdempotentAnswer(
          actor: actor, key: key, route: route, requestHash: hash, status: 303, location: path,
          body: Array(path.utf8), expiresAt: now.addingTimeInterval(86_400))
      }
      let detail: JSONValue = ["app": .string(app.bundleID)]
      try Device.registerUnknown(database, of: draft, app: app.id, by: actor, now: now)
      if draft.recurrence != nil {
        let new = NewSchedule(draft, app: app, source: "web", by: actor)
        let path = "/schedules/\(new.uid)"
        try Schedule.create(
          database, new, answer: { _ in answer(path) },
          audit: page.audit("schedule.create", "schedule \(new.uid)", detail), now: now)
        return (path, nil)
      }
      let new = NewPush(draft, app: app, source: "web", by: actor)
        .held(draft, atLeast: try UndoWindow.find(database, usual: usual), now: now)
      let path = "/pushes/\(new.uid)"
      let push = try Push.create(
        database, new, answer: { _ in answer(path) },
        audit: page.audit("push.create", "push \(new.uid)", detail), now: now)
      return (path, push.id)
    }
    if let id = created.id { page.console.engine.enqueue(id) }
    return created.path
  }
}
