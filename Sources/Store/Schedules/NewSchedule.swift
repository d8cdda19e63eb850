package import Model

/// A schedule that is to be kept.
package struct NewSchedule: Sendable {
  /// Public id, hard to guess.
  package var uid: String
  /// The app.
  package var appID: Int64
  /// What is sent each time, with its rule.
  package var draft: PushDraft
  /// For lists and search.
  package var title: String?
  /// For lists and search.
  package var body: String?
  /// What else it is found by.
  package var searchTerms: [String] = []
  /// As `web`, `api`, `cli`.
  package var source: String
  /// Who asks for it.
  package var createdBy: String

  /// Creates a schedule; the rest is set one by one.
  package init(uid: String, appID: Int64, draft: PushDraft, source: String, createdBy: String) {
    self.uid = uid
    self.appID = appID
    self.draft = draft
    self.source = source
    self.createdBy = createdBy
  }
}

/// Where a schedule is in its life.
package enum ScheduleState: String, Sendable, CaseIterable {
  /// It goes on by itself.
  case active
  /// Somebody lets it rest: what falls into that time is left out.
  case paused
  /// Its rule has ended, or somebody ended it.
  case ended
}
