import Arguments
import Console
import Delivery
import Foundation
import Glibc
import JSON
import Logging
import OpenSSL
import Reactor
import SQLite
import Store
import Text

/// `signalbox serve`
enum ServeCommand {
  private static let listen = Option(
    "listen", "address", "The listen address; port 0 picks a free port.", default: SocketAddress("127.0.0.1:8080"),
    showing: "127.0.0.1:8080"
  ) { text throws(BadValue) in
    guard let address = SocketAddress(text) else {
      throw BadValue("is not an address with a port, e.g. 127.0.0.1:8080")
    }
    return address
  }.configuration
  private static let demo = Flag("demo", "Run the built-in simulator with a demo app and phones.").configuration
  private static let certificate = Option<String?>(
    "tls-certificate", "file", "A PEM file with the server's certificate chain. Turns on HTTPS."
  ).configuration
  private static let key = Option<String?>(
    "tls-key", "file", "A PEM file with the certificate's private key."
  ).configuration
  private static let proxies = Option(
    repeated: "trusted-proxy", "cidr",
    "A proxy whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host are trusted."
  ) { text throws(BadValue) in
    guard let range = AddressRange(text) else { throw BadValue("is not an address or a range, e.g. 10.0.0.0/8") }
    return range
  }.configuration
  private static let publicAddress = Option<String?>(
    "address", "url",
    "The console's public URL for links, e.g. https://push.example.com. Requests for other hosts are refused.",
    parseAddress
  ).configuration
  private static let connections = Option(
    "max-connections", "number", "The maximum number of connections. Idle ones are closed to make room for new ones.",
    default: 4096, showing: "4096"
  ) { text throws(BadValue) in
    guard let number = Int(text), (16...1_000_000).contains(number) else {
      throw BadValue("is not a number from 16 to 1000000")
    }
    return number
  }.configuration
  /// Bytes of a database that is checked at the start. For as long as the check takes, the log cannot be emptied.
  private static let mostChecked = 512 << 20
  /// File descriptors reserved for everything but clients: the database, providers, mail servers, watched hosts, files.
  private static let otherDescriptors = 256
  private static let metricsOpen = Flag(
    "metrics-open", "Serve /metrics without a token. Anyone can then read the names of certificates and hosts."
  ).configuration
  private static let sessionIdle = Option(
    "session-idle", "minutes", "How long a person stays signed in without using the console, up to 30 days.",
    default: 720, showing: "720, 12 hours"
  ) { text throws(BadValue) in
    guard let minutes = Int(text), (5...43_200).contains(minutes) else {
      throw BadValue("is not a number of minutes from 5 to 43200")
    }
    return minutes
  }.configuration
  private static let tokenRate = rate("token-rate", "each token", 6000)
  private static let addressRate = rate("address-rate", "each address", 12_000)
  private static let pageRate = rate(
    "page-rate", "each signed-in browser", 1200, of: "The maximum number of pages, forms, and streams")

  private static func rate(
    _ name: String, _ whose: String, _ usual: Int, of what: String = "The maximum number of JSON API calls"
  ) -> Option<Int> {
    Option(
      name, "calls",
      "\(what) per minute for \(whose); 0 for no limit. Calls from this "
        + "machine are not limited.", default: usual, showing: "\(usual)"
    ) { text throws(BadValue) in
      guard let number = Int(text), (0...10_000_000).contains(number) else {
        throw BadValue("is not a number from 0 to 10000000")
      }
      return number
    }.configuration
  }
  private static let insecure = Flag(
    "insecure", "Serve plain HTTP on an address that other machines reach. Anyone on the network can read passwords."
  ).configuration
  private static let breachedPasswords = Option<String?>(
    "breached-passwords", "file",
    "Refuse new passwords that are in this file: one SHA-1 hash and count per line, sorted by hash, as published by "
      + "Have I Been Pwned."
  ).configuration
  private static let replicated = Flag(
    "replicated", "Leave the checkpoints of the write-ahead log to Litestream, which replicates the database."
  ).configuration
  private static let standby = Option<String?>(
    "standby", "url", "Follow the replica at this URL with Litestream, and serve only after signalbox take-over."
  ).configuration
  private static let litestream = Option(
    "litestream", "file", "The path of the litestream program, for --standby.", default: "litestream"
  ).configuration

