import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// `/settings/retention`: how long data is kept. A change that deletes data asks for confirmation first.
enum RetentionPage {
  private static let names = RetentionPolicy.fields.map(\.name)
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/retention", role: .admin) { page in
      let policy = try await page.store.read { try RetentionPolicy.find($0) }
      let form = Form(RetentionPolicy.fields.map { ($0.name, String(policy[keyPath: $0.value])) })
      return try await show(page, form.with(policy.revision), FieldErrors())
    }
    routes.page(.post, "/settings/retention", role: .admin, save)
  }

  private static func show(_ page: PageContext, _ form: Form, _ errors: FieldErrors) async throws -> Response {
    let texts = page.texts
    let (policy, removed) = try await page.store.read { database in
      (try RetentionPolicy.find(database), try TrimmedRows.last(database))
    }
    let due = try await due(page, policy)
    let problem = errors.isEmpty ? nil : errors.others(names) ?? texts("retention.nothing_changed")
    return page.answer(
      RetentionView(
        periods: RetentionPolicy.fields.map { field in
          PeriodView(
            name: field.name, label: texts("retention.\(field.name)"), hint: texts("retention.\(field.name)_hint"),
            value: form.raw(field.name), error: errors[field.name], usual: RetentionPolicy()[keyPath: field.value])
        }, problem: problem, due: lines(due, texts), last: removed, revision: form.filled(Revision.field)),
      status: errors.status)
  }

  /// What a policy deletes; nil if counting takes too long.
  static func due(_ context: some ActorContext, _ policy: RetentionPolicy) async throws -> Trim.Due? {
    let (now, patience) = (context.now, context.console.configuration.queryPatience)
    do {
      return try await context.store.read(limit: patience) { try Trim.due($0, policy, now: now) }
    } catch let error as SQLiteError where error.code == .interrupt {
      return nil
    }
  }

  /// What will be deleted, one line per kind.
  static func lines(_ due: Trim.Due?, _ texts: Texts) -> [String] {
    guard let due else { return [texts("retention.uncounted")] }
    return Trim.Kind.allCases.filter { due[$0] > 0 }.map { kind in
      let pushes = texts("retention.of_pushes", count: due.pushesWithDetails)
      return texts("retention.rows.\(kind.rawValue)", count: due[kind], ["of_pushes": pushes])
    }
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let (form, texts) = (page.form, page.texts)
    var (policy, problems) = (RetentionPolicy(), [Problem]())
    for field in RetentionPolicy.fields {
      // Accepts 1 000 and 1,000.
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
    let before = try await page.store.read { try RetentionPolicy.find($0) }
    let due = try await due(page, chosen)
    // Asks only if the change itself deletes data; rows that were due before are deleted anyway.
    if policy != before, mayDelete(due), form["confirmed"] != confirmation(due) {
      return try page.shown(at: "/settings/retention") { page in confirm(page, chosen, due) }
    }
    let audit = page.audit("retention.update", "retention")
    if policy != before {
      let late = try await page.save(
        chosen.json, over: { try RetentionPolicy.find($0).json }, audit: audit
      ) { try chosen.save($0) }
      if let late { return try await show(page, late.form, late.errors) }
      page.console.configuration.retentionChanged()
    }
    return page.redirect(to: "/settings/retention", flash: "retention_saved")
  }

  /// The counts that were confirmed: if more rows are due by then, the page asks again.
  static func confirmation(_ due: Trim.Due?) -> String {
    due.map { due in Trim.Kind.settable.map { String(due[$0]) }.joined(separator: "-") } ?? "uncounted"
  }

  /// True, too, if nobody could count it.
  static func mayDelete(_ due: Trim.Due?) -> Bool {
    due.map { due in Trim.Kind.settable.contains { due[$0] > 0 } } ?? true
  }

  private static func confirm(_ page: PageContext, _ policy: RetentionPolicy, _ due: Trim.Due?) -> Response {
    let texts = page.texts
    let days = RetentionPolicy.fields.map { (name: $0.name, days: policy[keyPath: $0.value]) }
    return page.answer(
      RetentionConfirmView(
        due: lines(due, texts), confirmed: confirmation(due), revision: page.form.filled(Revision.field),
        periods: days.map { RetentionConfirmView.Period(name: $0.name, days: $0.days) },
        facts: days.map { field in
          FactView(
            label: texts("retention.\(field.name)"),
            value: field.days == 0 ? texts("retention.for_ever") : texts("retention.days", count: field.days))
        }))
  }
}

/// The last cleanup, from its audit entry.
struct TrimmedRows: View {
  let at: Date
  let rows: Int

  static let fields: [Field<Self>] = [.number("count") { $0.rows }, .written("date") { $1.write(utc: $0.at) }]

  static func last(_ database: Database) throws -> TrimmedRows? {
    let lines = try AuditEntry.list(database, .init(action: "retention.trim", subject: "retention"), limit: 1).items
    return lines.first.map { line in
      let rows = line.entry.detail?.object?.values.compactMap(\.integer).reduce(0, +) ?? 0
      return TrimmedRows(at: line.at, rows: Int(rows))
    }
  }
}

extension Trim.Kind {
  /// The kinds that have a setting.
  static let settable: [Trim.Kind] = [.deliveries, .pushes, .phoneNotifications, .signInFailures]
}
