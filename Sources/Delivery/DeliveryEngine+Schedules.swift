import Foundation
import JSON
import Logging
package import Model
package import Store

extension DeliveryEngine {
  /// Lets the next times follow newer rules for the clocks. If the store cannot be written to at present, what was kept
  /// holds: delivery must not wait for it.
  func renewSchedules(now: Date) async {
    do {
      try await store.write { try Schedule.renew($0, now: now) }
    } catch {
      log.error("could not check the schedules' next runs", ["error": "\(error)"])
    }
  }

  /// Makes the pushes of the schedules whose time has come, each in a transaction of its own, and begins them.
  func lookForOccurrences(now: Date) async throws {
    for id in try await store.read({ try Schedule.due($0, now: now) }) {
      let push = try await store.write { database in
        try Schedule.carryOn(database, id: id, now: now) { schedule, draft, _ in NewPush(draft, of: schedule) }
      }
      guard let push else { continue }
      log.info("created the push of a schedule", ["schedule": id, "push.id": push.uid])
      enqueue(push.id)
    }
  }
}

extension NewPush {
  /// One occurrence of a schedule, in the name of who made the schedule.
  init(_ draft: PushDraft, of schedule: Schedule) {
    self.init(
      uid: Self.freshUID(), seed: Self.freshSeed(), appID: schedule.appID, environment: schedule.environment,
      draftJSON: draft.json.text(), source: "schedule", createdBy: schedule.createdBy)
    (title, body) = (schedule.title, schedule.body)
    searchTerms = Self.searchTerms(draft)
  }
}

extension NewSchedule {
  /// A draft that repeats as a schedule of an app, with a new id that is hard to guess and the words that it is found
  /// by.
  package init(_ draft: PushDraft, app: App, source: String, by creator: String) {
    self.init(uid: NewPush.freshUID(), appID: app.id, draft: draft, source: source, createdBy: creator)
    let push = NewPush(draft, app: app, source: source, by: creator)
    (title, body, searchTerms) = (push.title, push.body, push.searchTerms)
  }
}
