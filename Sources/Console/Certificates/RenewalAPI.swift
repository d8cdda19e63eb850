import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// `POST /api/v1/certificates/{id}/renew` and `…/undo`.
enum RenewalAPI {
  static func add(to routes: inout ConsoleRouter) {
    let options = Route.Options(bodyLimit: CertificateUpload.bodyLimit)
    routes.call(
      .post, "/certificates/:id/renew", role: .admin, scope: .certificates, reach: .certificate, options: options
    ) { call in try await renew(call) }
    routes.call(.post, "/certificates/:id/undo", role: .admin, scope: .certificates, reach: .certificate, undo)
  }

  private static func renew(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let form = try await CertificateForm(
      call, fields: ["file", "password", "key_id", "team_id", "made_by", "note", "dry_run", "untried"],
      choices: ["dry_run", "untried"])
    let idempotency = try Idempotency(call, content: form.content)
    let isDryRun = form.texts["dry_run"] == "true"
    // A repeated call gets its stored answer, even if there is nothing left to renew.
    if !isDryRun, let known = try await call.store.read({ try idempotency.known($0) }) { return known.response }
    let file = try await form.inspect(call)
    let labels = CertificateTracker.Labels(
      fileName: form.fileName, keyID: form.texts["key_id"], teamID: form.texts["team_id"],
      madeBy: form.texts["made_by"], note: form.texts["note"])
    let (sealer, now) = (call.store.sealer, call.now)
    let load: @Sendable (Database) throws -> Renewal = { database in
      try Renewal(database, replacing: id, with: file, labels, sealer: sealer, now: now)
    }
    let engine = call.console.engine
    let report = try await CertificateSwitch(store: call.store) { await engine.attempt($0) }
      .look(allowsUntried: form.texts["untried"] == "true", load)
    if isDryRun {
      return APIContext.answer(RenewalAnswer(report: report))
    }
    if let problems = report.problems { throw Self.refusal(problems, report.renewal) }
    let answer = try await call.store.write { database in
      try idempotency.answer(database) {
        let renewal = try load(database)
        if renewal.isReplacedAlready { throw Self.refusal(Problems(renewal.stops), renewal) }
        let switched = try CertificateSwitch.commit(
          database, report, sealer: sealer, by: call.actor, address: call.clientAddress, now: now, load)
        let old = try TrackedCertificate.get(database, id: id)
        let json = RenewalAnswer(
          report: report, successor: try CertificatesAPI.json(database, switched.successor, now: now),
          moved: switched.moved.count, keptUntil: old.replacement?.keptUntil)
        return Idempotency.Answer(status: .ok, json: json)
      }
    }
    try await engine.credentialsChanged()
    return answer.response
  }

  private static func refusal(_ problems: Problems, _ renewal: Renewal) -> any Error {
    guard renewal.isReplacedAlready, let first = problems.all.first else { return problems }
    return APIError(.conflict, first)
  }

  private static func undo(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    // The body is optional: older clients send none.
    var allowsUntried = false
    if let body = try await call.optionalBody() {
      let fields = JSONFields(body)
      allowsUntried = fields.bool("untried") ?? false
      try fields.finish()
    }
    let engine = call.console.engine
    let found = try await CertificateSwitch(store: call.store) { await engine.attempt($0) }
      .lookBack(id, allowsUntried: allowsUntried)
    if let problems = found?.problems { throw problems }
    let (certificate, moved, attempts) = try await call.store.write { database in
      guard let found,
        let back = try found.commit(database, by: call.actor, address: call.clientAddress, now: call.now)
      else {
        throw APIError(
          .conflict, Problem("", code: "renewal.not_replaced", "It was not replaced, so there is nothing to undo."))
      }
      return (
        try CertificatesAPI.json(database, try TrackedCertificate.get(database, id: id), now: call.now), back.count,
        found.attempts
      )
    }
    try await engine.credentialsChanged()
    return APIContext.answer { json in
      json.member("certificate", certificate)
      json.member("credentials_moved", moved)
      json.member("trials", attempts)
    }
  }
}

/// The schema `Renewal`.
private struct RenewalAnswer: JSONObject {
  let report: CertificateSwitch.Report
  /// Nil if nothing was switched.
  var successor: CertificateAnswer?
  var moved = 0
  var keptUntil: Date?

  func writeMembers(to json: inout JSONWriter) {
    report.writeMembers(to: &json)
    json.member("switched", successor != nil)
    json.member("outcome", report.outcome.rawValue)
    json.member("certificate", successor)
    json.member("credentials_moved", moved)
    json.member("kept_until", keptUntil)
  }
}
