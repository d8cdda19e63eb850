package import Delivery
import Foundation
package import JSON
import Model
package import Store

/// The schema `Push`.
struct PushAnswer: JSONObject, Sendable {
  let push: Push
  /// The app's bundle ID.
  let app: String
  /// Nil leaves the member out, as in lists.
  var reasons: [Delivery.ReasonCount]?
  /// A line for each service; nil leaves the member out, as in lists.
  var providers: [Delivery.ProviderCounts]?
  /// JPush's messages; nil leaves the member out, as in lists.
  var jpush: [SentJPushMessage]?
  /// Keys of the request without effect; nil leaves the member out, as in lists.
  var unused: [String]?
  /// Public ID of the push that this one retries; nil if there is none, and in lists.
  var parent: String?
  /// Public ID of the schedule that created this push; nil if there is none, and in lists.
  var schedule: String?
  /// Who asked for approval and who decided, or null; the outer nil leaves the member out, as in lists.
  var approval: Approval??
  /// What apps reported; nil leaves the member out, as in lists.
  var receipts: ReceiptCounts?
  /// Why the push is stalled, or null; the outer nil leaves the member out.
  var trouble: String??
  /// What the checks found; only in the answer to the request that created the push.
  var findings: [Lint.Finding]?
  private let draft: RawJSON

  /// - Throws: `StoreError.unreadable` if the stored draft is not a JSON object.
  init(_ push: Push, app: String) throws {
    guard let draft = RawJSON(object: push.draftJSON) else {
      // The value is left out of the error: the column holds no JSON at all.
      throw StoreError.unreadable(column: "pushes.draft", value: push.uid)
    }
    self.push = push
    self.app = app
    self.draft = draft
  }

  func writeMembers(to json: inout JSONWriter) {
    json.member("kind", "push")
    json.member("id", push.uid)
    json.member("msg_id", push.messageID)
    json.member("state", push.state.rawValue)
    json.member("approval_decision", push.approvalDecision?.rawValue)
    json.member("error", push.error)
    json.member("result", push.result?.rawValue)
    json.member("app", app)
    json.member("environment", push.environment.rawValue)
    json.key("platforms")
    draft.writeMember("platforms", absent: [], to: &json)
    json.key("audience")
    draft.writeMember("audience", to: &json)
    json.member("draft", draft)
    json.member("push_type", push.pushType.rawValue)
    json.member("counts", CountsAnswer(counts: push.counts, target: push.target))
    json.member("waiting", push.waiting)
    json.member("settling", push.isSettling)
    json.member("repeated", push.repeats)
    json.member("send_at", push.sendAt)
    json.member("hold_until", push.holdUntil)
    json.member("schedule", schedule)
    json.member("repeats", parent)
    json.member("source", push.source.rawValue)
    json.member("created_by", push.createdBy)
    json.member("created_at", push.createdAt)
    json.member("started_at", push.startedAt)
    json.member("finished_at", push.finishedAt)
    json.member("details_removed_at", push.detailsRemovedAt)
    if let approval { json.member("approval", approval) }
    if let reasons { json.member("reasons", reasons.compactMap(ReasonAnswer.init)) }
    if let receipts { json.member("receipts", receipts) }
    if let providers { json.member("providers", providers) }
    if let jpush { json.member("jpush", jpush) }
    if let unused { json.array("unused", unused) { json, name in json.string(name) } }
    if let trouble { json.member("trouble", trouble) }
    if let findings { json.member("findings", findings) }
  }
}

extension Lint.Finding: JSONObject {
  /// The schema `Finding`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("code", problem.code)
    json.member("severity", severity.rawValue)
    json.member("message", problem.text)
    if !problem.field.isEmpty { json.member("field", problem.field) }
  }
}

extension Push.Repeats: JSONObject {
  /// The schema `Repeated`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("at_most", total)
    json.member("unanswered", unanswered)
    json.member("interrupted", interrupted)
  }
}

extension Delivery.ProviderCounts: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("provider", provider.rawValue)
    json.member("counts", CountsAnswer(counts: counts, target: target))
  }
}

