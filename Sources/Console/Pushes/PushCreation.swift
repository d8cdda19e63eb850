import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `POST /api/v1/pushes`: the API's counterpart of the send form.
enum PushCreation {
  static func answer(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let draft =
      body["template"] == nil
      ? try PushDraft(json: body)
      : try PushDraft(json: try await call.store.read { try PushTemplate.resolved($0, body) })
    try await call.check(sending: draft)
    let idempotency = try Idempotency(call, content: Array(body.data()))
    let order = PushIntake.Order(
      draft, source: .api, by: call.actor, person: call.principal.person, from: call.clientAddress,
      now: call.now)
    guard !draft.options.dryRun else {
      return try await call.console.intake.preview(order, once: idempotency) { check in
        guard let count = check.count else { throw AudienceAPI.tookTooLong }
        let services = try await call.console.engine.validate(check)
        return Idempotency.Answer(
          status: .ok, json: PushDryRun(check: check, count: count, services: services, now: call.now))
      }.response
    }
    return try await call.console.intake.take(order, once: idempotency) { database, kept, check in
      switch kept {
      case .push(let push):
        var answer = try PushesAPI.json(database, push)
        answer.findings = check.findings
        return Idempotency.Answer(status: .accepted, json: answer, location: "/api/v1/pushes/\(push.uid)")
      case .schedule(let schedule):
        var answer = try ScheduleAnswer(database, schedule, now: call.now)
        answer.findings = check.findings
        return Idempotency.Answer(status: .accepted, json: answer, location: "/api/v1/schedules/\(schedule.uid)")
      }
    }.response
  }
}

/// The schema `DryRun`: what a push would do.
private struct PushDryRun: JSONObject {
  let check: PushCheck
  let count: AudienceCount
  let services: [PushValidation]
  let now: Date

  func writeMembers(to json: inout JSONWriter) {
    let draft = check.draft
    let payload = APNsPayload(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature)
    json.member("dry_run", true)
    json.member("reachable", count.reachable + check.unknown)
    json.member("unreachable", count.unreachable)
    // A push to Android alone never becomes a payload of APNs.
    let message =
      draft.platforms == [.android]
      ? FCMMessage(draft, uid: NewPush.sampleID, signature: NewPush.sampleSignature) : nil
    json.member("payload_bytes", message?.size ?? payload.body.count)
    json.member("payload", message?.json ?? payload.json)
    json.object("headers") { json in
      for header in message == nil ? payload.headers(sentAt: now) : [] {
        json.key(dynamic: header.name)
        json.string(header.value)
      }
    }
    json.member("findings", check.findings)
    json.array("services", services) { json, service in service.write(to: &json) }
    let isNotification = draft.platforms.contains(.ios) && payload.pushType.receiver == nil
    let situations = isNotification ? CallbackTable(payload.facts).cells : []
    json.array("callbacks", situations) { json, situation in situation.write(to: &json) }
    guard let rule = draft.recurrence else { return }
    json.member("next", Recurrence(rule, from: draft.sendAt ?? now).occurrences(from: now, limit: Schedule.shownTimes))
  }
}
