import HTTPServer
import JSON
import Model
import Mustache
import Store

/// `/pushes/:uid/remove`: deletes a push from the history.
enum PushRemovePages {
  /// Deliveries removed at a time, so that others write in between.
  private static let step = 2000

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes/:uid/remove", role: .admin) { page in
      let uid: String = try page.request.parameter("uid")
      let (push, app, mayRemove) = try await page.store.read { database in
        let push = try PushPages.find(database, uid: uid)
        return (push, try App.get(database, id: push.appID), try Trim.mayRemove(database, push: push.id))
      }
      return page.answer(PushRemoveView(push: push, app: app.name, mayRemove: mayRemove, texts: page.texts))
    }
    routes.page(.post, "/pushes/:uid/remove", role: .admin) { page in
      let push = try await PushPages.find(page)
      let now = page.now
      let app = try await page.store.read { try App.find($0, id: push.appID) }
      let audit = page.audit("push.delete", "push \(push.uid)", ["app": .string(app?.bundleID ?? "")])
      var found = try await page.store.write { database in
        let found = try Trim.remove(database, push: push.id, limit: step, now: now)
        if found != nil { try AuditEntry.add(database, audit, now: now) }
        return found
      }
      while let last = found, !last.isDone {
        found = try await page.store.write { try Trim.remove($0, push: push.id, limit: step, now: now) }
      }
      return found == nil
        ? page.redirect(to: "/pushes/\(push.uid)/remove") : page.redirect(to: "/pushes", flash: "push_removed")
    }
  }
}

/// Asks before a push is deleted.
struct PushRemoveView: PageView {
  static let template = "pushes/remove"
  static let section: Section? = .pushes

  let push: Push
  let app: String
  /// Whether it has ended.
  let mayRemove: Bool
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("name") { $0.push.heading($0.texts) },
    .text("href") { "/pushes/\($0.push.uid)" },
    // Several pushes may have the same title.
    .text("app") { $0.app },
    .flag("production") { $0.push.environment == .production },
    .text("audience") { $0.push.draft?.audience.text($0.texts) ?? "" },
    .view("created") { MomentView(date: $0.push.createdAt) },
    .text("outcomes") { $0.push.counts.text($0.texts) },
    .flag("may_remove") { $0.mayRemove },
  ]
}
