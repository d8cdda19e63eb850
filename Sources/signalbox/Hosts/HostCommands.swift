import Arguments
import Certificates
import Foundation
import JSON
import Model
import Reactor
import SQLite
import Store
import Text

enum HostCommands {
  private static let host = Argument<String>(
    "host", "The host, e.g. mail.example.com, mail.example.com:587, https://example.com, or smtp://mail.example.com.")
  private static let id = Argument<Int64>("id", "The host's ID, as shown by hosts.", parseID)
  private static let start = Option<HostAddress.StartProtocol?>(
    "protocol", "protocol", "The protocol: tls, smtp, imap, pop3, or postgres (default: by port).",
    parseWord(
      or: BadValue("is not one of \(HostAddress.StartProtocol.allCases.map(\.rawValue).joined(separator: ", "))")))
  private static let serverName = Option<String?>("server-name", "name", "The TLS server name (default: the host).")
  private static let note = Option("note", "text", "A note.", default: "")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let all: [Command<Action>] = [
    Command(
      "watch", "Watch a host's certificate and check it now.",
      discussion: "Exit code 1 if the host presents no certificate. It is watched anyway.",
      parameters: [
        host.parameter, start.parameter, serverName.parameter, note.parameter, CommonOptions.proxy.parameter,
        CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
      ] + common, action: watch),
    Command("hosts", "List watched hosts and their last results.", parameters: common, action: list),
    Command(
      "unwatch", "Stop watching a host.", parameters: [id.parameter, CommonOptions.data.parameter],
      action: unwatch),
  ]

  private static let watch: Action = { values, io in
    let io = try io.proxied(values)
    let now = io.now()
    let address: HostAddress
    do throws(Problems) {
      address = try HostAddress(parsing: values[host], startProtocol: values[start], serverName: values[serverName])
      if let problem = HostNote.problem(values[note]) { throw Problems([problem]) }
    } catch {
      let names = ["host": "<host>", "port": "<host>", "server_name": "--server-name", "note": "--note"]
      throw error.failure(names, isUsage: true)
    }
    let store = try DataDirectory(values, io).open(creating: true, now: now)
    defer { store.close() }
    let text = values[note]
    let added = try store.writeSync { database in
      if let known = try WatchedHost.find(database, address) {
        throw CommandFailure("\(known.name) is already watched as host \(known.id).")
      }
      let added = try WatchedHost.add(database, address, note: text, by: commandActor, now: now)
      try audit(database, "host.create", "host \(address)", now: now)
      return added
    }
    let pool = BlockingPool(name: "probe", threads: 1)
    defer { pool.stop() }
    let watch = HostWatch(store, clock: io.now, look: HostWatch.look(try HostProbe(proxies: io.proxies), on: pool))
    let seen = try await watch.look(at: added.id)
    if values[CommonOptions.json] {
      io.print(HostAnswer(seen, now: now).prettyJSON)
    } else {
      io.say("Watching host \(seen.id): \(seen.name), \(words(seen, now, io)).")
      for finding in HostFinding.all(seen, now: now) {
        io.print("  " + singleLine(io.text("\(finding.problem.withoutField)")))
      }
    }
    return seen.failure == nil ? ExitCode.done : ExitCode.failed
  }

  private static let list: Action = { values, io in
    let now = io.now()
    let (hosts, taken) = try readStore(values, io) { (try WatchedHost.all($0), try Acknowledgement.all($0, now: now)) }
    io.hint(ifEmpty: hosts, "no watched hosts yet; add one: signalbox certificates watch <host>")
    let table = io.table("ID", "HOST", "PROTOCOL", "EXPIRES", "LAST CHECK", "RESULT")
    let answer = { (host: WatchedHost) in
      HostAnswer(host, taken: taken[.init(key: host.key, fingerprint: host.seen?.sha256)], now: now)
    }
    io.print(hosts, as: answer, values, in: table) { host in
      [
        "\(host.id)", host.name, host.address.startProtocol.rawValue,
        io.expires(notAfter: host.seen?.notAfter, now: now) ?? "–", host.probedAt?.text ?? io.text("never"),
        words(host, now, io),
      ]
    }
    return ExitCode.done
  }

  private static func words(_ host: WatchedHost, _ now: Date, _ io: CommandIO) -> String {
    if let failure = host.failure { return failure.code.rawValue }
    guard let seen = host.seen else { return io.text("nothing yet") }
    let grave = HostFinding.all(host, now: now).filter(\.isGrave).reduce(into: [Substring]()) { words, finding in
      // A host and its issuer can have expired both.
      let word = finding.problem.code.split(separator: ".").last ?? ""
      if !words.contains(word) { words.append(word) }
    }
    guard grave.isEmpty else { return grave.joined(separator: ", ") }
    return io.text(seen.notAfter.map { "until \($0.text)" } ?? "never expires")
  }

  private static let unwatch: Action = { values, io in
    let now = io.now()
    try writeStore(values, io) { database in
      guard let host = try WatchedHost.find(database, id: values[id]),
        try WatchedHost.delete(database, id: host.id)
      else {
        throw CommandFailure("Watched host \(values[id]) not found. See: signalbox certificates hosts")
      }
      try audit(
        database, "host.delete", "host \(host.address)", ["before": host.address.audited, "after": .null], now: now)
    }
    io.say("Stopped watching host \(values[id]).")
    return ExitCode.done
  }
}
