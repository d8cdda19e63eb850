import Foundation
import Glibc
import Push
import Reactor
import SQLite
import Store

extension Doctor {
  /// How long a server has to accept a connection.
  private static let patience: Int32 = 5000

  /// Whether each server that credentials name can be found and reached; Apple's two if there is none.
  func reach() -> [Finding] {
    endpoints().map { reach(host: $0.host, port: $0.port) }
  }

  private struct Server: Hashable {
    let host: String
    let port: UInt16
  }

  private func endpoints() -> [Server] {
    let apple = [Environment.production: "api.push.apple.com", .development: "api.sandbox.push.apple.com"]
    var servers: [Server] = []
    for credential in credentials() {
      let parts = credential.endpoint.split(separator: ":")
      if credential.endpoint == "apple", let host = apple[credential.environment] {
        servers.append(Server(host: host, port: 443))
      } else if parts.count == 2, let port = UInt16(parts[1]) {
        servers.append(Server(host: String(parts[0]), port: port))
      }
    }
    if servers.isEmpty { servers = apple.values.sorted().map { Server(host: $0, port: 443) } }
    var seen: Set<Server> = []
    return servers.filter { seen.insert($0).inserted }
  }

  /// None if they cannot be read: what is wrong with the database is told elsewhere.
  private func credentials() -> [Credential] {
    guard directory.exists, let database = try? Database(path: directory.database, mode: .reader) else { return [] }
    defer { database.close() }
    return (try? Credential.all(database)) ?? []
  }

  private func reach(host: String, port: UInt16) -> Finding {
    let subject = "\(host):\(port)"
    do {
      let addresses = try Socket.resolve(host: host, port: port)
      var last = "no answer"
      for address in addresses {
        if let problem = try connect(to: address) {
          last = "\(address): \(problem)"
        } else {
          return Finding(subject: subject, level: .ok, message: "reached at \(address)")
        }
      }
      return Finding(
        subject: subject, level: .error, message: last,
        remedy: "Let the firewall pass TCP to \(subject), or try from another network.")
    } catch {
      return Finding(
        subject: subject, level: .error, message: "\(error)", remedy: "Look at /etc/resolv.conf and the network.")
    }
  }

  /// - Returns: why not; nil if it was accepted.
  private func connect(to address: SocketAddress) throws -> String? {
    let descriptor: Int32
    do { descriptor = try Socket.connect(to: address) } catch { return "\(error)" }
    defer { close(descriptor) }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, Self.patience) == 1 else { return "no answer within \(Self.patience / 1000) s" }
    return Socket.pendingError(of: descriptor).map { "\($0)" }
  }
}
