import Arguments
import Calendar
import Certificates
import Foundation
import Glibc
import JSON
import Model
import OpenSSL
import Reactor
import SQLite
import Store
import Delivery
import Text

/// Options that several commands share.
enum CommonOptions {
  static let data = Option<String>(
    "data", "dir", "The data folder with signalbox.sqlite and secret.key.", default: "./data", showing: "./data",
    filled
  ).configuration
  static let json = Flag("json", "Print JSON.")
  // Not checked while it is read, because the message about a wrong value would show the password.
  static let proxy = Option<String?>(
    "proxy", "url",
    "The HTTP proxy of outgoing connections, e.g. http://proxy.example.com:3128, or none (default: https_proxy, "
      + "HTTPS_PROXY, all_proxy, or ALL_PROXY). no_proxy or NO_PROXY lists hosts that are reached directly."
  ).configuration
  static let allowTarget = Option<[String]>(
    repeated: "allow-target", "host|cidr",
    "The hosts that Signalbox may connect to besides the push services, for webhooks, receivers, the mail server, "
      + "watched hosts, and single sign-on: a name, *.example.com, an address, or a network. Repeatable (default: any).",
    host
  ).configuration
  static let allowHTTP = Option<[String]>(
    repeated: "allow-http", "host|cidr",
    "The hosts whose webhooks and receivers may have http:// URLs, besides this machine, e.g. a service in the same "
      + "container network. What is sent there can be read on the way. Repeatable.", host
  ).configuration
  static let trust = Option<String?>(
    "trust", "file",
    "A PEM file with certificate authorities to trust besides the system's, for every outgoing connection (default: "
      + "SSL_CERT_FILE)."
  ).configuration
  static let resources = Option<String?>(
    "resources", "dir", "The folder that contains Templates and Public (default: next to the program)."
  ).configuration
  static let app = Option<String?>("app", "bundle-id", "Only for this app.")
  static let environment = Option<Environment?>(
    "environment", "environment", "Only for this environment: development or production.", Environment.parse
  ).among(Environment.names)
  static let password = Option<String?>(
    "password", "text", "The password of an encrypted .p12 or .pem file.", onlyFromEnvironment: true)

  /// An entry of a list of hosts.
  private static func host(_ text: String) throws(BadValue) -> String {
    do { _ = try TargetList([text]) } catch { throw BadValue("\(EnglishSentence(TargetList.BadEntry.reason))") }
    return text
  }

  /// A script's empty variable must not name the root folder, nor pass for a tag that no device has.
  static func filled(_ text: String) throws(BadValue) -> String {
    guard !text.isEmpty else { throw BadValue("is empty") }
    return text
  }
}

extension CommandIO {
  /// The same, with the proxy, the allowed targets and the trusted authorities that are configured for the command.
  ///
  /// - Throws: ``CommandFailure``, which does not show the setting: it may hold a password.
  func proxied(_ values: Parsed) throws -> CommandIO {
    var copy = self
    do {
      copy.proxies = try ProxyRules(option: values[CommonOptions.proxy], environment: environment)
      copy.proxies.targets = try TargetList(values[CommonOptions.allowTarget])
    } catch {
      throw CommandFailure.usage("\(error)")
    }
    copy.proxies.trustFile = try trustFile(values[CommonOptions.trust])
    return copy
  }

  /// As ``proxied(_:)``, for commands that call webhooks and receivers.
  func calling(_ values: Parsed) throws -> CommandIO {
    var copy = try proxied(values)
    do { copy.proxies.plainHosts = try TargetList(values[CommonOptions.allowHTTP]) } catch {
      throw CommandFailure.usage("\(error)")
    }
    return copy
  }

