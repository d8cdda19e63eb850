package import SQLite

/// What was changed, as an ``AuditEntry`` names it: a noun, and which one.
package struct AuditSubject: Sendable, Hashable {
  package let noun: String
  /// A number, a name or an address; empty where there is only one of its kind.
  package let name: String

  package init(_ subject: String) {
    let request = "certificate request "
    (noun, name) =
      subject.hasPrefix(request)
      ? ("certificate request", String(subject.dropFirst(request.count))) : Self.split(subject)
  }

  /// At the first space.
  package static func split(_ text: String) -> (first: String, rest: String) {
    // Lists ask for each row: `split` counts characters.
    guard let space = text.utf8.firstIndex(of: UInt8(ascii: " ")) else { return (text, "") }
    return (String(text[..<space]), String(text[text.utf8.index(after: space)...]))
  }

  /// What those that the log numbers are called today. Of what was removed, and of what has no name, there is none.
  package static func titles(_ database: Database, _ subjects: Set<AuditSubject>) throws -> [AuditSubject: String] {
    var titles: [AuditSubject: String] = [:]
    for subject in subjects {
      guard let place = places[subject.noun] else { continue }
      let title = try database.fetchOne(
        "SELECT \(place.title) FROM \(place.table) WHERE \(place.key) = ?", subject.name
      ) {
        $0.optionalText(0)
      }
      if let title = title ?? nil, !title.isEmpty { titles[subject] = title }
    }
    return titles
  }

  private static let places: [String: (table: String, key: String, title: String)] = [
    "push": ("pushes", "uid", "title"),
    // The name that JPush’s clients gave it says more.
    "schedule": (
      "schedules", "uid",
      "coalesce((SELECT j.name FROM jpush_schedules j WHERE j.schedule_id = schedules.id), title)"
    ),
    "device": ("devices", "id", "name"), "certificate": ("certificates", "id", "name"),
    "host": ("watched_hosts", "id", "host"), "smoke_test": ("smoke_tests", "id", "name"),
    "template": ("push_templates", "id", "name"), "segment": ("segments", "id", "name"),
    "receiver": ("receivers", "id", "name"), "webhook": ("webhooks", "id", "name"),
  ]
}
