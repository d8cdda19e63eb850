package import Foundation
package import Model

/// A push that is to be kept.
package struct NewPush: Sendable {
  /// Public id, hard to guess.
  package var uid: String
  /// Random, for `APNsID(seed:device:)`.
  package var seed: UInt64
  /// The app.
  package var appID: Int64
  /// The environment.
  package var environment: Environment
  /// The API's own JSON of the draft.
  package var draftJSON: String
  /// For lists and search.
  package var title: String?
  /// For lists and search.
  package var body: String?
  /// What else it is found by: tags, aliases, registration ids.
  package var searchTerms: [String] = []
  /// As `web`, `api`, `cli`, `schedule`.
  package var source: String
  /// Who asks for it.
  package var createdBy: String
  /// When it is to be sent; nil: at once.
  package var sendAt: Date?
  /// Until when it is held back, so that it can be taken back whole; nil: not at all.
  package var holdUntil: Date?
  /// The schedule that it is an occurrence of.
  package var scheduleID: Int64?
  /// The push that this one repeats.
  package var parentID: Int64?

  /// Creates a push; the rest is set one by one.
  package init(
    uid: String, seed: UInt64, appID: Int64, environment: Environment, draftJSON: String, source: String,
    createdBy: String
  ) {
    self.uid = uid
    self.seed = seed
    self.appID = appID
    self.environment = environment
    self.draftJSON = draftJSON
    self.source = source
    self.createdBy = createdBy
  }
}
