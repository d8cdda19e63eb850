import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/hosts`.
enum HostsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/hosts", list)
    routes.call(.post, "/hosts", role: .admin, scope: .certificates, create)
    routes.call(.get, "/hosts/:id", role: .viewer, scope: .read) { call in
      try await call.read { try json($0, try WatchedHost.get($0, id: call.id()), now: call.now) }
    }
    routes.call(.patch, "/hosts/:id", role: .admin, scope: .certificates, update)
    routes.call(.delete, "/hosts/:id", role: .admin, scope: .certificates, delete)
    routes.call(.post, "/hosts/:id/probe", role: .operator, scope: .certificates, takesBody: false) { call in
      let id = try call.id()
      let host = try await call.console.hosts.look(at: id)
      return try await call.read { try json($0, host, now: call.now) }
    }
  }

  private static func list(_ call: APIContext) async throws -> Response {
    let (limit, cursor) = try APIQuery.page(call.request)
    var filter = ExpiryList.Filter(now: call.now)
    filter.kind = .host
    let list = filter
    return try await call.read { database in
      try ExpiryList.page(database, list, cursor: cursor, limit: limit).map { item -> HostAnswer? in
        guard case .host(let host) = item else { return nil }
        return HostAnswer(host, taken: try taken(database, host, call.now), now: call.now)
      }
    }
  }

  private static func json(_ database: Database, _ host: WatchedHost, now: Date) throws -> HostAnswer {
    HostAnswer(
      host, history: try HostEvent.list(database, host: host.id), taken: try taken(database, host, now), now: now)
  }

  private static func taken(_ database: Database, _ host: WatchedHost, _ now: Date) throws -> Acknowledgement? {
    try Acknowledgement.find(database, Renewable(host).subject, now: now)
  }

  private struct Fields {
    let host: String?
    let port: Int?
    let start: HostAddress.StartProtocol?
    let serverName: String?
    let note: String?

    init(_ body: JSONValue, required: Bool) throws {
      let fields = JSONFields(body)
      host = fields.string("host", required: required, limit: .characters(2048))
      port = fields.integer("port", in: 1...65_535)
      start = fields.choice("protocol", as: HostAddress.StartProtocol.self)
      serverName = fields.string("server_name", limit: .characters(253))
      note = fields.string("note", limit: .characters(HostNote.limit))
      try fields.finish()
    }
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = try Fields(body, required: true)
    let form = try HostForm(
      host: fields.host ?? "", startProtocol: fields.start?.rawValue ?? "", serverName: fields.serverName ?? "",
      note: fields.note ?? "", port: fields.port.flatMap { UInt16(exactly: $0) })
    let idempotency = try Idempotency(call, content: Array(body.data()))
    let (answer, added) = try await call.store.write { database in
      var added: WatchedHost?
      let answer = try idempotency.answer(database) {
        let host = try WatchedHost.add(database, form.address, note: form.note, by: call.actor, now: call.now)
        try call.record(database, "host.create", "host \(form.address)", form.address.audited)
        added = host
        return Idempotency.Answer(
          status: .created, json: try json(database, host, now: call.now), location: "/api/v1/\(host.key)")
      }
      return (answer, added)
    }
    guard let added, let seen = try await seen(added.id, call) else { return answer.response }
    return APIContext.answer(seen, status: .created, location: "/api/v1/\(added.key)")
  }

  /// The host after a first check, as its page makes one; nil: the console is stopping, and the host is checked later.
  private static func seen(_ id: Int64, _ call: APIContext) async throws -> HostAnswer? {
    do {
      let host = try await call.console.hosts.look(at: id)
      return try await call.store.read { try json($0, host, now: call.now) }
    } catch is CancellationError {
      return nil
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = try Fields(body, required: false)
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let id = try call.id()
    let (answer, isMoved) = try await call.store.write { database in
      let host = try WatchedHost.get(database, id: id)
      var address = host.address
      if fields.host != nil || fields.port != nil || fields.start != nil || fields.serverName != nil {
        address = try HostAddress(
          parsing: fields.host ?? address.host, startProtocol: fields.start ?? address.startProtocol,
          serverName: fields.serverName
            ?? (fields.host == nil || address.serverName != address.host ? address.serverName : nil),
          port: fields.port.flatMap { UInt16(exactly: $0) } ?? (fields.host == nil ? address.port : nil))
      }
      let changed = try WatchedHost.update(database, id: id, address, note: fields.note ?? host.note)
      try call.record(
        database, "host.update", "host \(id)", ["before": host.address.audited, "after": changed.address.audited])
      return (try json(database, changed, now: call.now), changed.address != host.address)
    }
    return APIContext.answer(isMoved ? try await seen(id, call) ?? answer : answer)
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    try await call.store.write { database in
      let host = try WatchedHost.get(database, id: id)
      try WatchedHost.delete(database, id: id)
      try call.record(
        database, "host.delete", "host \(host.address)", ["before": host.address.audited, "after": .null])
    }
    return APIContext.nothing
  }
}
