package import Model
package import SQLite

/// The language of each device, as its app reported it, for pushes with texts in several languages.
package enum DeviceLanguage {
  /// Gives devices the text that they get.
  package static func fill(
    _ database: Database, _ members: [AudienceMember], _ languages: LanguageMatcher
  ) throws -> [AudienceMember] {
    // Many devices share a few languages.
    var known: [String: Int] = [:]
    return try database.withStatement("SELECT language FROM device_details WHERE device_id = ?1") { statement in
      try members.map { member in
        var member = member
        try statement.bind(1, member.id)
        let language = try statement.step() ? statement.row.optionalText(0) : nil
        statement.reset()
        let variant = language.flatMap { known[$0] } ?? languages.variant(for: language)
        if let language { known[language] = variant }
        member.variant = variant
        return member
      }
    }
  }

  /// The same for devices that are due again.
  package static func fill(
    _ database: Database, _ due: [WaitingDelivery.Due], _ languages: LanguageMatcher
  ) throws -> [WaitingDelivery.Due] {
    var filled = try fill(database, due.compactMap(\.member), languages)[...]
    return due.map { $0.member == nil ? $0 : WaitingDelivery.Due(waiting: $0.waiting, member: filled.removeFirst()) }
  }

  /// The text that one device gets.
  package static func variant(_ database: Database, device: Int64, _ languages: LanguageMatcher) throws -> Int {
    languages.variant(for: try DeviceDetails.find(database, device: device).language)
  }

  /// How many of an audience's first devices get each text, by its position; for a preview.
  package static func counts(
    _ database: Database, _ query: AudienceQuery, _ languages: LanguageMatcher, limit: Int
  ) throws -> [Int: Int] {
    let members = try fill(database, try query.page(database, after: 0, limit: limit), languages)
    return members.reduce(into: [:]) { $0[$1.variant ?? 0, default: 0] += 1 }
  }
}
