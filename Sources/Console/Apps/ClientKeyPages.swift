import Foundation
import HTTPServer
import Mustache
import Reactor
import Store

/// The part of an app's page with its client keys.
enum ClientKeyPages {
  static func add(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    _ = try await page.store.write {
      try ClientKey.add($0, app: app, by: page.actor, from: page.clientAddress, now: page.now)
    }
    return page.redirect(to: "/apps/\(app.id)#client-keys", flash: "client_key_added")
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    _ = try await page.store.write {
      try ClientKey.remove($0, app: app, key: page.form["key"], by: page.actor, from: page.clientAddress, now: page.now)
    }
    return page.redirect(to: "/apps/\(app.id)#client-keys", flash: "client_key_removed")
  }
}

/// The keys of an app, newest first.
struct ClientKeysView: View {
  struct Row: View {
    let key: ClientKey
    let now: Date

    static let fields: [Field<Self>] = [
      .text("key") { $0.key.key },
      .view("created") { MomentView(date: $0.key.createdAt, now: $0.now) },
      .view("used") { row in row.key.lastUsedAt.map { MomentView(date: $0, now: row.now) } },
    ]
  }

  let app: App
  let keys: [ClientKey]
  let mayChange: Bool
  let now: Date

  static let fields: [Field<Self>] = [
    .list("keys") { view in view.keys.map { Row(key: $0, now: view.now) } },
    .flag("has_keys") { !$0.keys.isEmpty },
    .flag("may_add") { $0.mayChange && $0.keys.count < ClientKey.limit },
    .flag("may_remove") { $0.mayChange },
  ]
}
