import Arguments
import Console
import Delivery
import Foundation
import Logging
import OpenSSL
import Reactor

/// `signalbox serve`
enum ServeCommand {
  private static let listen = Option(
    "listen", "address", "Where to listen; port 0: any free one.", default: SocketAddress("127.0.0.1:8080"),
    showing: "127.0.0.1:8080"
  ) { text throws(BadValue) in
    guard let address = SocketAddress(text) else { throw BadValue("is not an address with a port, as 127.0.0.1:8080") }
    return address
  }
  private static let demo = Flag("demo", "With the built-in simulator, a demo app and its phones.")
  private static let certificate = Option<String?>(
    "tls-certificate", "file", "The server's certificate with its chain, PEM; then it speaks https.")
  private static let key = Option<String?>("tls-key", "file", "The certificate's private key, PEM.")
  private static let proxies = Option(
    repeated: "trusted-proxy", "cidr", "A proxy whose X-Forwarded-For and X-Forwarded-Proto are believed."
  ) { text throws(BadValue) in
    guard let range = AddressRange(text) else { throw BadValue("is not an address or a range, as 10.0.0.0/8") }
    return range
  }
  private static let address = Option<String?>(
    "address", "url", "Where people reach the console, as https://push.example.com; for links.")
  private static let metricsOpen = Flag(
    "metrics-open", "Answers /metrics without a token: names of certificates and hosts are then everybody's.")
  private static let resources = Option<String?>(
    "resources", "dir", "The folder with Templates and Public (default: found beside the program).")

  static let command = Command<Action>(
    "serve", "Serves the console and the JSON API, and delivers pushes.",
    discussion: "Stops on SIGTERM and SIGINT; a push that is under way then goes on at the next start.",
    parameters: [
      CommonOptions.data.parameter, listen.parameter, demo.parameter, certificate.parameter, key.parameter,
      proxies.parameter, address.parameter, metricsOpen.parameter, resources.parameter, LogOptions.level.parameter,
      LogOptions.format.parameter,
    ]
  ) { values, io in
    if !SecretMemory.forbidDumps() {
      io.note("a crash may write keys to a core dump: the system does not let us forbid it")
    }
    var options = Service.Options()
    options.data = DataDirectory(values, io)
    options.listen = values[listen]
    options.isDemo = values[demo]
    options.tls = try tls(certificate: values[certificate], key: values[key])
    options.trustedProxies = values[proxies]
    options.address = values[address]
    options.isMetricsOpen = values[metricsOpen]
    options.resources = try Resources.find(values[resources])
    options.undoSeconds = 5
    options.steady = DeliveryEngine.steadyTime
    options.log = LogOptions.logger(values)
    let stopped = StopSignal()
    let service: Service
    do {
      service = try await Service(options)
    } catch let error as SystemError {
      throw CommandFailure("\(error). Choose another address with --listen.")
    }
    io.print("Signalbox \(Signalbox.version) at \(service.url)")
    if let path = try await service.console.firstStartPath() {
      io.print("The first time, choose a password here (works once, for a day):\n  \(service.url)\(path)")
    }
    if let warning = try await service.keyWarning() { io.note(warning) }
    if !service.address.isLoopback && options.tls == nil && options.trustedProxies.isEmpty {
      io.note(
        "passwords travel readable over plain http: give --tls-certificate, or --trusted-proxy for a proxy before it")
    }
    await stopped.wait()
    await service.stop()
    return ExitCode.done
  }

  private static func tls(certificate: String?, key: String?) throws -> TLSContext? {
    guard certificate != nil || key != nil else { return nil }
    guard let certificate, let key else {
      throw CommandFailure.usage("--tls-certificate and --tls-key belong together.")
    }
    func read(_ path: String) throws -> [UInt8] {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw CommandFailure("\(path) cannot be read.")
      }
      return Array(data)
    }
    let identity = TLSIdentity(certificateChainPEM: try read(certificate), privateKeyPEM: try read(key))
    do {
      return try TLSContext.server(identity: identity, alpn: ["http/1.1"])
    } catch {
      throw CommandFailure("\(certificate) and \(key): \(error)")
    }
  }
}

/// Where templates and public files are.
enum Resources {
  /// The folder that was named; else the first that holds them: here, or above the program.
  static func find(_ named: String?) throws -> String {
    if let named {
      guard holds(named) else { throw CommandFailure("\(named) has no Templates and Public. Correct --resources.") }
      return named
    }
    let here = FileManager.default.currentDirectoryPath
    var folder = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
    var candidates = [here]
    while folder.path.count > 1 {
      folder = folder.deletingLastPathComponent()
      candidates += [folder.path, folder.path + "/share/signalbox"]
    }
    if let found = candidates.first(where: holds) { return found }
    throw CommandFailure("Templates and Public were not found. Name their folder with --resources.")
  }

  private static func holds(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/Templates/layout.mustache")
      && FileManager.default.fileExists(atPath: folder + "/Public/css/console.css")
  }
}

/// How much is logged, and how.
enum LogOptions {
  static let level = Option(
    "log-level", "level", "Least weight of what is logged.", default: LogLevel.info, showing: "info"
  ) { text throws(BadValue) in
    guard let level = LogLevel(rawValue: text) else {
      throw BadValue("is none of \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return level
  }
  static let format = Option(
    "log-format", "format", "How lines look: text or json.", default: LogFormat.text, showing: "text"
  ) { text throws(BadValue) in
    switch text {
    case "text": return .text
    case "json": return .json
    default: throw BadValue("is neither text nor json")
    }
  }

  static func logger(_ values: Parsed) -> Logger {
    Logger(label: "signalbox", level: values[level], sink: StreamSink.standardError(values[format]))
  }
}
