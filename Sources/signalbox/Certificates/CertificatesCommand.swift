import Arguments
import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import Providers
import SQLite
import Store
import Text

/// `signalbox certificates …`
enum CertificatesCommand {
  private static let file = Argument<String>(
    "file",
    "The .p12, .pem, .cer, .p8, or .mobileprovision file, a Google service account (.json), or a file with JPush's keys; "
      + "- for standard input.")
  private static let id = Argument<Int64>("id", "The certificate's ID, as shown by list.", parseID)
  private static let app = Option<String?>("app", "bundle-id", "The app it belongs to.")
  private static let use = Option(
    repeated: "use-for", "environment", "Use it to send the app's pushes in this environment. Requires --app.",
    Environment.parse
  ).among(Environment.names)
  private static let endpoint = Option<String?>(
    "endpoint", "endpoint", "With --use-for: apple or google (default, as the file needs), simulator, or host:port.")
  private static let trust = Option<String?>(
    "trust", "file", "With --endpoint host:port: a PEM file with the CA certificates to trust.")
  private static let keyID = Option<String?>(
    "key-id", "id", "The key ID of a .p8, if its file name does not contain it.")
  private static let teamID = Option<String?>("team-id", "id", "The team ID of a .p8.")
  private static let madeBy = Option<String?>("made-by", "apple-id", "The Apple ID that created it and can renew it.")
  private static let note = Option<String?>("note", "text", "A note.")
  private static let within = Option<Int?>(
    "within", "days", "Only those that expire within this time or have expired, e.g. 30d."
  ) { text throws(BadValue) in
    try parseDays(text)
  }
  /// The options by the fields of the API.
  static let names = [
    "key_id": "--key-id", "team_id": "--team-id", "made_by": "--made-by", "note": "--note", "endpoint": "--endpoint",
    "trust": "--trust", "certificate": "", "file": "",
  ]
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "certificates", "List, add, renew, and delete certificates, keys, and profiles.",
    subcommands: [
      Command(
        "list", "List stored items, the first to expire first.", parameters: [within.parameter] + common,
        action: list),
      Command("show", "Show one and what uses it.", parameters: [id.parameter] + common, action: show),
      Command(
        "add", "Add a file. Its private key is encrypted with secret.key.",
        parameters: [
          file.parameter, app.parameter, use.parameter, endpoint.parameter, trust.parameter, keyID.parameter,
          teamID.parameter, madeBy.parameter, note.parameter, InspectCommand.take.parameter,
          CommonOptions.password.parameter, CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter,
          CommonOptions.trust.parameter,
        ] + common, action: add),
      Command(
        "remove", "Delete one that no app uses.", parameters: [id.parameter, CommonOptions.data.parameter],
        action: remove),
    ] + RenewalCommands.commands + HostCommands.all)

  /// A certificate with the other values of its JSON answer.
  private struct Found {
    let certificate: TrackedCertificate
    let app: String?
    let uses: [TrackedCertificate.Use]
    let facts: CertificateContents?
    let taken: Acknowledgement?
  }

  private static func find(_ database: Database, id: Int64? = nil, now: Date) throws -> [Found] {
    let apps = try App.bundleIDs(database)
    let uses = try TrackedCertificate.uses(database, id: id)
    let facts = try CertificateContents.all(database, certificate: id)
    let taken = try Acknowledgement.all(database, now: now)
    let certificates = try id.map { [try TrackedCertificate.get(database, id: $0)] } ?? TrackedCertificate.all(database)
    return certificates.map { certificate in
      Found(
        certificate: certificate, app: certificate.details.appID.flatMap { apps[$0] },
        uses: uses[certificate.id] ?? [], facts: facts[certificate.id],
        taken: taken[.init(key: "certificates/\(certificate.id)", fingerprint: certificate.details.sha256)])
    }
  }

  private static let list: Action = { values, io in
    let now = io.now()
    let limit = values[within].map { now.addingTimeInterval(Double($0) * 86_400) }
    let found = try readStore(values, io) { try find($0, now: now) }.filter { item in
      limit.map { limit in item.certificate.details.notAfter.map { $0 <= limit } ?? false } ?? true
    }
    if values[within] == nil {
      io.hint(ifEmpty: found, "no certificates yet; add one: signalbox certificates add <file>")
    }
    let table = io.table("ID", "KIND", "NAME", "STATE", "EXPIRES", "USED BY")
    io.print(found, as: { answer($0, now) }, values, in: table) { item in
      let details = item.certificate.details
      let isReplaced = item.certificate.isReplaced && item.uses.isEmpty
      return [
        "\(item.certificate.id)", io.word(details.kind, "certificates.kinds."), details.name,
        isReplaced ? io.text("replaced") : io.word(band(item.certificate, now).rawValue, "band."),
        io.expires(notAfter: details.notAfter, now: now) ?? "–",
        item.uses.map { "\($0.bundleID)/\($0.environment.rawValue)" }.joined(separator: " "),
      ]
    }
    return ExitCode.done
  }

  private static let show: Action = { values, io in
    let now = io.now()
    let found = try readStore(values, io) { try find($0, id: values[id], now: now) }
    for item in found {
      guard !values[CommonOptions.json] else {
        io.print(JSONValue(written: answer(item, now)).text(pretty: true))
        continue
      }
      let text = StoredFileText(
        certificate: item.certificate, app: item.app, uses: item.uses, contents: item.facts, taken: item.taken)
      for line in text.lines(io, now: now) { io.print(line) }
    }
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let io = try io.proxied(values)
    let now = io.now()
    let environments = values[use]
    if !environments.isEmpty, values[app] == nil { throw CommandFailure.usage("--use-for requires --app.") }
    let inspected = try InspectCommand.read(
      path: values[file], password: values[CommonOptions.password], take: values[InspectCommand.take], io)
    let provider = CredentialRule.provider(inspected) ?? .apns
    if !environments.isEmpty, !inspected.canSend || CredentialRule.provider(inspected) == nil {
      throw CommandFailure(
        """
        \(values[file]) cannot send pushes, because it is neither an APNs key or certificate, nor a Google service \
        account, nor JPush keys.
        """)
    }
    let place = values[endpoint] ?? provider.serviceWord
    let trusted = try values[trust].flatMap { path -> String? in
      guard let text = FileManager.default.contents(atPath: path) else {
        throw CommandFailure("\(path) cannot be read.")
      }
      do throws(Problems) {
        return try CredentialRule.trust(String(decoding: text, as: UTF8.self), endpoint: place, provider)
      } catch { throw error.failure(names, isUsage: true) }
    }
    if provider != .apns, let environment = environments.first, let bundleID = values[app] {
      let wanted = Credential(
        app: 0, provider: provider, environment: environment, certificate: nil, endpoint: place, trustPEM: trusted)
      try await tryOut(wanted, bundleID, inspected, values, io)
    }
    let found = try withStore(values, io, creating: true) { store in
      try store.writeSync { database in
        let app = try values[app].map { try App.named($0, database) }
        let labels = CertificateTracker.Labels(
          fileName: InspectCommand.fileName(values[file]), appID: app?.id, keyID: values[keyID],
          teamID: values[teamID], madeBy: values[madeBy], note: values[note])
        let kept: TrackedCertificate
        do {
          kept = try CertificateTracker.keep(
            database, inspected, labels, sealer: store.sealer, by: commandActor, now: now)
        } catch let problems as Problems {
          throw problems.failure(names, isUsage: true)
        }
        try audit(database, "certificate.create", "certificate \(kept.id)", now: now)
        for environment in environments {
          guard let app else { continue }
          let problems = CredentialRule.problems(app, environment, provider, certificate: kept, endpoint: place)
          if !problems.isEmpty { throw Problems(problems).failure(names, isUsage: true) }
          let before = try Credential.find(database, app: app.id, provider: provider, environment: environment)
          let after = try Credential.bind(
            database, app: app.id, provider: provider, environment: environment, certificate: kept.id,
            endpoint: place, trustPEM: trusted, now: now)
          let entry = NewAuditEntry(actor: commandActor, action: "credential.bind", subject: "app \(app.bundleID)")
          try AuditEntry.add(database, entry.changing(before, to: after), now: now)
        }
        return try find(database, id: kept.id, now: now)
      }
    }
    for item in found {
      if values[CommonOptions.json] {
        io.print(answer(item, now).prettyJSON)
      } else {
        for line in inspected.lines(now: now, keyID: values[keyID], in: io.translation) { io.print(line) }
        io.say("Saved as certificate \(item.certificate.id).")
      }
    }
    return ExitCode.done
  }

  /// Tries a service account with Google, or keys with JPush, before they are used.
  private static func tryOut(
    _ wanted: Credential, _ bundleID: String, _ inspected: CertificateFile, _ values: Parsed, _ io: CommandIO
  ) async throws {
    guard wanted.place != .simulator else { return }
    let store = try DataDirectory(values, io).open(now: io.now())
    defer { store.close() }
    let details = TrackedCertificate.Details(
      kind: inspected.kind.rawValue, name: inspected.name, fileName: values[file])
    let trial = CredentialTrial(wanted, bundleID: bundleID, details: details, material: inspected.material)
    let attempt = try await RenewalCommands.withTrials(store, io) { attempt in
      CredentialAttempt(credential: wanted, bundleID: bundleID, verdict: await attempt(trial))
    }
    if let refusal = attempt.refusal { throw CommandFailure("\(refusal.withoutField)") }
    if case .undecided(let reason) = attempt.verdict {
      io.note(
        "not tested with \(wanted.provider == .fcm ? "Google" : wanted.provider.name): \(singleLine(io.recorded(reason)))"
      )
    }
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try writeStore(values, io) { database in
      guard let certificate = try TrackedCertificate.find(database, id: values[id]),
        try TrackedCertificate.delete(database, id: certificate.id)
      else {
        throw CommandFailure("Certificate \(values[id]) not found. See: signalbox certificates list")
      }
      try audit(
        database, "certificate.delete", "certificate \(values[id])", ["before": certificate.audited, "after": .null],
        now: now)
    }
    io.say("Deleted certificate \(values[id]).")
    return ExitCode.done
  }

  private static func band(_ certificate: TrackedCertificate, _ now: Date) -> Expiry.Band {
    Expiry.band(notBefore: certificate.details.notBefore, notAfter: certificate.details.notAfter, now: now)
  }

  private static func answer(_ found: Found, _ now: Date) -> CertificateAnswer {
    CertificateAnswer(
      found.certificate, app: found.app, uses: found.uses, facts: found.facts, taken: found.taken, now: now)
  }
}
