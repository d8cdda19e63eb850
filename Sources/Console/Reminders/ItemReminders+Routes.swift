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
      let audit = page.audit(noun.taking, "\(noun.rawValue) \(id)", ["until": .time(until)])
      let taken = try await page.store.write { database in
        try Renewable.take(database, noun, id: id, until: until, audit: audit, now: now)
      }
      // The page shows no form for an item that cannot be acknowledged.
      guard taken != nil else { throw PageError(.conflict, "refused") }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "taken_on")
    }
    routes.page(.post, "/\(noun.path)/:id/unacknowledge", role: .operator) { page in
      let (id, now) = (try page.id(), page.now)
      let audit = page.audit(noun.givingBack, "\(noun.rawValue) \(id)")
      _ = try await page.store.write { database in
        try Renewable.giveBack(database, noun, id: id, audit: audit, now: now)
      }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "given_back")
    }
  }
}
