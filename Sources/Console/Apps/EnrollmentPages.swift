import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import QRCode
import Reactor
import SQLite
import Store

/// `/apps/:id/phones/…`: a phone registers with a key of its own, which it gets as a QR code.
enum EnrollmentPages {
  static let views: [any PageView.Type] = [EnrollmentView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/apps/:id/phones", role: .operator) { page in
      let app = try await AppPages.find(page)
      let key = try await page.store.write {
        try ClientKey.add(
          $0, app: app, by: page.actor, from: page.clientAddress, for: ClientKey.enrollmentTime, now: page.now)
      }
      return page.redirect(to: "/apps/\(app.id)/phones/\(key.key)")
    }
    routes.page(.get, "/apps/:id/phones/:uid", role: .operator) { page in
      let (app, text) = (try await AppPages.find(page), page.request.parameters["uid"] ?? "")
      let found = try await page.store.read { database in
        try ClientKey.find(database, key: text).map { key in
          (key, try key.deviceID.flatMap { try Device.find(database, id: $0) })
        }
      }
      guard let (key, device) = found, key.appID == app.id, let end = key.expiresAt else {
        throw PageError.notFound("app", list: "/apps/\(app.id)")
      }
      return page.answer(
        EnrollmentView(app: app, key: key, device: device, end: end, address: page.address, now: page.now))
    }
  }
}

struct EnrollmentView: PageView {
  static let template = "apps/phone"
  static let section: Section? = .apps

  let app: App
  let key: ClientKey
  /// The phone that registered with the key.
  let device: Device?
  let end: Date
  /// The console's public address.
  let address: String
  let now: Date

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .flag("waiting") { $0.device == nil && !$0.isOver },
    .flag("over") { $0.device == nil && $0.isOver },
    .view("device") { view in
      view.device.map { LinkView(href: "/pushes/new?device=\($0.id)", label: $0.heading) }
    },
    .view("end") { MomentView(date: $0.end, now: $0.now) },
    .text("link") { $0.link },
    .view("code") { view in QRSymbol(view.link).map { SymbolView(symbol: $0) } },
    .text("command") { view in
      let body = #"{"platform":"ios","environment":"development","token":"…"}"#
      return "curl '\(view.address)/notificationtokenupload' --header 'Authorization: Bearer \(view.key.key)' "
        + "--json '\(body)'"
    },
  ]

  private var isOver: Bool { end <= now }

  private var link: String {
    let server = ConsoleRouter.escaped(address)
    return "signalbox://register?server=\(server)&app=\(ConsoleRouter.escaped(app.bundleID))&key=\(key.key)"
  }
}

/// A QR code as an SVG.
struct SymbolView: View {
  let symbol: QRSymbol

  static let fields: [Field<Self>] = [.number("side") { $0.symbol.side }, .text("path") { $0.symbol.path }]
}
