import Arguments
import Console
import Foundation
import JSON
import Model
import Reactor
import SQLite
import Store
import Text

enum DoctorCommand {
  private static let network = Flag(
    "network", "Also connect to the push servers and check the certificates they present.")

  private static let bundle = Option<String?>(
    "bundle", "file", "Also write a support bundle (.tar.gz) without secrets or the contents of pushes."
  )

  static let command = Command<Action>(
    "doctor", "Check the installation and print one line per finding, with its fix.",
    discussion: "Exit code 0: no errors (warnings are possible). 1: something needs to be fixed.",
    parameters: [
      network.parameter, bundle.parameter, CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter,
      CommonOptions.trust.parameter,
      CommonOptions.data.parameter, CommonOptions.json.parameter,
    ]
  ) { values, io in
    let io = try io.proxied(values)
    let doctor = Doctor(
      directory: DataDirectory(values, io), environment: io.environment, proxies: io.proxies, now: io.now())
    var findings = doctor.findings()
    if values[network] { findings += doctor.reach() }
    if let path = values[bundle] { try write(findings, to: path, doctor.directory, io) }
    if values[CommonOptions.json] {
      io.print(findings.prettyJSON)
    } else {
      for finding in findings { io.print(finding.line(io)) }
    }
    return findings.contains { $0.level == .error } ? ExitCode.failed : ExitCode.done
  }
}

extension DoctorCommand {
  /// Writes the support bundle, readable only by its owner. Without a readable database it has the findings alone.
  private static func write(
    _ findings: [Doctor.Finding], to path: String, _ directory: DataDirectory, _ io: CommandIO
  ) throws {
    try NamedFile.mustBeNew(path)
    var files: [(name: String, json: JSONValue)] = []
    if directory.exists, let database = try? Database(path: directory.database, mode: .reader) {
      defer { database.close() }
      // A database that cannot be read is one of the findings.
      files = (try? SupportBundle.files(database)) ?? []
    }
    guard
      let bytes = SupportArchive.make(files, doctor: findings.value, version: Signalbox.version, at: io.now()),
      FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    else { throw CommandFailure("\(path) cannot be written.") }
    io.note("the support bundle is in \(path)")
    if directory.exists { record(path, directory, io) }
  }

  /// The bundle is there for what is broken: it is written whether or not the activity log can be.
  private static func record(_ path: String, _ directory: DataDirectory, _ io: CommandIO) {
    let now = io.now()
    do {
      // Opened without migrating: a database of another version has another activity log.
      let pool = try DatabasePool(path: directory.database, readers: 1, isReplicated: directory.isReplicated)
      defer { pool.close() }
      guard try pool.readSync({ try Schema.migrator.pending($0) }).isEmpty else { return }
      try pool.writeSync { try audit($0, "database.bundle", "file \(path)", now: now) }
    } catch {
      io.note("the support bundle is complete, but could not be recorded in the activity log: \(error)")
    }
  }
}

extension Doctor {
  /// What is found without a network and without reading the whole database.
  static func quick(_ directory: DataDirectory, _ proxies: ProxyRules, now: Date) -> JSONValue {
    var doctor = Doctor(
      directory: directory, environment: ProcessInfo.processInfo.environment, proxies: proxies, now: now)
    doctor.isThorough = false
    return doctor.findings().value
  }
}

extension [Doctor.Finding] {
  /// As `--json` prints them.
  var value: JSONValue {
    // Written by us, so it can be read.
    (try? JSONValue(parsing: JSONWriter.bytes(of: self))) ?? .null
  }
}

extension Doctor.Finding: JSONObject {
  fileprivate func line(_ io: CommandIO) -> String {
    let label: Message =
      switch level {
      case .ok: "OK"
      case .warning: "WARNING"
      case .error: "ERROR"
      }
    let text = remedy.map { "\(io.text(message).withoutFullStop). Fix: \($0)" as Message } ?? message
    return singleLine(io.text(label).padded(to: 8) + " " + io.text("\(subject): \(text)"))
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("subject", subject.description)
    json.member("level", level.rawValue)
    json.member("message", message.description)
    json.member("remedy", remedy?.description)
  }
}
