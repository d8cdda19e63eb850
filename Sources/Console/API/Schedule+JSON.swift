import Foundation
import Push
import Store

extension Schedule {
  /// How many of its next times are told.
  static let shownTimes = 5

  /// The schema `Schedule`.
  ///
  /// - Parameters:
  ///   - app: the app's bundle id.
  ///   - last: public id of the last push that was made of it; nil: none.
  /// - Throws: `StoreError.unreadable` for a draft that is no JSON.
  func json(app: String, last: String?, now: Date) throws -> JSONValue {
    guard let draft = try? JSONValue(parsing: Data(draftJSON.utf8)) else {
      // The parser's place in the text helps nobody: the column holds no JSON at all.
      throw StoreError.unreadable(column: "schedules.draft", value: uid)
    }
    return [
      "kind": "schedule", "id": .string(uid), "state": .string(state.rawValue), "error": .optional(error),
      "app": .string(app), "environment": .string(environment.rawValue), "draft": draft, "start_at": .time(startAt),
      "next_at": .optional(nextAt),
      "next": .array(occurrences(from: now, limit: Self.shownTimes).map { .time($0) }),
      "sent": .integer(Int64(sent)), "missed": .integer(Int64(missed)), "last_push": .optional(last),
      "source": .string(source), "created_by": .string(createdBy), "created_at": .time(createdAt),
      "ended_at": .optional(endedAt),
    ]
  }
}

extension Schedule.Occurrence {
  /// The schema `Occurrence`.
  var json: JSONValue {
    [
      "at": .time(at), "state": .string(push == nil ? "missed" : "sent"), "push": .optional(push?.uid),
      "noted_at": .time(notedAt),
    ]
  }
}
