import Delivery
import Foundation
import HTTPServer
import Model
import Mustache
import Providers
import SQLite
import Store

/// `/devices/:id/jpush`: the page of a device registered with JPush, with what JPush knows of it.
enum JPushDevicePage {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/devices/:id/jpush") { page in try await DevicePage.show(page, jpush: try await look(page)) }
    routes.page(.post, "/devices/:id/jpush", role: .operator) { page in
      guard let device = try await device(page) else { throw PageError.notFound("device", list: "/devices") }
      do {
        _ = try await page.console.engine.jpush.align(device, by: page.author)
        return page.redirect(to: "/devices/\(device.id)/jpush", flash: "jpush_aligned")
      } catch {
        let problem = try page.trouble(error)
        return try await DevicePage.show(
          page, jpush: JPushDeviceView(device: device, problem: problem, mayChange: page.may(.operator)))
      }
    }
  }

  /// Nil: it is not registered with JPush.
  private static func device(_ page: PageContext) async throws -> Device? {
    let id = try page.id()
    let device = try await page.store.read { try Device.find($0, id: id) }
    return device.flatMap { $0.provider == .jpush ? $0 : nil }
  }

  private static func look(_ page: PageContext) async throws -> JPushDeviceView? {
    guard let device = try await device(page) else { return nil }
    var view = JPushDeviceView(device: device, mayChange: page.may(.operator))
    do {
      view.known = try await page.console.engine.jpush.device(device)
    } catch {
      view.problem = try page.trouble(error)
    }
    return view
  }
}

/// What JPush knows of a device, on its page.
struct JPushDeviceView: View {
  let device: Device
  /// Nil: JPush was not asked, or gave no answer.
  var known: JPushDevice?
  /// Why there is no answer, or no change.
  var problem: String?
  let mayChange: Bool

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.device.id)) },
    .optional("problem") { $0.problem },
    .view("known") { view in view.known.map { JPushKnownView(known: $0, mayChange: view.mayChange) } },
  ]
}

struct JPushKnownView: View {
  let known: JPushDevice
  let mayChange: Bool

  static let fields: [Field<Self>] = [
    .text("own_alias") { $0.known.ownAlias ?? "–" },
    .text("jpush_alias") { $0.known.alias ?? "–" },
    .flag("other_alias") { $0.known.hasOtherAlias },
    .list("own_tags") { $0.known.ownTags },
    .list("jpush_tags") { $0.known.tags },
    .flag("other_tags") { $0.known.tags != $0.known.ownTags },
    .optional("mobile") { $0.known.mobile },
    .flag("same") { $0.known.isSame },
    .flag("may_align") { $0.mayChange && !$0.known.isSame },
  ]
}
