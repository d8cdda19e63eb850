import JSON
import Model
import OpenSSL
import SQLite
import Store

/// What was stored when a form was opened, as a hidden field: who saves does not undo unseen what somebody else saved in
/// the meantime.
///
/// It is a digest of the content, not a time: two people who save the same do not disturb each other.
struct Revision: Sendable, Hashable {
  /// The form's field.
  static let field = "revision"

  let text: String

  /// - Parameter form: as it is filled with what is stored.
  init(_ form: Form) { self.init(parts: form.all.flatMap { [$0.name, $0.value] }) }

  /// - Parameter parts: all that the form can change.
  init(_ parts: String?...) { self.init(parts: parts) }

  private init(parts: [String?]) {
    let content = JSONValue.array(parts.map(JSONValue.optional)).text()
    text = Digest.sha256(Array(content.utf8)).prefix(12).map { String($0, radix: 16) }.joined(separator: "-")
  }

  /// Compares what is stored now with what the form was opened with, in the transaction that saves. A form without the
  /// field is not checked.
  ///
  /// - Parameter new: what is to be saved.
  /// - Throws: ``Overtaken`` if something else was saved in the meantime.
  func check(_ form: Form, saving new: Revision) throws(Overtaken) {
    guard let opened = form.filled(Self.field), opened != text, new != self else { return }
    throw Overtaken(stored: self)
  }

  /// Somebody else saved something between the opening and the saving of a form.
  struct Overtaken: Error { let stored: Revision }
}

extension Form {
  /// The form with the newest revision: saving it replaces what is stored now.
  func with(_ revision: Revision) -> Form {
    Form(all.filter { $0.name != Revision.field } + [(Revision.field, revision.text)])
  }

  /// The hidden field, for a form that is made of this one; none if this one has none.
  var revision: [(name: String, value: String)] { all.filter { $0.name == Revision.field } }
}

extension PageContext {
  /// Saves the settings of this page's form and their entry of the activity log together.
  ///
  /// - Parameters:
  ///   - settings: all that the form can change.
  ///   - stored: the same as it is stored.
  ///   - audit: the entry without what was before and after.
  /// - Returns: the form and the error to show if something else was saved since it was opened; nil: saved.
  func save(
    _ settings: JSONValue, over stored: @escaping @Sendable (Database) throws -> JSONValue, audit: NewAuditEntry,
    _ write: @escaping @Sendable (Database) throws -> Void
  ) async throws -> (form: Form, errors: FieldErrors)? {
    let (form, now) = (form, now)
    do {
      try await store.write { database in
        let before = try stored(database)
        try Revision(before.text()).check(form, saving: Revision(settings.text()))
        try write(database)
        try AuditEntry.add(database, audit.changing(before, to: settings), now: now)
      }
      return nil
    } catch let error as Revision.Overtaken {
      return (form.with(error.stored), try await overtaken(audit.action, audit.subject))
    }
  }

  /// Says above the form who changed what is edited, and when.
  ///
  /// - Parameters:
  ///   - action: of the change in the activity log.
  ///   - subject: likewise.
  func overtaken(_ action: String, _ subject: String) async throws -> FieldErrors {
    let last = try await store.read { database in
      try AuditEntry.list(database, .init(action: action, subject: subject), limit: 1).items.first
    }
    var errors = FieldErrors()
    let text = last.map { texts("revision.changed_by", ["name": $0.entry.actor, "date": texts.minute($0.at)]) }
    errors.add("", text ?? texts("revision.changed"))
    return errors
  }
}
