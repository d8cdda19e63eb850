import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import Reminders
import SQLite
import Store

extension ItemReminders {
  /// - Parameter show: renders the item's page with the form's errors.
  static func add(
    _ noun: Renewable.Noun, to routes: inout ConsoleRouter,
    show: @escaping @Sendable (PageContext, FieldErrors) async throws -> Response
  ) {
    routes.page(.post, "/\(noun.path)/:id/acknowledge", role: .operator) { page in
      let (id, now) = (try page.id(), page.now)
      let item = try await page.store.read { try Renewable.get($0, noun, id: id) }
      guard let until = until(page.form["until"], item, now: now) else {
        // The page shows no form without a limit.
        guard let limit = item.limit(now: now) else { throw PageError(.conflict, "refused") }
        var errors = FieldErrors()
        errors.add("until", page.texts("reminders.until_wrong", ["date": page.texts.day(limit)]))
        return try await show(page, errors)
      }
      let taken = try await page.store.write { try Renewable.take($0, noun, id: id, until: until, for: page) }
      // The page shows no form for an item that cannot be acknowledged.
      guard taken != nil else { throw PageError(.conflict, "refused") }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "taken_on")
    }
    routes.page(.post, "/\(noun.path)/:id/unacknowledge", role: .operator) { page in
      let id = try page.id()
      _ = try await page.store.write { try Renewable.giveBack($0, noun, id: id, for: page) }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "given_back")
    }
  }
}
