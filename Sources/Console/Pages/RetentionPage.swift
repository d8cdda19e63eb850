import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/settings/retention`: how long what is kept, and what a change would remove before it does.
enum RetentionPage {
  private static let names = RetentionPolicy.fields.map(\.name)
  /// Counting what is due reads a row for each push that is too old: seconds for a million of them.
  static let patience = Duration.seconds(5)

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/retention", role: .admin) { page in
      let policy = try await page.store.read { try RetentionPolicy.find($0) }
      let form = Form(RetentionPolicy.fields.map { ($0.name, String(policy[keyPath: $0.value])) })
      return try await show(page, form, FieldErrors())
    }
    routes.page(.post, "/settings/retention", role: .admin) { page in try await save(page) }
  }

  private static func show(_ page: PageContext, _ form: Form, _ errors: FieldErrors) async throws -> Response {
    let (now, texts) = (page.now, page.texts)
    let (policy, removed, due) = try await page.store.read(limit: patience) { database in
      let policy = try RetentionPolicy.find(database)
      return (policy, try TrimmedRows.last(database), try Trim.due(database, policy, now: now))
    }
    return try page.page(
      "settings/retention", .settings,
      [
        "fields": .list(
          RetentionPolicy.fields.map { field in
            [
              "name": .string(field.name), "label": .string(texts("retention.\(field.name)")),
              "hint": .string(texts("retention.\(field.name)_hint")), "value": .string(form.raw(field.name)),
              "error": .string(errors[field.name]),
              "usual": .string(texts("retention.usual", count: RetentionPolicy()[keyPath: field.value])),
            ]
          }),
        "problem": .string(errors.isEmpty ? "" : errors.others(names) ?? texts("retention.nothing_changed")),
        "due_text": .string(due.isEmpty ? texts("retention.nothing_due") : ""), "any_due": .bool(!due.isEmpty),
        "due": .list(lines(due, policy, texts)),
        "last": .string(
          removed.map { texts("retention.last", ["date": $0.at.utcText, "rows": $0.rows.grouped]) } ?? ""),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  /// What goes, one line a kind.
  private static func lines(_ due: Trim.Due, _ policy: RetentionPolicy, _ texts: Texts) -> [Value] {
    Trim.Kind.allCases.filter { due[$0] > 0 }.map { kind in
      let pushes = texts("retention.of_pushes", count: due.pushesWithDetails)
      return .string(texts("retention.rows.\(kind.rawValue)", count: due[kind], ["of_pushes": pushes]))
    }
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let (form, now, texts) = (page.form, page.now, page.texts)
    var (policy, problems) = (RetentionPolicy(), [Problem]())
    for field in RetentionPolicy.fields {
      // As people write: 1 000 or 1,000.
      let digits = form[field.name].filter { !$0.isWhitespace && $0 != "," }
      if let days = Int(digits), digits.allSatisfy(\.isNumber) {
        policy[keyPath: field.value] = days
      } else {
        problems.append(RetentionPolicy.outOfRange(field.name))
      }
    }
    if problems.isEmpty { problems = policy.problems }
    guard problems.isEmpty else { return try await show(page, form, FieldErrors(Problems(problems), texts)) }
    let chosen = policy
    let (before, due) = try await page.store.read(limit: patience) { database in
      (try RetentionPolicy.find(database), try Trim.due(database, chosen, now: now))
    }
    // Asked only for what this change removes: what ends by itself goes in any case.
    if policy != before, Trim.Kind.settable.contains(where: { due[$0] > 0 }), form["confirmed"] != confirmation(due) {
      return try confirm(page, policy, due)
    }
    let audit = page.audit("retention.update", "retention", policy.json)
    if policy != before {
      try await page.store.write { database in
        try chosen.save(database)
        try AuditEntry.add(database, audit, now: now)
      }
      page.console.configuration.retentionChanged()
    }
    return page.redirect(to: "/settings/retention", flash: "retention_saved")
  }

  /// What somebody who confirms has seen: more than that is asked for again.
  private static func confirmation(_ due: Trim.Due) -> String {
    Trim.Kind.settable.map { String(due[$0]) }.joined(separator: "-")
  }

  private static func confirm(_ page: PageContext, _ policy: RetentionPolicy, _ due: Trim.Due) throws -> Response {
    let texts = page.texts
    return try page.page(
      "settings/retention_confirm", .settings,
      [
        "question": .string(texts("retention.question")), "due": .list(lines(due, policy, texts)),
        "confirmed": .string(confirmation(due)),
        "fields": .list(
          RetentionPolicy.fields.map { field in
            let days = policy[keyPath: field.value]
            return [
              "name": .string(field.name), "value": .integer(Int64(days)),
              "label": .string(texts("retention.\(field.name)")),
              "text": .string(days == 0 ? texts("retention.for_ever") : texts("retention.days", count: days)),
            ]
          }),
      ])
  }
}

/// What was removed last, as the audit tells it.
struct TrimmedRows: Sendable {
  let at: Date
  let rows: Int

  static func last(_ database: Database) throws -> TrimmedRows? {
    let lines = try AuditEntry.list(database, action: "retention.trim", subject: "retention", limit: 1).items
    return lines.first.map { line in
      let rows = line.entry.detail?.object?.values.compactMap(\.integer).reduce(0, +) ?? 0
      return TrimmedRows(at: line.at, rows: Int(rows))
    }
  }
}

extension Trim.Kind {
  /// What a person sets a time for.
  static let settable: [Trim.Kind] = [.deliveries, .pushes, .phoneNotifications, .signInFailures]
}
