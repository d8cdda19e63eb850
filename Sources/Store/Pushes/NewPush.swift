public import Foundation
public import Model

/// A push that is to be kept.
public struct NewPush: Sendable {
  /// Public id, hard to guess.
  public var uid: String
  /// Random, for `APNsID(seed:device:)`.
  public var seed: UInt64
  /// The app.
  public var appID: Int64
  /// The environment.
  public var environment: Environment
  /// The API's own JSON of the draft.
  public var draftJSON: String
  /// For lists and search.
  public var title: String?
  /// For lists and search.
  public var body: String?
  /// What else it is found by: tags, aliases, registration ids.
  public var searchTerms: [String] = []
  /// As `web`, `api`, `cli`, `schedule`.
  public var source: String
  /// Who asks for it.
  public var createdBy: String
  /// When it is to be sent; nil: at once.
  public var sendAt: Date?
  /// Until when it is held back, so that it can be taken back whole; nil: not at all.
  public var holdUntil: Date?
  /// The schedule that it is an occurrence of.
  public var scheduleID: Int64?
  /// The push that this one repeats.
  public var parentID: Int64?

  /// Creates a push; the rest is set one by one.
  public init(
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