  /// The file of `--trust`, else of `SSL_CERT_FILE`.
  ///
  /// - Throws: ``CommandFailure`` if the option names a file without certificates. `doctor` checks `SSL_CERT_FILE`, with
  ///   which the system's own programs start too.
  private func trustFile(_ option: String?) throws -> String? {
    guard let option, !option.isEmpty else { return environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 } }
    guard let text = FileManager.default.contents(atPath: option) else {
      throw CommandFailure.usage("--trust: \(singleLine(option)) cannot be read.")
    }
    guard let found = try? Certificate.pemBundle(String(decoding: text, as: UTF8.self)), !found.isEmpty else {
      throw CommandFailure.usage("--trust: \(singleLine(option)) contains no PEM certificate.")
    }
    // Every door opens the file itself, also after a command has changed its folder.
    return URL(fileURLWithPath: option).path
  }
}

extension CommandIO {
  private static let secrets = ["SIGNALBOX_PASSWORD", "SIGNALBOX_PROXY", "SIGNALBOX_PROXY_PASSWORD"]

  /// The same, with secrets from the files that `…_FILE` names, as container runtimes hand them out. A variable that has
  /// the secret itself comes first.
  ///
  /// - Throws: ``CommandFailure``, which does not show what is in a file.
  func withSecretsOfFiles() throws -> CommandIO {
    var copy = self
    for name in Self.secrets where environment[name]?.isEmpty != false {
      let variable = name + "_FILE"
      guard let path = environment[variable], !path.isEmpty else { continue }
      do {
        var text = String(decoding: try CertificateFileReader.data(path), as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        copy.environment[name] = text
      } catch let failure as CommandFailure {
        throw CommandFailure.usage("\(variable): \(singleLine(path)): \(failure.message)")
      } catch is FileProblem {
        throw CommandFailure.usage("\(variable): The file is too large.")
      }
    }
    return copy
  }
}

extension CommandIO {
  /// An environment as people call it.
  func word(_ environment: Environment) -> String { word(environment.rawValue, "words.") }

  /// A reason with its meaning, as `BadDeviceToken: … …`.
  func line(_ reason: Reason) -> String { text("\(reason.code): \(sentences([cause(reason), remedy(reason)]))") }
}

extension Problem {
  /// Only the sentence.
  var withoutField: Problem {
    var copy = self
    copy.field = ""
    return copy
  }
}

extension Environment {
  static let names = allCases.map(\.rawValue)
  static let parse: @Sendable (String) throws(BadValue) -> Environment = parseWord(
    or: BadValue("is not development or production"))
}

extension Platform {
  static let names = allCases.map(\.rawValue)
  static let parse: @Sendable (String) throws(BadValue) -> Platform = parseWord(or: BadValue("is not ios or android"))
}

extension ProviderKind {
  static let names = allCases.map(\.rawValue)
  static let parse: @Sendable (String) throws(BadValue) -> ProviderKind = parseWord(
    or: BadValue("is not apns, fcm, or jpush"))
}

extension User.Role {
  static let names = allCases.map(\.rawValue)
  static let parse: @Sendable (String) throws(BadValue) -> User.Role = parseWord(
    or: BadValue("is not admin, operator, or viewer"))
}

/// Reads a value of an enum.
///
/// - Parameter refusal: for any other text.
func parseWord<Value: RawRepresentable<String> & Sendable>(
  or refusal: BadValue
) -> @Sendable (String) throws(BadValue) -> Value {
  return { text throws(BadValue) in
    guard let value = Value(rawValue: text) else { throw refusal }
    return value
  }
}

/// Whole days, as `30d` or `30`.
func parseDays(_ text: String) throws(BadValue) -> Int {
  guard let days = Int(text.hasSuffix("d") ? String(text.dropLast()) : text), (0...36_500).contains(days) else {
    throw BadValue("is not a number of days from 0 to 36500, e.g. 30d")
  }
  return days
}

/// The public URL of the console.
func parseAddress(_ text: String) throws(BadValue) -> String {
  guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
    ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
  else {
    throw BadValue("is not a URL, e.g. https://push.example.com")
  }
  guard parts.query == nil, parts.fragment == nil, parts.user == nil else {
    throw BadValue("must end after the host, port and path, e.g. https://push.example.com or https://example.com/push")
  }
  let segments = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
  guard segments.dropLast(segments.last == "" ? 1 : 0).allSatisfy(isPlainSegment) else {
    throw BadValue("has a path with other characters than letters, digits, -, _, . and ~")
  }
  return text.hasSuffix("/") ? String(text.dropLast()) : text
}

/// Unreserved characters (RFC 3986 §2.3), so that every proxy passes the path on as it is.
private func isPlainSegment(_ segment: Substring) -> Bool {
  !segment.isEmpty && segment != "." && segment != ".."
    && segment.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.~".contains($0)) }
}

func parseID(_ text: String) throws(BadValue) -> Int64 {
  guard let id = Int64(text), id > 0 else { throw BadValue("is not an ID as shown by list") }
  return id
}

extension App {
  /// - Throws: ``CommandFailure``, which lists the existing apps.
  static func named(_ bundleID: String, _ database: Database) throws -> App {
    if let app = try find(database, bundleID: bundleID) { return app }
    throw missing(bundleID, known: try all(database).map(\.bundleID))
  }

