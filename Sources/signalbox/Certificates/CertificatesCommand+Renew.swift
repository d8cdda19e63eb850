import Arguments
import Certificates
import Delivery
import Foundation
import JSON
import OpenSSL
import Model
import Providers
import SQLite
import Store
import Text

/// `signalbox certificates renew|undo|request|requests`
enum RenewalCommands {
  private static let file = Argument<String>(
    "file",
    "The replacement: a .p12, .pem, .cer, .p8, or .mobileprovision file, a Google service account (.json), or a file with "
      + "JPush's keys; - for standard input.")
  private static let id = Argument<Int64>("id", "The ID of the certificate to replace, as shown by list.", parseID)
  private static let replaced = Argument<Int64>(
    "id", "The ID of the certificate that was replaced, as shown by list.", parseID)
  private static let keyID = Option<String?>(
    "key-id", "id", "The key ID of a .p8, if its file name does not contain it.")
  private static let teamID = Option<String?>(
    "team-id", "id", "The team ID of a .p8 (default: the team of the old one).")
  private static let madeBy = Option<String?>(
    "made-by", "apple-id", "The Apple ID that created it (default: as for the old one).")
  private static let note = Option<String?>("note", "text", "A note (default: the note of the old one).")
  private static let dryRun = Flag("dry-run", "Check and test only; change nothing.")
  private static let untried = Flag("untried", "Continue even if the push service could not be reached for a test.")
  private static let app = Option<String?>(
    "app", "bundle-id", "Create a request for this app's push certificate (RSA 2048).")
  private static let hosts = Option(
    repeated: "host", "name",
    "Create a request for this host's TLS certificate. Repeatable.")
  private static let renews = Option<Int64?>(
    "renews", "id", "Create a request for a replacement of this certificate.", parseID)
  private static let algorithm = Option<SigningRequest.Algorithm?>(
    "algorithm", "name", "With --host: the key type, rsa-2048 or p-256.",
    parseWord(or: BadValue("is not rsa-2048 or p-256")))
  private static let out = Option<String?>(
    "out", "file", "The output file (default: standard output). An existing file is not overwritten.")

  static let commands: [Command<Action>] = [
    Command(
      "renew", "Switch to a replacement after testing it with the push service. The old one is kept for 30 days.",
      parameters: [
        id.parameter, file.parameter, keyID.parameter, teamID.parameter, madeBy.parameter, note.parameter,
        dryRun.parameter, untried.parameter, CommonOptions.password.parameter, CommonOptions.proxy.parameter,
        CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter, CommonOptions.data.parameter,
        CommonOptions.json.parameter,
      ], action: renew),
    Command(
      "undo", "Switch back to a replaced certificate after testing it with the push service.",
      parameters: [
        replaced.parameter, untried.parameter, CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter,
        CommonOptions.trust.parameter,
        CommonOptions.data.parameter,
      ],
      action: undo),
    Command(
      "request", "Create a signing request. Its private key stays on this machine.",
      parameters: [
        app.parameter, hosts.parameter, renews.parameter, algorithm.parameter, out.parameter,
        CommonOptions.data.parameter, CommonOptions.json.parameter,
      ], action: request),
    Command(
      "requests", "List the signing requests created here.",
      parameters: [CommonOptions.data.parameter, CommonOptions.json.parameter], action: requests),
  ]

  private static let renew: Action = { values, io in
    let io = try io.proxied(values)
    let now = io.now()
    let inspected = try InspectCommand.read(path: values[file], password: values[CommonOptions.password], io)
    let labels = CertificateTracker.Labels(
      fileName: InspectCommand.fileName(values[file]), keyID: values[keyID], teamID: values[teamID],
      madeBy: values[madeBy], note: values[note])
    let old = values[id]
    let store = try DataDirectory(values, io).open(now: now)
    defer { store.close() }
    let load: @Sendable (Database) throws -> Renewal = { [sealer = store.sealer] database in
      do {
        return try Renewal(database, replacing: old, with: inspected, labels, sealer: sealer, now: now)
      } catch let problems as Problems {
        throw problems.failure(CertificatesCommand.names, isUsage: true)
      }
    }
    let report = try await withTrials(store, io) { attempt in
      try await CertificateSwitch(store: store, attempt: attempt).look(allowsUntried: values[untried], load)
    }
    var summary = RenewalSummary(report: report)
    if !values[CommonOptions.json] { tell(report, io) }
    guard report.outcome == .ready, !values[dryRun] else {
      if values[CommonOptions.json] { io.print(summary.prettyJSON) }
      if report.outcome == .untried { io.note("use --untried to switch without a test.") }
      if report.outcome != .ready { io.complain("nothing was switched.") }
      return report.outcome == .ready ? ExitCode.done : ExitCode.failed
    }
    let switched = try await store.write { [sealer = store.sealer] database in
      try CertificateSwitch.commit(database, report, sealer: sealer, by: commandActor, now: now, load)
    }
    summary.successor = switched.successor.id
    if values[CommonOptions.json] {
      io.print(summary.prettyJSON)
    } else if report.renewal.isRefill {
      io.say("Restored the private key of certificate \(old).")
    } else {
      let moved = number(switched.moved.count)
      io.say(
        """
        Certificate \(switched.successor.id) replaced \(old); \(moved) switched over. To undo this within 30 days: \
        signalbox certificates undo \(old)
        """)
    }
    return ExitCode.done
  }

  /// Runs `body` with a function that makes trial connections.
  static func withTrials<Result>(
    _ store: Store, _ io: CommandIO,
    _ body: (@escaping @Sendable (CredentialTrial) async -> ProviderVerdict) async throws -> Result
  ) async throws -> Result {
    try await withRoutes(store, io) { routes in try await body { await routes.attempt($0) } }
  }