  static let command = Command<Action>(
    "serve", "Serve the console and the JSON API, and deliver pushes.",
    discussion: """
      Stops on SIGTERM and SIGINT. Running pushes continue at the next start. Under systemd it serves the socket of a \
      .socket unit in place of --listen, says when it is ready, and answers the watchdog.
      """,
    parameters: [
      CommonOptions.data.parameter, listen.parameter, demo.parameter, certificate.parameter, key.parameter,
      proxies.parameter, publicAddress.parameter, connections.parameter, metricsOpen.parameter, sessionIdle.parameter,
      tokenRate.parameter, addressRate.parameter, pageRate.parameter, breachedPasswords.parameter, insecure.parameter,
      replicated.parameter, standby.parameter, litestream.parameter, CommonOptions.resources.parameter,
      CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
      CommonOptions.allowHTTP.parameter, LogOptions.level.parameter,
      LogOptions.format.parameter,
    ]
  ) { values, io in
    let io = try io.calling(values)
    if !SecretMemory.forbidDumps() {
      io.note("core dumps could not be disabled, so a crash may write keys to disk")
    }
    let manager = try ServiceManager(io.environment)
    let address = try manager.listener.map { try Socket.adopt($0) } ?? values[listen]
    let isClear = address?.isLoopback == false && values[certificate] == nil && values[key] == nil
    let isPlain = isClear && values[proxies].isEmpty
    if isPlain && !values[insecure] {
      throw CommandFailure.usage(
        """
        Passwords would be sent unencrypted over HTTP. Set --tls-certificate and --tls-key; or --trusted-proxy if a \
        TLS proxy is in front; or --insecure in a network that you trust.
        """)
    }
    var options = try serviceOptions(values, io, manager, address, isClear: isClear)
    // Gives the log's reader one second to take the rest; with SIGTERM the process ends even if nothing is reading.
    defer { options.log.flush(within: .seconds(1)) }
    options.maximumConnections = try connections(values[connections], options.log)
    let stopped = StopSignal()
    // In a terminal SIGHUP means that it was closed; for a service it means that files have changed.
    let hangups = isatty(STDIN_FILENO) == 0 ? SignalStream(SIGHUP) : nil
    var caller: TakeOverDoor.Caller?
    if let replica = values[standby] {
      let standby = Standby(options, replica: replica, litestream: values[litestream])
      caller = try await standby.wait(manager, stopped: stopped) { address in
        options.listen = address
        io.announce(
          "in standby", address: "\(address)", text: "Signalbox \(Signalbox.version) in standby at \(address)")
      }
      guard caller != nil else { return ExitCode.done }
    }
    // A standby was ready, so the watchdog runs: to upgrade a database may take longer than it waits.
    let opening = caller.map { _ in Task { await manager.watch {} } }
    defer { opening?.cancel() }
    let service: Service
    do {
      service = try await Service(options)
      opening?.cancel()
    } catch {
      caller?.finish(.failure(error))
      guard let error = error as? SystemError else { throw error }
      throw CommandFailure.start(error, otherAddress: "\(error). Choose another address with --listen.")
    }
    if let caller {
      let (replica, now) = ("replica \(values[standby].map { Follower.place(of: $0) } ?? "")", io.now())
      try await service.store.write {
        try audit($0, "database.take_over", replica, by: actorName(of: caller.user), now: now)
      }
      caller.finish(.success("Serving at \(service.url)"))
    }
    io.announce("serving", address: service.url, text: "Signalbox \(Signalbox.version) at \(service.url)")
    if let link = try await service.console.firstStartLink(at: service.localURL) {
      io.announce(
        "to start, choose a password at this address; it works once and for 24 hours", address: link,
        text: "To start, choose a password here (the link works once and for 24 hours):\n  \(link)")
    }
    if let warning = try await service.keyWarning() { io.note(warning) }
    if let warning = options.tls?.warning { io.note(warning) }
    if isPlain { io.note("passwords are sent unencrypted over HTTP, as --insecure allows") }
    manager.isReady("Serving at \(service.url)")
    // Cancelled when the command ends.
    let reloads = hangups.map { hangups in
      Task {
        for await _ in hangups.signals {
          manager.isReloading()
          await service.reload()
          manager.isReady("Serving at \(service.url)")
        }
      }
    }
    let watch = Task { await manager.watch { await service.turn() } }
    // Reads the whole file, so it must not delay the start.
    Task { [log = options.log, path = options.data.database] in await checkDatabase(service.store, path, log) }
    // The service has begun, and its work is not its output: announcements went to standard error.
    if let failure = io.outputFailure() {
      io.note("standard output cannot be written: \(failure.cause); the server goes on")
      io.forgiveOutput()
    }
    let failure = await service.wait { await stopped.wait() }
    reloads?.cancel()
    watch.cancel()
    manager.isStopping()
    await service.stop()
    if let failure { io.complain("\(failure)") }
    return failure == nil ? ExitCode.done : ExitCode.failed
  }

