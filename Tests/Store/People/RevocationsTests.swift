import Foundation
import SQLite
@testable import Store
import Testing

@Suite("Second steps and accounts at providers after a restore")
struct RevocationsTests {
  private static let names = ["anna", "ben", "cleo", "dora"]

  /// Four people, each with an authenticator app, two recovery codes, and an account at a provider.
  private static func fill(_ database: Database) throws {
    for name in names {
      let user = try User.add(database, name: name, role: .operator, now: noon).id
      try addApp(database, user, sealed: [1], at: noon)
      for code in [[1], [2]] as [[UInt8]] { try addCode(database, user, code) }
      try database.run(
        "INSERT INTO identities(user_id, issuer, subject, created_at, used_at) VALUES (?1, 'https://id', ?2, ?3, ?3)",
        user, name, noon)
    }
  }

  private static func addApp(_ database: Database, _ user: Int64, sealed: [UInt8], at time: Date) throws {
    try database.run(
      "INSERT INTO authenticators(user_id, sealed, created_at, confirmed_at) VALUES (?1, ?2, ?3, ?3)", user, sealed,
      time)
  }

  private static func addCode(_ database: Database, _ user: Int64, _ hash: [UInt8]) throws {
    try database.run("INSERT INTO recovery_codes(user_id, hash) VALUES (?, ?)", user, hash)
  }

  /// What a person has: the sealed secret of the app, the codes, the accounts.
  private static func means(_ database: Database, _ name: String) throws -> [[UInt8]] {
    let user = try #require(try User.find(database, name: name)).id
    let app = try database.fetchAll("SELECT sealed FROM authenticators WHERE user_id = ?", user) { $0.blob(0) }
    let codes = try database.fetchAll("SELECT hash FROM recovery_codes WHERE user_id = ?", user) { $0.blob(0) }
    return [app.flatMap { $0 }, codes.flatMap { $0 }, try Identity.all(database, user: user).map { _ in 9 }]
  }

  @Test(
    "what was removed, replaced, used and unlinked since the backup stays so", arguments: [true, false])
  func restored(hasSameKey: Bool) throws {
    try withDatabase { older in
      try Self.fill(older)
      var report = Revocations.Report()
      try withDatabase { newer in
        try Self.fill(newer)
        if !hasSameKey {
          try newer.run("INSERT INTO sealing_key(id, identifier, since) VALUES (1, 'another', ?)", noon)
        }
        let ids = try Self.names.map { try #require(try User.find(newer, name: $0)).id }
        try SecondStep.removeAuthenticator(newer, user: ids[0])
        try SecondStep.removeAuthenticator(newer, user: ids[1])
        try Self.addApp(newer, ids[1], sealed: [2], at: noon + 1)
        try Self.addCode(newer, ids[1], [3])
        try newer.run("DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?", ids[2], [1] as [UInt8])
        try Identity.removeAll(newer, user: ids[3])
        try Revocations(newer).apply(to: older, &report)
      }
      #expect(report.authenticators == (hasSameKey ? ["anna", "ben"] : ["anna"]))
      #expect(report.recoveryCodes == ["ben", "cleo"] && report.identities == ["dora"])
      #expect(try Self.means(older, "anna") == [[], [], [9]])
      // A secret that this key cannot open would lock ben out.
      #expect(try Self.means(older, "ben") == [hasSameKey ? [2] : [1], [3], [9]])
      #expect(try Self.means(older, "cleo") == [[1], [2], [9]])
      #expect(try Self.means(older, "dora") == [[1], [1, 2], []])
    }
  }
}
