import Certificates
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// `POST /api/v1/certificates`.
struct CertificateUpload {
  /// The limit of the file, plus room for the other fields.
  static let bodyLimit = CertificateFile.maximumBytes + 64 * 1024

  private let call: APIContext
  private let form: CertificateForm

  /// Reads the form; see ``CertificateForm``.
  init(_ call: APIContext) async throws {
    self.call = call
    form = try await CertificateForm(
      call,
      fields: [
        "file", "password", "app", "key_id", "team_id", "take", "made_by", "note", "app_key", "master_secret",
        "dry_run",
      ], choices: ["dry_run"])
  }

  func answer() async throws -> Response {
    let idempotency = try Idempotency(call, content: form.content)
    let file = try await form.inspect(call)
    return form.texts["dry_run"] == "true" ? try await look(file) : try await keep(file, idempotency)
  }

  /// The app that the file is for. A token that is limited to apps must name one of them.
  private static func app(_ database: Database, _ call: APIContext, _ texts: [String: String]) throws -> App? {
    if texts["app"] == nil, call.apps != nil {
      throw HTTPError(.forbidden, "This token is limited to some apps. Name one of them as app.")
    }
    return try call.filter(database, app: texts["app"])
  }

  /// Answers what the file contains, without storing it.
  private func look(_ file: CertificateFile) async throws -> Response {
    let (call, texts, fileName) = (call, form.texts, form.fileName)
    let app = try await call.store.read { try Self.app($0, call, texts) }
    return APIContext.answer(
      UnkeptCertificateAnswer(
        file: file, app: app?.bundleID, keyID: texts["key_id"], teamID: texts["team_id"], fileName: fileName,
        now: call.now))
  }

  private func keep(_ file: CertificateFile, _ idempotency: Idempotency) async throws -> Response {
    let (call, texts, fileName, sealer) = (call, form.texts, form.fileName, call.store.sealer)
    let warnings = file.warnings(now: call.now, keyID: texts["key_id"]).map(\.description)
    return try await idempotency.response(call.store) { database in
      let labels = CertificateTracker.Labels(
        fileName: fileName, appID: try Self.app(database, call, texts)?.id, keyID: texts["key_id"],
        teamID: texts["team_id"], madeBy: texts["made_by"], note: texts["note"])
      let before = try file.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0).first?.id }
      let kept: TrackedCertificate
      do {
        kept = try CertificateTracker.keep(database, file, labels, sealer: sealer, by: call.actor, now: call.now)
      } catch let problems as Problems {
        let duplicate = problems.all.first { $0.code == CertificateMessage.duplicate.code }
        throw duplicate.map { APIError(.conflict, $0) as any Error } ?? problems
      }
      // The file adds the key to a certificate that was stored without one.
      let isCompleted = kept.id == before
      let action = isCompleted ? "certificate.complete" : "certificate.create"
      try call.record(database, action, "certificate \(kept.id)", kept.audited)
      let json = KeptCertificateAnswer(
        certificate: try CertificatesAPI.json(database, kept, now: call.now), warnings: warnings)
      return Idempotency.Answer(
        status: isCompleted ? .ok : .created, json: json, location: "/api/v1/certificates/\(kept.id)")
    }
  }
}

/// The schema `Certificate`, with the warnings about the file.
private struct KeptCertificateAnswer: JSONObject {
  let certificate: CertificateAnswer
  let warnings: [String]

  func writeMembers(to json: inout JSONWriter) {
    certificate.writeMembers(to: &json)
    json.member("warnings", warnings)
  }
}
