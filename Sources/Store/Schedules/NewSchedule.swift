public import Model

/// A schedule that is to be kept.
public struct NewSchedule: Sendable {
  /// Public id, hard to guess.
  public var uid: String
  /// The app.
  public var appID: Int64
  /// What is sent each time, with its rule.
  public var draft: PushDraft
  /// For lists and search.
  public var title: String?
  /// For lists and search.
  public var body: String?
  /// What else it is found by.
  public var searchTerms: [String] = []
  /// As `web`, `api`, `cli`.
  public var source: String
  /// Who asks for it.
  public var createdBy: String

  /// Creates a schedule; the rest is set one by one.
  public init(uid: String, appID: Int64, draft: PushDraft, source: String, createdBy: String) {
    self.uid = uid
    self.appID = appID
    self.draft = draft
    self.source = source
    self.createdBy = createdBy
  }
}

/// Where a schedule is in its life.
public enum ScheduleState: String, Sendable, CaseIterable {
  /// It goes on by itself.
  case active
  /// Somebody lets it rest: what falls into that time is left out.
  case paused
  /// Its rule has ended, or somebody ended it.
  case ended
}