  private static func tell(_ report: CertificateSwitch.Report, _ io: CommandIO) {
    for finding in report.renewal.findings {
      let label: Message =
        switch finding.level {
        case .stop: "STOP"
        case .warn: "WARN"
        case .fine: "FINE"
        }
      io.print(singleLine(io.text(label).padded(to: 8) + io.text("\(finding.problem.withoutField)")))
    }
    tell(report.attempts, io)
  }

  private static func tell(_ attempts: [CredentialAttempt], _ io: CommandIO) {
    for attempt in attempts {
      let result = attempt.result
      let subject = "\(attempt.bundleID) \(io.word(attempt.credential.environment))"
      let word = io.word(result.word, "renewal.trial_")
      let text = io.text("\(subject) at \(attempt.credential.endpoint): \(word), \(result.answer)")
      io.print(singleLine(io.text("TEST").padded(to: 8) + text))
    }
  }

  /// As “2 credentials”.
  private static func number(_ count: Int) -> Message {
    Message(count: count, one: "1 credential", other: "\(count) credentials")
  }

  private static let undo: Action = { values, io in
    let io = try io.proxied(values)
    let (now, id) = (io.now(), values[replaced])
    let store = try DataDirectory(values, io).open(now: now)
    defer { store.close() }
    let found = try await withTrials(store, io) { attempt in
      try await CertificateSwitch(store: store, attempt: attempt).lookBack(id, allowsUntried: values[untried])
    }
    guard let found else { throw CommandFailure("Certificate \(id) was not replaced, so there is nothing to undo.") }
    tell(found.attempts, io)
    guard found.outcome == .ready else {
      if found.outcome == .untried { io.note("use --untried to switch back without a test.") }
      io.complain("nothing was changed.")
      return ExitCode.failed
    }
    let back = try await store.write { try found.commit($0, by: commandActor, now: now) }
    guard let back else { throw CommandFailure("Certificate \(id) is no longer replaced.") }
    io.say("Certificate \(id) is in use again; \(number(back.count)) switched back.")
    return ExitCode.done
  }

  private static let request: Action = { values, io in
    let now = io.now()
    guard [values[app] != nil, !values[hosts].isEmpty, values[renews] != nil].filter(\.self).count == 1 else {
      throw CommandFailure.usage("Use exactly one of --app, --host, and --renews.")
    }
    // Checked first: a request that is stored and cannot be written would be one too many.
    if let path = values[out] { try NamedFile.mustBeNew(path) }
    let request = try withStore(values, io) { store -> SigningRequest in
      var order = try store.readSync { database -> SigningOrder in
        if let id = values[renews] {
          let uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
          let old = try TrackedCertificate.get(database, id: id)
          guard let order = SigningOrder.renewing(old, uses: uses, email: nil) else {
            throw CommandFailure("\(old.details.name) was not created from a signing request.")
          }
          return order
        }
        if let bundleID = values[app] {
          let app = try App.named(bundleID, database)
          return .push(topic: app.bundleID, app: app.id)
        }
        return .host(values[hosts])
      }
      if let algorithm = values[algorithm] {
        guard order.purpose == .host || algorithm == .rsa2048 else {
          throw CommandFailure.usage("Apple accepts only rsa-2048.")
        }
        order.algorithm = algorithm
      }
      let made: SigningRequest.Made
      do { made = try SigningRequest.make(order) } catch let problems as Problems {
        throw problems.failure(["host": "--host"], isUsage: true)
      }
      return try store.writeSync { database in
        let request = try SigningRequest.keep(database, made, sealer: store.sealer, by: commandActor, now: now)
        try audit(
          database, "certificate_request.create", "certificate request \(request.uid)",
          ["subject": .string(request.details.subject)], now: now)
        return request
      }
    }
    if let path = values[out] {
      guard FileManager.default.createFile(atPath: path, contents: Data(request.details.pem.utf8)) else {
        throw CommandFailure(
          "\(path) cannot be written, but the request is stored. See: signalbox certificates requests --json")
      }
      io.note(
        """
        wrote \(path); the private key stays here. Once you have the certificate: signalbox certificates add <file>.cer
        """)
    } else if values[CommonOptions.json] {
      io.print(request.prettyJSON)
    } else {
      io.write(request.details.pem)
    }
    return ExitCode.done
  }

  private static let requests: Action = { values, io in
    let requests = try readStore(values, io) { try SigningRequest.all($0) }
    io.hint(ifEmpty: requests, "no signing requests yet; create one: signalbox certificates request --app <bundle-id>")
    let table = io.table("ID", "STATE", "KEY", "SUBJECT", "CREATED BY", "CERTIFICATE")
    io.print(requests, values, in: table) { request in
      [
        request.uid, io.text(request.isWaiting ? "waiting" : "fulfilled"), request.details.algorithm.rawValue,
        request.details.subject, request.createdBy, request.fulfilledBy.map { "\($0)" } ?? "",
      ]
    }
    return ExitCode.done
  }
}

/// Members of the API's schema `Renewal`.
private struct RenewalSummary: JSONObject {
  let report: CertificateSwitch.Report
  /// The row ID of the replacement; nil if nothing was switched.
  var successor: Int64?

  func writeMembers(to json: inout JSONWriter) {
    report.writeMembers(to: &json)
    json.member("outcome", report.outcome.rawValue)
    json.member("switched", successor != nil)
    if let successor { json.member("certificate", successor) }
  }
}
