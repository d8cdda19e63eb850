import Delivery
import Foundation
import Push
import Store

extension PushRecord {
  /// The schema `Push`.
  ///
  /// - Parameters:
  ///   - app: the app's bundle id.
  ///   - reasons: nil: not told, as in lists.
  ///   - parent: public id of the push that this one repeats; nil: not told, as in lists, or there is none.
  ///   - schedule: public id of the schedule that this one is an occurrence of; nil as above.
  /// - Throws: `StoreError.unreadable` for a draft that another version wrote.
  func json(app: String, reasons: [Delivery.ReasonCount]?, parent: String? = nil, schedule: String? = nil) throws
    -> JSONValue
  {
    guard let draft = try? JSONValue(parsing: Data(draftJSON.utf8)) else {
      // The parser's place in the text helps nobody: the column holds no JSON at all.
      throw StoreError.unreadable(column: "pushes.draft", value: uid)
    }
    var members: [String: JSONValue] = [
      "kind": "push", "id": .string(uid), "state": .string(state.rawValue), "error": .optional(error),
      "app": .string(app),
      "environment": .string(environment.rawValue), "platforms": draft["platforms"] ?? [],
      "audience": draft["audience"] ?? .null, "draft": draft, "counts": counts.json(target: target),
      "waiting": .integer(Int64(waiting)), "settling": .bool(isSettling), "repeated": repeats.json,
      "send_at": .optional(sendAt), "hold_until": .optional(holdUntil), "schedule": .optional(schedule),
      "repeats": .optional(parent),
      "source": .string(source), "created_by": .string(createdBy), "created_at": .time(createdAt),
      "started_at": .optional(startedAt), "finished_at": .optional(finishedAt),
      "details_removed_at": .optional(detailsRemovedAt),
    ]
    if let reasons { members["reasons"] = .array(reasons.compactMap(\.json)) }
    return .object(members)
  }
}

extension PushRecord.Repeats {
  /// The schema `Repeated`.
  var json: JSONValue {
    [
      "at_most": .integer(Int64(total)), "unanswered": .integer(Int64(unanswered)),
      "interrupted": .integer(Int64(interrupted)),
    ]
  }
}

extension OutcomeCounts {
  /// With how many devices there are, null as long as they are not counted.
  func json(target: Int?) -> JSONValue {
    var members: [String: JSONValue] = [
      "target": .optional(target), "pending": .optional(target.map { max(0, $0 - total) }),
    ]
    for kind in OutcomeKind.allCases { members[kind.name] = .integer(Int64(self[kind])) }
    return .object(members)
  }
}

extension Delivery.ReasonCount {
  /// Nil for what was accepted.
  fileprivate var json: JSONValue? {
    guard let reason else { return nil }
    let known = Reason.of(reason)
    return [
      "outcome": .string(outcome.name), "reason": .string(reason), "count": .integer(Int64(count)),
      "cause": .string(known.cause), "remedy": .string(known.remedy), "who": .string(known.actor.rawValue),
    ]
  }
}

extension PushProgress {
  /// The schema `Progress`: the data of an event.
  var json: JSONValue {
    [
      "state": .string(state.rawValue), "finished": .bool(isFinal), "counts": counts.json(target: target),
      "waiting": .integer(Int64(waiting)), "next_due": .optional(nextDue), "trouble": .optional(trouble),
      "settling": .bool(isSettling), "repeated": repeats.json, "circuit": health.circuitJSON,
      "slowed_to": health.slowedJSON,
      "rate": .integer(Int64(rate)), "seconds_left": .optional(secondsLeft),
    ]
  }
}

extension Delivery.WithDevice {
  /// The schema `Delivery`. Of a device that was removed since, only its number is known.
  func json(_ push: PushRecord) -> JSONValue {
    let isSent = delivery.attempts > 0
    var members: [String: JSONValue] = [
      "device": .integer(delivery.deviceID), "outcome": .string(delivery.outcome.name),
      "status": delivery.status == 0 ? .null : .integer(Int64(delivery.status)), "reason": .optional(delivery.reason),
      "at": .time(delivery.at), "duration_ms": isSent ? .integer(Int64(delivery.durationMilliseconds)) : .null,
      "attempts": .integer(Int64(delivery.attempts)), "apns_id": .null,
    ]
    if let device {
      members["token"] = .string(device.token.text)
      members["platform"] = .string(device.platform.rawValue)
      members["alias"] = .optional(device.alias)
    }
    if isSent, device?.platform != .android {
      members["apns_id"] = .string(APNsID(seed: push.seed, device: delivery.deviceID).description)
    }
    return .object(members)
  }
}
