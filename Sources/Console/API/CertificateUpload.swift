import Certificates
import Foundation
import HTTPServer
import OpenSSL
import Push
import Reactor
import SQLite
import Store

/// `POST /api/v1/certificates`.
struct CertificateUpload {
  /// The file, and room for the other fields.
  static let bodyLimit = CertificateFile.maximumBytes + 64 * 1024

  private static let textLimit = 8192
  private static let fields = [
    "file", "password", "app", "key_id", "team_id", "take", "made_by", "note", "app_key", "master_secret", "dry_run",
  ]
  /// What is secret: nothing that is kept may help to guess it.
  private static let secrets: Set<String> = ["password", "master_secret"]

  private let call: APIContext
  private let data: Data
  private let fileName: String
  private let texts: [String: String]

  /// Reads the form.
  ///
  /// - Throws: 415, 413, 400 for a body that is no such form; `Problems` for fields that are unknown, missing or twice.
  init(_ call: APIContext) async throws {
    self.call = call
    let form = try await FormData(
      call.request, limits: MultipartLimits(parts: 20, partBytes: CertificateFile.maximumBytes))
    var problems: [Problem] = []
    var texts: [String: String] = [:]
    var file: FormData.Item?
    var seen: Set<String> = []
    for item in form.items {
      let name = item.part.name
      if !Self.fields.contains(name) {
        problems.append(Self.unknown(name))
      } else if !seen.insert(name).inserted {
        problems.append(Problem(name, code: "form.twice", "This field stands twice; give it once."))
      } else if name == "file" {
        file = item
      } else if let text = String(validating: item.bytes, as: UTF8.self), text.utf8.count <= Self.textLimit {
        texts[name] = text
      } else {
        problems.append(
          Problem(
            name, code: "form.text", "Must be text in UTF-8 of at most {limit} bytes.",
            ["limit": String(Self.textLimit)]))
      }
    }
    let pair = Self.keyPair(texts, hasFile: file != nil, &problems)
    if file == nil, pair == nil, problems.isEmpty { problems.append(Problem("file", FieldMessage.required)) }
    if let word = texts["dry_run"], word != "true", word != "false" {
      problems.append(
        Problem(
          "dry_run", FieldMessage.expectedChoice, ["choices": "true, false", "value": String(word.prefix(40))]))
    }
    guard problems.isEmpty, let data = file.map({ Data($0.bytes) }) ?? pair.map({ Data($0.material) }) else {
      throw Problems(Array(problems.prefix(100)))
    }
    self.data = data
    // A client that sends no name sends no file in the browser's sense, but its bytes are as good.
    fileName =
      file?.part.fileName.flatMap { $0.isEmpty ? nil : String($0.prefix(255)) } ?? (file == nil ? "JPush" : "file")
    self.texts = texts.filter { !$0.value.isEmpty }
  }

  /// JPush's keys, typed instead of a file.
  private static func keyPair(
    _ texts: [String: String], hasFile: Bool, _ problems: inout [Problem]
  ) -> JPushKeyPair? {
    guard texts["app_key"] != nil || texts["master_secret"] != nil else { return nil }
    if hasFile {
      problems.append(
        Problem("file", code: "certificate.file_and_keys", "Give either a file or JPush’s keys, not both."))
      return nil
    }
    do {
      return try JPushKeyPair(appKey: texts["app_key"] ?? "", masterSecret: texts["master_secret"] ?? "")
    } catch {
      problems += error.all
      return nil
    }
  }

  private static func unknown(_ name: String) -> Problem {
    let shown = String(name.prefix(60))
    if let suggestion = Suggestion.closest(to: name, among: fields) {
      return Problem(shown, FieldMessage.unknownSimilar, ["suggestion": suggestion])
    }
    return Problem(shown, FieldMessage.unknown, ["known": fields.joined(separator: ", ")])
  }

  func answer() async throws -> Response {
    let idempotency = try Idempotency(call, content: content)
    let (data, fileName, password, take) = (data, fileName, texts["password"], texts["take"])
    let file = try await call.console.pool.run {
      do throws(FileProblem) {
        return try CertificateFile.inspect(data: data, fileName: fileName, password: password, take: take)
      } catch {
        throw Problems([error.problem])
      }
    }
    return texts["dry_run"] == "true" ? try await look(file) : try await keep(file, idempotency)
  }

  /// What makes an upload the same as another one. Without secrets: nothing that is kept may help to guess them, and
  /// a wrong password gets no answer worth keeping.
  private var content: [UInt8] {
    let others = texts.filter { !Self.secrets.contains($0.key) }.mapValues { JSONValue.string($0) }
    let members: JSONValue = [
      "file": .string(Digest.sha256(Array(data)).map { String(format: "%02x", $0) }.joined()),
      "name": .string(fileName), "fields": .object(others),
    ]
    return Array(members.data())
  }

  private static func app(_ database: Database, _ texts: [String: String]) throws -> App? {
    try APIContext.filter(database, app: texts["app"])
  }

  /// Says what the file is.
  private func look(_ file: InspectedFile) async throws -> Response {
    let texts = texts
    let app = try await call.store.read { try Self.app($0, texts) }
    return APIContext.answer(
      file.json(
        app: app?.bundleID, keyID: texts["key_id"], teamID: texts["team_id"], fileName: fileName, now: call.now))
  }

  private func keep(_ file: InspectedFile, _ idempotency: Idempotency) async throws -> Response {
    let (call, texts, fileName, sealer) = (call, texts, fileName, call.store.sealer)
    let warnings = file.warnings(now: call.now).map { JSONValue.string($0.description) }
    let answer = try await call.store.write { database in
      try idempotency.once(database) {
        let labels = CertificateTracker.Labels(
          fileName: fileName, appID: try Self.app(database, texts)?.id, keyID: texts["key_id"],
          teamID: texts["team_id"], madeBy: texts["made_by"], note: texts["note"])
        let kept: TrackedCertificate
        do {
          kept = try CertificateTracker.keep(
            database, file, labels, sealer: sealer, by: call.actor, now: call.now)
        } catch let problems as Problems {
          let duplicate = problems.all.first { $0.code == "certificate.duplicate" }
          throw duplicate.map { APIError(.conflict, $0) as any Error } ?? problems
        }
        let audit = call.audit("certificate.create", "certificate \(kept.id)", kept.audited)
        try AuditEntry.add(database, audit, now: call.now)
        let json = try CertificatesAPI.json(database, kept, now: call.now)
          .merging(["warnings": .array(warnings)])
        return (
          Idempotency.Answer(status: .created, json: json, location: "/api/v1/certificates/\(kept.id)"), ()
        )
      }.answer
    }
    return answer.response
  }
}

extension JSONValue {
  /// The same object with further members.
  func merging(_ others: [String: JSONValue]) -> JSONValue {
    .object((object ?? [:]).merging(others) { $1 })
  }
}
