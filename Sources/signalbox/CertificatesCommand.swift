import Arguments
import Certificates
import Foundation
import OpenSSL
import Push
import SQLite
import Store

/// `signalbox certificates …`
enum CertificatesCommand {
  private static let file = Argument<String>(
    "file", "The .p12, .pem, .p8, .mobileprovision or service-account file; - is standard input.")
  private static let id = Argument<Int64>("id", "The certificate's number, as list shows it.", parseID)
  private static let app = Option<String?>("app", "bundle-id", "The app that it belongs to.")
  private static let use = Option(
    repeated: "use-for", "environment", "Send the app's pushes of this environment with it; needs --app.",
    Environment.parse
  ).among(Environment.names)
  private static let endpoint = Option(
    "endpoint", "endpoint", "With --use-for: apple, simulator, or host:port.", default: "apple")
  private static let trust = Option<String?>(
    "trust", "file", "With --endpoint host:port: the authorities that its server may come from, PEM.")
  private static let keyID = Option<String?>("key-id", "id", "Of a .p8 whose name does not say it.")
  private static let teamID = Option<String?>("team-id", "id", "Of a .p8.")
  private static let madeBy = Option<String?>("made-by", "apple-id", "Who made it at Apple’s, and can renew it.")
  private static let note = Option<String?>("note", "text", "What should be remembered of it.")
  private static let within = Option<Int?>(
    "within", "days", "Only what ends within so many days, or has ended; as 30d."
  ) { text throws(BadValue) in
    try parseDays(text)
  }
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "certificates", "Lists, adds and removes certificates, keys and profiles.",
    subcommands: [
      Command(
        "list", "Lists what is kept: what ends first stands first.", parameters: [within.parameter] + common,
        action: list),
      Command("show", "Shows one, with what needs it.", parameters: [id.parameter] + common, action: show),
      Command(
        "add", "Keeps a file; its private key is encrypted with secret.key.",
        parameters: [
          file.parameter, app.parameter, use.parameter, endpoint.parameter, trust.parameter, keyID.parameter,
          teamID.parameter, madeBy.parameter, note.parameter, InspectCommand.take.parameter,
          CommonOptions.password.parameter,
        ] + common, action: add),
      Command(
        "remove", "Removes one that no app needs.", parameters: [id.parameter, CommonOptions.data.parameter],
        action: remove),
    ] + RenewalCommands.commands + HostCommands.all)

  /// A certificate with what an answer says of it.
  private struct Found {
    let certificate: TrackedCertificate
    let app: String?
    let uses: [TrackedCertificate.Use]
    let facts: CertificateFacts?
    let taken: Acknowledgement?
  }

  private static func find(_ database: Database, id: Int64? = nil, now: Date) throws -> [Found] {
    let apps = Dictionary(uniqueKeysWithValues: try App.all(database).map { ($0.id, $0.bundleID) })
    let uses = try TrackedCertificate.uses(database, id: id)
    let facts = try CertificateFacts.all(database, certificate: id)
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
    let found = try withStore(values, io) { store in try store.readSync { try find($0, now: now) } }.filter { item in
      limit.map { limit in item.certificate.details.notAfter.map { $0 <= limit } ?? false } ?? true
    }
    if values[CommonOptions.json] {
      io.print(JSONValue.array(found.map { json($0, now) }).text(pretty: true))
    } else {
      var table = TextTable("ID", "KIND", "NAME", "STATE", "DAYS LEFT", "USED BY")
      for item in found {
        table.add(
          "\(item.certificate.id)", item.certificate.details.kind, item.certificate.details.name,
          band(item.certificate, now).rawValue, item.certificate.daysLeft(now).map { "\($0)" } ?? "–",
          item.uses.map { "\($0.bundleID)/\($0.environment.rawValue)" }.joined(separator: " "))
      }
      io.print(table)
    }
    return ExitCode.done
  }

  private static let show: Action = { values, io in
    let now = io.now()
    let found = try withStore(values, io) { store in try store.readSync { try find($0, id: values[id], now: now) } }
    for item in found {
      let json = json(item, now)
      guard !values[CommonOptions.json] else {
        io.print(json.text(pretty: true))
        continue
      }
      for name in (json.object ?? [:]).keys.sorted() {
        guard let value = json[name], value != .null, value != [] else { continue }
        let text = value.string ?? value.array.map { $0.map { $0.string ?? $0.text() }.joined(separator: ", ") }
        io.print("\(name.padding(toLength: 16, withPad: " ", startingAt: 0)) \(singleLine(text ?? value.text()))")
      }
    }
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let now = io.now()
    let environments = values[use]
    if !environments.isEmpty, values[app] == nil { throw CommandFailure.usage("--use-for needs --app.") }
    let inspected = try InspectCommand.read(
      path: values[file], password: values[CommonOptions.password], take: values[InspectCommand.take], io)
    if !environments.isEmpty, !inspected.canSend {
      throw CommandFailure(
        "\(values[file]): nothing can be sent with it, because it is no key or certificate for APNs.")
    }
    let trusted = try values[trust].flatMap { path -> String? in
      guard let text = FileManager.default.contents(atPath: path) else {
        throw CommandFailure("\(path) cannot be read.")
      }
      do {
        return try CredentialRule.trust(String(decoding: text, as: UTF8.self), endpoint: values[endpoint])
      } catch { throw CommandFailure("\(path): \(error)") }
    }
    let found = try withStore(values, io, creating: true) { store in
      try store.writeSync { database in
        let app = try values[app].map { try App.named($0, database) }
        let kept = try CertificateTracker.keep(
          database, inspected,
          CertificateTracker.Labels(
            fileName: InspectCommand.fileName(values[file]), appID: app?.id, keyID: values[keyID],
            teamID: values[teamID], madeBy: values[madeBy], note: values[note]),
          sealer: store.sealer, by: "cli", now: now)
        try audit(database, "certificate.create", "certificate \(kept.id)", now: now)
        for environment in environments {
          guard let app else { continue }
          let problems = CredentialRule.problems(app, environment, certificate: kept, endpoint: values[endpoint])
          if !problems.isEmpty { throw CommandFailure(Problems(problems).description) }
          try Credential.bind(
            database, app: app.id, provider: .apns, environment: environment, certificate: kept.id,
            endpoint: values[endpoint], trustPEM: trusted, now: now)
          try audit(
            database, "credential.bind", "app \(app.bundleID)",
            ["certificate": .integer(kept.id), "environment": .string(environment.rawValue)], now: now)
        }
        return try find(database, id: kept.id, now: now)
      }
    }
    for item in found {
      if values[CommonOptions.json] {
        io.print(json(item, now).text(pretty: true))
      } else {
        for line in inspected.lines(now: now, keyID: values[keyID]) { io.print(line) }
        io.print("Kept as certificate \(item.certificate.id).")
      }
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { database in
        guard try TrackedCertificate.delete(database, id: values[id]) else {
          throw CommandFailure("There is no certificate \(values[id]). See: signalbox certificates list")
        }
        try audit(database, "certificate.delete", "certificate \(values[id])", now: now)
      }
    }
    io.print("Removed certificate \(values[id]).")
    return ExitCode.done
  }

  private static func band(_ certificate: TrackedCertificate, _ now: Date) -> Expiry.Band {
    Expiry.band(notBefore: certificate.details.notBefore, notAfter: certificate.details.notAfter, now: now)
  }

  private static func json(_ found: Found, _ now: Date) -> JSONValue {
    found.certificate.json(app: found.app, uses: found.uses, facts: found.facts, taken: found.taken, now: now)
  }
}
