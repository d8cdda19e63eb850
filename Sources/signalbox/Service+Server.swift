import Console
import Foundation
import HTTPServer
import Logging
import Model
import Reactor

/// What the HTTP server of a service, or of a standby, and the console are told.
extension Service {
  static func serverConfiguration(_ listen: SocketAddress, _ options: Options) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(address: listen)
    configuration.listener = options.listener
    configuration.tls = try options.tls?.load()
    configuration.maximumConnections = options.maximumConnections
    // Of the four readers of the database: others always find one.
    configuration.requestsOfClient = 2
    let proxies = options.trustedProxies
    configuration.isProxy = { address in proxies.contains { $0.contains(address.host) } }
    let log = options.log.labelled("HTTPServer")
    configuration.warningLog = { warning in
      let (gaveWay, refused) = (warning.gaveWay, warning.refused)
      switch warning.cause {
      case .full:
        log.warning(
          "all connections are in use; idle ones are closed for new ones, see --max-connections",
          ["gave_way": gaveWay, "refused": refused])
      case .address(let address):
        log.warning(
          "one address holds half of all connections; its idle ones are closed for its new ones, see --trusted-proxy",
          ["from": address.host, "gave_way": gaveWay, "refused": refused])
      case .descriptors(let error):
        log.warning(
          "no file descriptors left; raise the open file limit (ulimit -n, LimitNOFILE)",
          ["error": "\(error)", "gave_way": gaveWay, "refused": refused])
      }
    }
    configuration.errorLog = { failure in
      log.error("request aborted", ["request": failure.requestID, "error": Redaction.masking("\(failure.error)")])
    }
    guard log.level <= .info else { return configuration }
    configuration.accessLog = { entry in
      // Leaves out the query, which can contain a sign-in link or an alias.
      let path = entry.target.map { $0[..<($0.utf8.firstIndex(of: UInt8(ascii: "?")) ?? $0.endIndex)] } ?? "-"
      log.info(
        "request",
        [
          "method": entry.method?.rawValue ?? "-", "path": Redaction.masking(String(path)), "status": entry.status,
          "bytes": entry.bytes, "ms": entry.duration.milliseconds, "from": entry.remoteAddress?.host ?? "-",
          "actor": entry.actor ?? "-", "request": entry.requestID,
        ])
    }
    return configuration
  }

  static func consoleConfiguration(_ options: Options) -> Console.Configuration {
    // The system may choose the port. Without a configured address, links use the one the browser requested.
    var configuration = Console.Configuration(
      templates: options.resources + "/Templates", publicFiles: options.resources + "/Public",
      address: options.address, version: Signalbox.version)
    configuration.trustedProxies = options.trustedProxies
    configuration.isClearOnlyForProxies = options.isClearOnlyForProxies
    configuration.passwordCost = options.passwordCost
    configuration.undoSeconds = options.undoSeconds
    configuration.isStrict = options.isStrict
    configuration.proxies = options.proxies
    configuration.isMetricsOpen = options.isMetricsOpen
    configuration.diagnose = { Doctor.quick(options.data, options.proxies, now: options.clock()) }
    configuration.sessionIdle = options.sessionIdle
    (configuration.rates, configuration.pageRate) = (options.rates, options.pageRate)
    configuration.breachedPasswords = options.breachedPasswords
    return configuration
  }

  /// The base URL of links in mails, unless `--address` sets it. A wildcard address is replaced by the host name.
  static func links(_ scheme: String, _ address: SocketAddress) -> String {
    let host = ["0.0.0.0", "::"].contains(address.host) ? ProcessInfo.processInfo.hostName : nil
    return host.map { "\(scheme)://\($0):\(address.port)" } ?? "\(scheme)://\(address)"
  }

  /// The base URL of the first link, which somebody at this machine opens. In a container its host name leads nowhere.
  var localURL: String { Self.local(url) }

  /// A URL with `localhost` in place of a wildcard address.
  static func local(_ url: String) -> String {
    for wildcard in ["://0.0.0.0:", "://[::]:"] where url.contains(wildcard) {
      return url.replacingOccurrences(of: wildcard, with: "://localhost:")
    }
    return url
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
