import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The pages of hosts whose certificate is watched.
enum HostPages {
  static let views: [any PageView.Type] = [HostView.self, HostRemovalView.self]

  static func add(to routes: inout ConsoleRouter) {
    // Admins only: adding a host makes this machine connect to any address that it can reach.
    routes.page(.post, "/hosts", role: .admin, create)
    routes.page(.get, "/hosts/:id") { page in try await show(page, try await host(page), nil, FieldErrors()) }
    routes.page(.post, "/hosts/:id", role: .admin, update)
    routes.page(.post, "/hosts/:id/probe", role: .operator, probe)
    ItemReminders.add(.host, to: &routes) { page, errors in
      try await show(page, try await host(page), nil, errors)
    }
    routes.page(.get, "/hosts/:id/remove", role: .admin) { page in
      page.answer(HostRemovalView(host: try await host(page)))
    }
    routes.page(.post, "/hosts/:id/remove", role: .admin, remove)
  }

  private static func host(_ page: PageContext) async throws -> WatchedHost {
    let id = try page.id()
    guard let host = try await page.store.read({ try WatchedHost.find($0, id: id) }) else {
      throw PageError.notFound("host", list: "/certificates?kind=host")
    }
    return host
  }

  // MARK: Adding

  private static func create(_ page: PageContext) async throws -> Response {
    let host: WatchedHost
    do {
      let form = try HostForm(page.form)
      host = try await page.store.write { database in
        guard try WatchedHost.find(database, form.address) == nil else {
          throw Problems([Problem("host", HostMessage.duplicate)])
        }
        let host = try WatchedHost.add(database, form.address, note: form.note, by: page.actor, now: page.now)
        try page.record(database, "host.create", "host \(form.address)", form.address.audited)
        return host
      }
    } catch let problems as Problems {
      return try await CertificatePages.index(page, watch: FieldErrors(problems, page.texts))
    }
    try await page.console.hosts.look(at: host.id)
    return page.redirect(to: "/\(host.key)", flash: "host_watched")
  }

  // MARK: One host

  private static func show(
    _ page: PageContext, _ host: WatchedHost, _ form: Form?, _ errors: FieldErrors
  ) async throws -> Response {
    let now = page.now
    let (history, reminders) = try await page.store.read { database in
      (try HostEvent.list(database, host: host.id), try ItemReminders(database, Renewable(host), now: now))
    }
    let form =
      form
      ?? Form([
        ("host", "\(host.address)"), ("protocol", host.address.startProtocol.rawValue),
        ("server_name", host.address.serverName == host.address.host ? "" : host.address.serverName),
        ("note", host.note),
      ])
    return page.answer(HostView(host, history, reminders, form: form, errors: errors, page), status: errors.status)
  }

  private static func update(_ page: PageContext) async throws -> Response {
    let host = try await host(page)
    do {
      // As a browser sends it back.
      let form = try HostForm(page.form, stored: Form([("note", host.note)])["note"])
      try await page.store.write { database in
        if let other = try WatchedHost.find(database, form.address), other.id != host.id {
          throw Problems([Problem("host", HostMessage.duplicate)])
        }
        try WatchedHost.update(database, id: host.id, form.address, note: form.note)
        try page.record(
          database, "host.update", "host \(host.id)",
          ["before": host.address.audited, "after": form.address.audited])
      }
      if form.address != host.address { try await page.console.hosts.look(at: host.id) }
    } catch let problems as Problems {
      return try await show(page, host, page.form, FieldErrors(problems, page.texts))
    }
    return page.redirect(to: "/\(host.key)", flash: "host_saved")
  }

  private static func probe(_ page: PageContext) async throws -> Response {
    let host = try await page.console.hosts.look(at: try await host(page).id)
    return page.redirect(to: "/\(host.key)", flash: host.failure == nil ? "host_seen" : "host_blind")
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let host = try await host(page)
    try await page.store.write { database in
      try WatchedHost.delete(database, id: host.id)
      try page.record(
        database, "host.delete", "host \(host.address)", ["before": host.address.audited, "after": .null])
    }
    return page.redirect(to: "/certificates?kind=host", flash: "host_removed")
  }
}
