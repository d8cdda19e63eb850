import Arguments
import Certificates
import Console
import Foundation
import Glibc
import HTTPServer
import JSON
import Logging
import Mail
import OpenSSL
import Model
import Reactor
import Simulator
import Text

/// `signalbox simulate`: the simulator of APNs, FCM and JPush without the console, for other projects' tests.
enum SimulateCommand {
  private static let development = address(
    "apns-listen", "The listen address of APNs' development server; port 0 picks a free port.", "127.0.0.1:2197")
  private static let production = address(
    "apns-production-listen", "The listen address of APNs' production server.", "127.0.0.1:2198")
  private static let fcm = address(
    "fcm-listen", "The listen address of FCM (HTTPS, with HTTP/2 or HTTP/1.1).", "127.0.0.1:2200")
  private static let jpush = address(
    "jpush-listen", "The listen address of JPush (HTTPS, with HTTP/2 or HTTP/1.1).", "127.0.0.1:2201")
  private static let control = address(
    "http-listen",
    "The listen address of the control API (/simulator/v1: phones, notifications, "
      + "faults) and of FCM and JPush over plain HTTP/1.1.", "127.0.0.1:2199")
  private static let authority = Option<String?>(
    "ca-out", "file", "Write the CA certificate to trust to this PEM file (default: standard output)."
  ).configuration
  private static let authorityKey = Option<String?>(
    "ca-key", "file", "Keep the CA in this file so that it stays the same after a restart."
  ).configuration
  private static let names = Option(
    repeated: "name", "host", "An extra host name or IP address for the servers' certificate."
  ) { text throws(BadValue) in
    guard !text.isEmpty, text.utf8.count <= 253, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !text.contains("/")
    else { throw BadValue("is not a host name or IP address") }
    return text
  }.configuration
  private static let key = Option<String?>(
    "key", "file", "Accept only provider tokens signed by this key, AuthKey_….p8 (default: any well-formed token)."
  ).configuration
  private static let keyID = Option<String?>(
    "key-id", "id", "The key ID, if the file name does not contain it."
  ).configuration
  private static let teamID = Option<String?>("team-id", "id", "The team ID (default: any).").configuration
  private static let idleTimeout = Option(
    "idle-timeout", "time", "The idle time after which a connection is closed with IdleTimeout.",
    default: Duration.seconds(3600), showing: "60min"
  ) { text throws(BadValue) in
    guard let time = TimeText.duration(text), time > .zero else {
      throw BadValue("is not a time of up to one hour, e.g. 500ms, 30s, or 10min")
    }
    return time
  }.configuration
  private static let serviceAccount = Option<String?>(
    "service-account", "file", "Give FCM access tokens only to this service account (default: any)."
  ).configuration
  private static let jpushKeys = Option(
    repeated: "jpush-key", "appkey:secret", "Let JPush accept only this AppKey and master secret (default: any pair)."
  ) { text throws(BadValue) in
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw BadValue("is not an AppKey and its master secret, e.g. 8103a4c628a0b98994ec1949:<secret>")
    }
    return (key: parts[0], secret: parts[1])
  }
  private static let faults = faultList(
    "faults", "The errors of APNs to simulate, e.g. status=503,next=10 or delay=200ms,goaway=100.", .development)
  private static let fcmFaults = faultList(
    "fcm-faults", "The errors of FCM to simulate, e.g. reason=UNREGISTERED,next=1 or status=429,retry=30.", .fcm)
  private static let jpushFaults = faultList(
    "jpush-faults", "The errors of JPush to simulate, e.g. reason=1011,next=1 or status=429,retry=30.", .jpush)
  private static let unknown = Flag(
    "accept-unknown-tokens", "Accept pushes to tokens that belong to no phone."
  ).configuration
  private static let tokens = Option(
    repeated: "device", "token",
    "Add an iPhone with this token in both environments, or an Android phone with this FCM token, or an Android phone "
      + "with this registration ID of JPush."
  ) { text throws(BadValue) in
    do {
      return try DeviceToken(parsing: text, platforms: Set(Platform.allCases))
    } catch {
      throw BadValue("is not a device token: \(error)")
    }
  }
  private static let receipts = Option<String?>(
    "receipts", "url",
    "Let the phones report what they display, open and dismiss to this address, e.g. http://127.0.0.1:8080/receipts."
  ).configuration
  private static let topic = Option(
    "topic", "bundle-id", "The app on the phones added with --device.", default: "com.example.app")

  static let command = Command<Action>(
    "simulate", "Run only the simulated APNs, FCM and JPush, to test other projects.",
    discussion: "On exit, the command prints what the servers did as one line of JSON.",
    parameters: [
      development.parameter, production.parameter, fcm.parameter, jpush.parameter, control.parameter, names.parameter,
      authority.parameter, authorityKey.parameter, key.parameter, keyID.parameter, teamID.parameter,
      serviceAccount.parameter, jpushKeys.parameter, faults.parameter, fcmFaults.parameter, jpushFaults.parameter,
      idleTimeout.parameter,
      unknown.parameter, tokens.parameter, topic.parameter, receipts.parameter, LogOptions.level.parameter,
      LogOptions.format.parameter,
    ]
  ) { values, io in
    let log = LogOptions.logger(values)
    defer { log.flush(within: .seconds(1)) }
    let configuration = try simulatorConfiguration(values, io, log)
    let stopped = StopSignal()
    let simulator = try PushSimulator(configuration: configuration)
    try addPhones(values, to: simulator.phones)
    let pool = BlockingPool(name: "receipts", threads: 1)
    defer { pool.stop() }
    let reports = try values[receipts].map { try report($0, simulator.phones, pool, log) }
    defer { reports?.cancel() }
    let addresses: (development: SocketAddress, production: SocketAddress, fcm: SocketAddress, jpush: SocketAddress)
    do {
      addresses = try await simulator.start()
    } catch let error as SystemError {
      throw CommandFailure.start(
        error,
        otherAddress: """
          \(error). Choose other addresses with --apns-listen, --apns-production-listen, --fcm-listen, and \
          --jpush-listen.
          """)
    }
    let server: Server
    let controlAddress: SocketAddress
    do {
      guard let listen = values[control] else { throw CommandFailure("No listen address was given.") }
      server = Server(
        ServerConfiguration(address: listen),
        SimulatorControl.router(simulator, names: values[names], address: listen))
      controlAddress = try await server.start()
    } catch let error as SystemError {
      await simulator.stop()
      throw CommandFailure.start(error, otherAddress: "\(error). Choose another address with --http-listen.")
    }
    if let file = values[authority] {
      do {
        try Data(simulator.authorityPEM.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
      } catch {
        await server.stop(within: .seconds(2))
        await simulator.stop()
        throw CommandFailure(
          """
          \(singleLine(file)) cannot be written: \(NamedFile.words(error)). Check that its folder exists and that this \
          user can write to it.
          """)
      }
    } else {
      io.write(simulator.authorityPEM)
    }
    if !controlAddress.isLoopback {
      io.note("anyone who can reach \(controlAddress) can control the simulator")
    }
    io.note(
      """
      APNs development at \(addresses.development), production at \(addresses.production), FCM at \(addresses.fcm) and \
      http://\(controlAddress), JPush at \(addresses.jpush) and http://\(controlAddress), control API at \
      http://\(controlAddress)/simulator/v1
      """)
    if io.outputFailure() == nil { await stopped.wait() }
    await server.stop(within: .seconds(2))
    await simulator.stop()
    var json = JSONWriter()
    json.object { simulator.writeCounters(to: &$0) }
    io.print(json.text)
    return ExitCode.done
  }

  private static func simulatorConfiguration(
    _ values: Parsed, _ io: CommandIO, _ log: Logger
  ) throws -> PushSimulator.Configuration {
    var configuration = PushSimulator.Configuration()
    configuration.development = values[development]
    configuration.production = values[production]
    configuration.fcm = values[fcm]
    configuration.jpush = values[jpush]
    configuration.hostNames = values[names] + configuration.hostNames
    configuration.authority = try values[authorityKey].map { try keptAuthority($0, now: io.now()) }
    configuration.knownKeys = try knownKeys(values, io)
    configuration.phones = PhoneBook(acceptsUnknownTokens: values[unknown])
    configuration.serviceAccount = try values[serviceAccount].map { try knownAccount($0) }
    configuration.jpushKeys = Dictionary(values[jpushKeys].map { ($0.key, $0.secret) }) { $1 }
    configuration.faults = [
      .development: values[faults], .production: values[faults], .fcm: values[fcmFaults],
      .jpush: values[jpushFaults],
    ]
    configuration.idleTimeout = values[idleTimeout]
    configuration.log = log
    return configuration
  }

  /// Adds the phones of `--device`.
  private static func addPhones(_ values: Parsed, to phones: PhoneBook) throws {
    for (index, token) in values[tokens].enumerated() {
      // FCM and JPush have one server for all builds.
      let platform: Platform = token.isText ? .android : .ios
      for environment in platform == .ios ? Environment.allCases : [.production] {
        try phones.add(
          NewPhone(
            name: "Phone \(index + 1)", platform: platform, environment: environment, topic: values[topic],
            token: token))
      }
    }
  }

  /// Lets phones report to an address until the task is cancelled.
  private static func report(
    _ url: String, _ phones: PhoneBook, _ pool: BlockingPool, _ log: Logger
  ) throws -> Task<Void, Never> {
    guard WebAddress.isUsable(url) else {
      throw CommandFailure.usage("--receipts must be a URL with https://, or with http:// of this machine.")
    }
    let reporter = PhoneReporter(phones, log: log) { body in
      let answer = try await pool.run { try WebTransport().post(WebRequest(url: url, body: body)) }
      guard answer.status == 200 else { throw CommandFailure("\(url) answered \(answer.status).") }
    }
    return Task { await reporter.run() }
  }

  /// Reads the certificate authority of a file, or creates one and writes the file.
  private static func keptAuthority(_ path: String, now: Date) throws -> CertificateAuthority {
    if let content = FileManager.default.contents(atPath: path) {
      do {
        let authority = try SimulatorAuthority.read(String(decoding: content, as: UTF8.self))
        guard authority.certificate.notBefore <= now, now < authority.certificate.notAfter else {
          throw CommandFailure("The CA in \(path) is not valid now. Delete the file to create a new one.")
        }
        return authority
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure("\(path) does not contain a simulator CA: \(error)")
      }
    }
    let authority = try SimulatorAuthority.make(now: now)
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CommandFailure("\(SystemError("open \(path)")). Choose another file with --ca-key.") }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    try handle.write(contentsOf: Data(SimulatorAuthority.text(authority).utf8))
    try handle.close()
    return authority
  }

  /// The signing keys whose provider tokens are accepted, by key ID; empty: all.
  private static func knownKeys(_ values: Parsed, _ io: CommandIO) throws -> [String: APNsKey] {
    guard let path = values[key] else {
      guard values[keyID] == nil, values[teamID] == nil else {
        throw CommandFailure.usage("--key-id and --team-id require --key.")
      }
      return [:]
    }
    let file = try InspectCommand.read(path: path, password: nil, io)
    guard file.kind == .apnsKey, let secret = file.privateKey else {
      throw CommandFailure("\(path) is not an APNs key (.p8).")
    }
    guard let id = values[keyID] ?? file.keyID else {
      throw CommandFailure.usage("\(path): the file name does not contain the key ID. Set it with --key-id.")
    }
    return [id: APNsKey(team: values[teamID], publicKey: secret.publicKey)]
  }

  /// The only service account that gets access tokens.
  private static func knownAccount(_ path: String) throws -> FCMServiceAccount {
    guard let content = FileManager.default.contents(atPath: path) else { throw CommandFailure("Cannot read \(path).") }
    // Not `ServiceAccount`, which requires a token URL with https: such a file names this simulator's.
    let json = try? JSONValue(parsing: content)
    guard let email = json?["client_email"]?.string, let text = json?["private_key"]?.string,
      let key = try? PrivateKey(pem: text)  // the message says what is expected
    else { throw CommandFailure("\(path) is not a service account (JSON with client_email and private_key).") }
    return FCMServiceAccount(email: email, key: key.publicKey, project: json?["project_id"]?.string)
  }

  private static func faultList(_ name: String, _ help: String, _ server: SimulatedServer) -> Option<Faults> {
    Option<Faults>(name, "list", help, default: Faults(), showing: "") { text throws(BadValue) in
      do {
        return try Faults(parsing: text, for: server)
      } catch {
        throw BadValue("is not a valid list of faults: \(error)")
      }
    }.configuration
  }

  private static func address(_ name: String, _ help: String, _ value: String) -> Option<SocketAddress?> {
    Option(name, "address", help, default: SocketAddress(value), showing: value) { text throws(BadValue) in
      guard let address = SocketAddress(text) else { throw BadValue("is not an address with a port, e.g. \(value)") }
      return address
    }.configuration
  }
}