  private static func serviceOptions(
    _ values: Parsed, _ io: CommandIO, _ manager: ServiceManager, _ address: SocketAddress?, isClear: Bool
  ) throws -> Service.Options {
    var options = Service.Options()
    options.data = DataDirectory(values, io, isReplicated: values[replicated])
    options.listen = address
    options.listener = manager.listener
    options.isDemo = values[demo]
    options.tls = try tls(certificate: values[certificate], key: values[key])
    options.trustedProxies = values[proxies]
    options.isClearOnlyForProxies = isClear && !values[insecure]
    options.address = values[publicAddress]
    options.isMetricsOpen = values[metricsOpen]
    options.sessionIdle = TimeInterval(values[sessionIdle] * 60)
    options.rates = (values[tokenRate], values[addressRate])
    options.pageRate = values[pageRate]
    options.breachedPasswords = try values[breachedPasswords].map { path in
      do {
        return try BreachedPasswords(path: path)
      } catch {
        throw CommandFailure("--breached-passwords: \(error)")
      }
    }
    options.resources = try Resources.find(values[CommonOptions.resources])
    options.undoSeconds = 5
    options.proxies = io.proxies
    options.steady = DeliveryEngine.steadyTime
    options.log = LogOptions.logger(values)
    return options
  }

  private static func checkDatabase(_ store: Store, _ path: String, _ log: Logger) async {
    let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    guard size <= mostChecked else {
      return log.info("the database is too large to be checked at the start; signalbox doctor checks it")
    }
    if let damage = await store.pool.damage().text {
      log.error("the database was checked", ["error": damage])
    } else {
      log.info("the database was checked and is sound")
    }
  }

  /// The requested number of connections, reduced if the file descriptor limit does not allow it.
  private static func connections(_ wanted: Int, _ log: Logger) throws -> Int {
    let limit = DescriptorLimit.raise(to: wanted + otherDescriptors)
    guard limit >= CommandFailure.fewestOpenFiles else { throw CommandFailure.fewOpenFiles(limit) }
    let possible = min(wanted, max(limit - otherDescriptors, limit / 2))
    if possible < wanted {
      log.warning(
        "fewer connections than configured; raise the open file limit (ulimit -n, LimitNOFILE)",
        ["wanted": wanted, "connections": possible, "limit": limit])
    }
    return possible
  }

  private static func tls(certificate: String?, key: String?) throws -> TLSFiles? {
    guard certificate != nil || key != nil else { return nil }
    guard let certificate, let key else {
      throw CommandFailure.usage("--tls-certificate and --tls-key must be used together.")
    }
    let files = TLSFiles(certificate: certificate, key: key)
    // Checks the files before anything is opened or created.
    _ = try files.load()
    return files
  }
}

enum Resources {
  /// The named folder; otherwise the first that contains them: the working directory, or a folder above the program.
  static func find(_ named: String?) throws -> String {
    if let named {
      guard holds(named) else {
        throw CommandFailure("\(named) does not contain Templates and Public. Correct --resources.")
      }
      return named
    }
    let here = FileManager.default.currentDirectoryPath
    // Not the first argument: a program that was found on the path is called by its name alone.
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var folder = URL(fileURLWithPath: program ?? CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
    var candidates = [here]
    while folder.path.count > 1 {
      folder = folder.deletingLastPathComponent()
      candidates += [folder.path, folder.path + "/share/signalbox"]
    }
    if let found = candidates.first(where: holds) { return found }
    throw CommandFailure("Templates and Public were not found. Set their folder with --resources.")
  }

  private static func holds(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/Templates/layout/page.mustache")
      && FileManager.default.fileExists(atPath: folder + "/Public/css/signalbox.css")
  }
}

enum LogOptions {
  static let level = Option(
    "log-level", "level", "The minimum log level.", default: LogLevel.info, showing: "info",
    parseWord(or: BadValue("is not one of \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))"))
  ).among(LogLevel.allCases.map(\.rawValue)).configuration
  static let format = Option(
    "log-format", "format", "The log format: text or json.", default: LogFormat.text, showing: "text",
    parseWord(or: BadValue("is not text or json"))
  ).among(LogFormat.allCases.map(\.rawValue)).configuration

  static func logger(_ values: Parsed) -> Logger {
    Logger(label: "signalbox", level: values[level], sink: StreamSink.standardError(values[format]))
  }
}