extension SentJPushMessage: JSONObject {
  /// The schema `JPushMessage`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("msg_id", id)
    json.member("devices", devices)
    json.member("sent_at", sentAt)
    json.member("result", result ?? .null)
    json.member("result_at", resultAt)
  }
}

/// The number of devices by outcome, and in total; null until they are counted.
private struct CountsAnswer: JSONObject {
  let counts: OutcomeCounts
  let target: Int?

  func writeMembers(to json: inout JSONWriter) {
    json.member("target", target)
    json.member("pending", target.map { max(0, $0 - counts.total) })
    for kind in OutcomeKind.allCases {
      json.key(dynamic: kind.name)
      json.integer(Int64(counts[kind]))
    }
  }
}

private struct ReasonAnswer: JSONObject {
  let count: Delivery.ReasonCount
  let reason: String

  /// Nil for accepted devices.
  init?(_ count: Delivery.ReasonCount) {
    guard let reason = count.reason else { return nil }
    self.count = count
    self.reason = reason
  }

  func writeMembers(to json: inout JSONWriter) {
    let known = Reason.of(reason)
    json.member("outcome", count.outcome.name)
    json.member("reason", reason)
    json.member("count", count.count)
    json.member("cause", known.cause)
    json.member("remedy", known.remedy)
    json.member("who", known.actor.rawValue)
  }
}

extension PushProgress: JSONObject {
  /// The schema `Progress`, the data of an event.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("state", state.rawValue)
    json.member("finished", isFinal)
    json.member("counts", CountsAnswer(counts: counts, target: target))
    json.member("waiting", waiting)
    json.member("waiting_inactive", outlook.inactiveCount)
    json.member("next_due", nextDue)
    json.member("trouble", trouble)
    json.member("settling", isSettling)
    json.member("repeated", repeats)
    json.member("circuit", CircuitAnswer(health))
    json.member("slowed_to", health.slowedTo)
    json.member("rate", Int(rate))
    json.member("seconds_left", secondsLeft)
  }
}

extension Delivery.WithDevice {
  /// The ID of the request to APNs; nil: nothing was sent there.
  func apnsID(_ push: Push, _ draft: PushDraft?) -> String? {
    let isAPNs = device?.provider ?? .apns == .apns && draft?.audience.subscribers != .topic
    return delivery.attempts > 0 && isAPNs ? APNsID(seed: push.seed, device: delivery.deviceID).description : nil
  }
}

/// The schema `Delivery`. For a device that has been removed, only its row ID is known; the subscribers of a channel or
/// topic have none.
struct DeliveryAnswer: JSONObject {
  let row: Delivery.WithDevice
  let push: Push
  /// The push's; nil: it cannot be read.
  let draft: PushDraft?
  /// What FCM called its message; nil: nothing, or it was not kept.
  let name: String?
  /// What the service answered; nil: nothing, or it was not kept.
  let answer: KeptAnswer?

  func writeMembers(to json: inout JSONWriter) {
    let delivery = row.delivery
    let isSent = delivery.attempts > 0
    let subscribers = draft?.audience.subscribers
    json.member("device", subscribers == nil ? delivery.deviceID : nil)
    json.member("outcome", delivery.outcome.name)
    json.member("status", delivery.status == 0 ? nil : delivery.status)
    json.member("reason", delivery.reason)
    json.member("at", delivery.at)
    json.member("duration_ms", isSent ? delivery.durationMilliseconds : nil)
    json.member("attempts", delivery.attempts)
    json.member("apns_id", row.apnsID(push, draft))
    json.member("message_name", name)
    json.member("apns_unique_id", answer?["apns-unique-id"])
    json.key("answer")
    if let answer {
      json.object { json in
        json.member("status", answer.status)
        json.array("fields", answer.fields) { json, field in
          json.object { json in
            json.member("name", field.name)
            json.member("value", field.value)
          }
        }
        json.member("body", answer.body)
      }
    } else {
      json.null()
    }
    json.member("language", draft?.language(of: row.variant)?.text)
    for kind in ReceiptKind.allCases {
      json.key(dynamic: "\(kind.name)_at")
      (row.receipt?[kind]).write(to: &json)
    }
    guard let device = row.device else { return }
    json.member("token", device.token.text)
    json.member("platform", device.platform.rawValue)
    json.member("alias", device.alias)
  }
}
