import Certificates
import Foundation
import JSON
import Model
import SQLite
import Store

/// Watched hosts as they are after some looks.
enum HostSamples {
  static func sighting(
    _ name: String = "mail.example.com", days: Double = 20, sha256: String = "AB:CD", trust: String = "trusted"
  ) -> HostSighting {
    let noon = ConsoleScene.noon
    return HostSighting(
      address: "192.0.2.1:587", tlsVersion: "TLSv1.3", subject: "CN=\(name)", issuer: "CN=R11", serial: "01FF",
      sha256: sha256, names: [name], notBefore: noon - 86_400,
      chain: [
        .init(subject: name, sha256: sha256, notAfter: noon + (days + 30) * 86_400),
        .init(subject: "R11", sha256: "EE:FF", notAfter: noon + days * 86_400),
      ], trust: trust, nameMatches: true)
  }

  /// One that is fine, one that fails, one that nothing is known of.
  static func add(_ database: Database) throws {
    let noon = ConsoleScene.noon
    for (number, name) in ["mail.example.com", "down.example.com", "new.example.com"].enumerated() {
      let host = try WatchedHost.add(database, HostAddress(host: name, port: 443), by: "lin", now: noon - 86_400)
      if number < 2 {
        try WatchedHost.note(
          database, id: host.id, at: host.address, .success(sighting(name)), now: noon - 7200)
      }
      if number == 1 {
        try WatchedHost.note(
          database, id: host.id, at: host.address, .failure(HostFailure(.refused, detail: "nobody")), now: noon - 60)
      }
    }
  }

  /// What a hostile server may have shown.
  static func add(_ database: Database, hostile attack: String, long: String) throws {
    let noon = ConsoleScene.noon
    let host = try WatchedHost.add(
      database, HostAddress(host: attack, port: 1, serverName: attack, startProtocol: .smtp), note: long, by: attack,
      now: noon)
    let seen = HostSighting(
      address: attack, tlsVersion: attack, subject: long, issuer: attack, serial: attack, sha256: attack,
      names: [attack, long], notBefore: noon, chain: [.init(subject: long, sha256: attack, notAfter: noon)],
      trust: attack, nameMatches: false)
    try WatchedHost.note(database, id: host.id, at: host.address, .success(seen), now: noon)
    try WatchedHost.note(
      database, id: host.id, at: host.address, .failure(HostFailure(.notTLS, detail: long)), now: noon)
  }
}
