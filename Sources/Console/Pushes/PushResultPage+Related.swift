import Mustache
import Model
import SQLite
import Simulator
import Store

/// Links between a push, the push it retries, its own retry, and its schedule.
extension PushResultPage {
  struct Related: Sendable {
    /// The push that this one retries.
    let parent: Push?
    /// The push that retries this one.
    let child: Push?
    /// The schedule that created this push.
    let schedule: Schedule?
    /// The reader's draft that was tried out with this push.
    let draft: SavedDraft?

    init(_ database: Database, _ push: Push, user: Int64) throws {
      parent = try push.parentID.flatMap { try Push.find(database, id: $0) }
      child = try Push.repeating(database, push: push.id)
      schedule = try push.scheduleID.flatMap { try Schedule.find(database, id: $0) }
      draft = try SavedDraft.find(database, push: push.id, user: user)
    }

    /// One line with a link for each.
    func views(_ texts: Texts) -> [RelatedView] {
      [
        draft.map { draft in
          RelatedView(text: texts("drafts.tried"), href: "/pushes/new?draft=\(draft.id)", label: texts("drafts.back"))
        },
        schedule.map { schedule in
          RelatedView(
            text: texts("schedules.of"), href: "/schedules/\(schedule.uid)",
            label: schedule.draft?.recurrence.map { texts.rule($0, from: schedule.startAt) } ?? schedule.uid)
        },
        parent.map { RelatedView(text: texts("push.repeats_push"), href: "/pushes/\($0.uid)", label: $0.uid) },
        child.map { RelatedView(text: texts("push.repeated_by"), href: "/pushes/\($0.uid)", label: $0.uid) },
      ].compactMap { $0 }
    }
  }
}

extension PushResultPage {
  /// The inbox of the simulated phones, with what arrived of a push; nil: nothing did.
  static func inbox(_ push: Push, _ page: PageContext) -> String? {
    var query = NotificationQuery()
    query.push = push.uid
    guard let phones = page.console.simulator?.phones, phones.hasArrivals(query) else { return nil }
    return "/phones?q=\(ConsoleRouter.escaped(push.uid))"
  }
}

/// A link to a related push or schedule.
struct RelatedView: View {
  let text: String
  let href: String
  let label: String

  static let fields: [Field<Self>] = [
    .text("text") { $0.text }, .text("href") { $0.href }, .text("label") { $0.label },
  ]
}