  static func missing(_ bundleID: String, known: [String]) -> CommandFailure {
    CommandFailure(
      known.isEmpty
        ? "App \(bundleID) not found. Add it with: signalbox apps add \(bundleID) --name <name>"
        : "App \(bundleID) not found. Known apps: \(known.joined(separator: ", "))")
  }
}

extension Date {
  var text: String { Timestamp.text(Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down))) }
}

/// Opens the store of `--data` while `body` runs.
func withStore<Result>(
  _ values: Parsed, _ io: CommandIO, creating: Bool = false, _ body: (Store) throws -> Result
) throws -> Result {
  let store = try DataDirectory(values, io).open(creating: creating, now: io.now())
  defer { store.close() }
  return try body(store)
}

/// Reads the database of `--data`.
func readStore<Result>(_ values: Parsed, _ io: CommandIO, _ body: (Database) throws -> Result) throws -> Result {
  try withStore(values, io) { try $0.readSync(body) }
}

/// Changes the database of `--data` in one transaction.
func writeStore<Result>(
  _ values: Parsed, _ io: CommandIO, creating: Bool = false, _ body: (Database) throws -> Result
) throws -> Result {
  try withStore(values, io, creating: creating) { try $0.writeSync(body) }
}

/// Who runs this command, for the activity log.
let commandActor = actorName(of: getuid())

/// The base of an entry whose action and subject the change itself knows.
let commandEntry = NewAuditEntry(actor: commandActor, action: "", subject: "")

/// A system's user in the activity log: `cli` and the name.
func actorName(of user: uid_t) -> String { "cli \(systemName(of: user))" }

/// The name of a system's user; the number of a user that the system does not know, as in some containers.
func systemName(of user: uid_t) -> String {
  guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "\(user)" }
  return String(cString: name)
}

/// Writes an audit entry for a command.
func audit(
  _ database: Database, _ action: String, _ subject: String, _ detail: [String: JSONValue] = [:],
  by actor: String = commandActor, now: Date
) throws {
  try AuditEntry.add(database, by: actor, action, subject, detail.isEmpty ? nil : .object(detail), now: now)
}

/// Runs `body` with routes to the push services, over connections of its own.
func withRoutes<Result>(
  _ store: Store, _ io: CommandIO, _ body: (CredentialRoutes) async throws -> Result
) async throws -> Result {
  Socket.ignoreBrokenPipeSignal()
  let loop = try EventLoop(name: "routes")
  let pool = BlockingPool(name: "blocking", threads: 1)
  let routes = CredentialRoutes(store: store, loop: loop, resolver: pool, proxies: io.proxies, clock: io.now)
  defer {
    routes.stop()
    loop.stop()
    pool.stop()
  }
  return try await body(routes)
}
