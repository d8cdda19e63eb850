import Mustache
import SQLite
import Store

/// What the result page says of the push that this one repeats, and of the one that repeats it.
extension PushResultPage {
  /// A push, and how it belongs to another.
  struct Kin: Sendable {
    /// This push goes to those that it did not reach.
    let parent: PushRecord?
    /// It goes to those that this push did not reach.
    let child: PushRecord?

    init(_ database: Database, _ push: PushRecord) throws {
      parent = try push.parentID.flatMap { try PushRecord.find(database, id: $0) }
      child = try PushRecord.repeating(database, push: push.id)
    }

    /// A line with a link for each.
    func value(_ texts: Texts) -> Value {
      let lines = [("push.repeats_push", parent), ("push.repeated_by", child)]
      return .list(
        lines.compactMap { key, push in
          push.map { ["label": .string(texts(key)), "id": .string($0.uid), "href": .string("/pushes/\($0.uid)")] }
        })
    }
  }
}
