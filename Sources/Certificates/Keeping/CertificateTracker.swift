package import Foundation
internal import OpenSSL
package import Model
package import SQLite
package import Store

/// Stores inspected files, and reports when stored items expire.
package enum CertificateTracker {
  /// What a person says about the file.
  package struct Labels: Sendable, Hashable {
    /// The row ID of the app that the file belongs to.
    package var appID: Int64?
    /// For a `.p8` whose file name does not contain it: 10 letters and digits.
    package var keyID: String?
    /// For a `.p8`, which never contains it: 10 letters and digits.
    package var teamID: String?
    /// The file name as uploaded.
    package var fileName: String
    /// The Apple ID that made the certificate: this account can renew it.
    package var madeBy: String?
    package var note: String?

    package init(
      fileName: String, appID: Int64? = nil, keyID: String? = nil, teamID: String? = nil, madeBy: String? = nil,
      note: String? = nil
    ) {
      (self.madeBy, self.note, self.fileName) = (madeBy, note, fileName)
      (self.appID, self.keyID, self.teamID) = (appID, keyID, teamID)
    }
  }

  /// Stores a file with its private key sealed. If the certificate is stored without its key, adds the key to it.
  ///
  /// - Throws: `Problems` if a key comes without its IDs, or the file is stored already; then nothing is stored.
  @discardableResult
  package static func keep(
    _ database: Database, _ file: CertificateFile, _ labels: Labels, sealer: any Sealer, by user: String, now: Date
  ) throws -> TrackedCertificate {
    let (file, request) = try KeyFinder.joined(database, file, sealer: sealer)
    let details = try details(file, labels)
    let first = try details.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0).first }
    if let first, first.details.hasPrivateKey || !details.hasPrivateKey {
      throw Problems([
        Problem(
          "file", CertificateMessage.duplicate,
          ["name": first.details.name, "date": first.createdAt.formatted(.iso8601.year().month().day())])
      ])
    }
    let notes = try CertificateContents.Notes(madeBy: labels.madeBy, note: labels.note)
    var material = file.material
    defer { PrivateKey.wipe(&material) }
    if let first {
      try complete(database, first.id, file, details, notes, material, sealer: sealer, now: now)
      if let request { try SigningRequest.fulfil(database, id: request.id, by: first.id, sealer: sealer, now: now) }
      return try TrackedCertificate.get(database, id: first.id)
    }
    let kept = try TrackedCertificate.add(database, details, material: material, sealer: sealer, by: user, now: now)
    try CertificateContents.add(database, certificate: kept.id, says: file.facts, notes)
    if let request { try SigningRequest.fulfil(database, id: request.id, by: kept.id, sealer: sealer, now: now) }
    return kept
  }

  /// Adds the key to a certificate that was stored without one. Earlier labels stay unless new ones are given.
  private static func complete(
    _ database: Database, _ id: Int64, _ file: CertificateFile, _ details: TrackedCertificate.Details,
    _ notes: CertificateContents.Notes, _ material: [UInt8], sealer: any Sealer, now: Date
  ) throws {
    try TrackedCertificate.refill(
      database, id: id, material: material, publicPEM: details.publicPEM, sealer: sealer, now: now)
    let kept = try TrackedCertificate.get(database, id: id)
    if let app = details.appID { try TrackedCertificate.update(database, id: id, name: kept.details.name, app: app) }
    try CertificateContents.update(database, certificate: id, says: file.facts)
    let before = try CertificateContents.find(database, certificate: id)?.notes
    try CertificateContents.update(
      database, certificate: id,
      try CertificateContents.Notes(madeBy: notes.madeBy ?? before?.madeBy, note: notes.note ?? before?.note))
  }

  /// The columns that are stored next to the secret.
  ///
  /// - Throws: `Problems` if a key comes without its IDs.
  package static func details(_ file: CertificateFile, _ labels: Labels) throws(Problems) -> TrackedCertificate.Details
  {
    var details = TrackedCertificate.Details(kind: file.kind.rawValue, name: file.name, fileName: labels.fileName)
    details.appID = labels.appID
    details.subject = file.summary?.subject
    details.issuer = file.summary?.issuer
    details.serial = file.summary?.serial
    details.sha256 = file.sha256
    details.teamID = file.teamID ?? filled(labels.teamID)
    details.keyID = file.keyID ?? filled(labels.keyID)
    details.environments = file.environments
    details.topics = file.topics.map(\.name)
    details.notBefore = file.notBefore
    details.notAfter = file.notAfter
    details.hasPrivateKey = file.hasPrivateKey
    if let certificate = file.certificate {
      details.publicPEM = ([certificate] + file.otherCertificates).map(\.pem).joined()
    }
    guard file.kind == .apnsKey else { return details }
    var problems: [Problem] = []
    if !isAppleID(details.keyID) {
      problems.append(
        Problem(
          "key_id", code: "certificate.key_id",
          "Enter the key ID: 10 letters and digits, as in the file name AuthKey_ABCDE12345.p8 and in your Apple developer account."
        ))
    }
    if !isAppleID(details.teamID) {
      problems.append(
        Problem(
          "team_id", code: "certificate.team_id",
          "Enter the team ID: 10 letters and digits, under Membership in your Apple developer account."))
    }
    guard problems.isEmpty else { throw Problems(problems) }
    return details
  }

  private static func filled(_ text: String?) -> String? {
    let trimmed = text?.trimmingCharacters(in: .whitespaces)
    return trimmed?.isEmpty == false ? trimmed : nil
  }

  private static func isAppleID(_ text: String?) -> Bool {
    guard let text, text.utf8.count == 10 else { return false }
    return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
  }

  /// Reports when all stored items expire.
  ///
  /// The report names rows that cannot be read: a broken row must never look valid.
  ///
  /// - Parameters:
  ///   - keys: only these items, for example `certificates/12` and `hosts/3`; nil for all.
  ///   - sealer: finds the keys that do not open; nil skips this check.
  package static func report(
    _ database: Database, of keys: Set<String>? = nil, sealer: (any Sealer)? = nil, now: Date,
    within days: Int = Expiry.warningDays
  ) throws -> ExpiryReport {
    func rows<Row>(_ table: String, all: () throws -> [Row], find: (Int64) throws -> Row?) rethrows -> [Row] {
      guard let keys else { return try all() }
      return try keys.sorted().compactMap { key in
        guard key.hasPrefix(table + "/"), let id = Int64(key.dropFirst(table.count + 1)) else { return nil }
        return try find(id)
      }
    }
    let uses = try TrackedCertificate.uses(database)
    let apps = try App.bundleIDs(database)
    var items: [TrackedExpiry] = []
    var unreadable: [ExpiryReport.Unreadable] = []
    let certificates = try rows(
      "certificates", all: { try TrackedCertificate.all(database) },
      find: { try TrackedCertificate.find(database, id: $0) })
    for certificate in certificates {
      let details = certificate.details
      // Its successor's expiry date counts, unless an app sends with the old certificate again.
      if certificate.isReplaced, uses[certificate.id] == nil { continue }
      guard let kind = CertificateKind(rawValue: details.kind) else {
        unreadable.append(ExpiryReport.Unreadable(name: details.name, reason: "its kind “\(details.kind)” is unknown"))
        continue
      }
      let app = details.appID.flatMap { apps[$0] } ?? uses[certificate.id]?.first?.bundleID
      items.append(
        TrackedExpiry(
          key: "certificates/\(certificate.id)", name: details.name, kind: kind, app: app, topics: details.topics,
          environments: details.environments, serial: details.serial, sha256: details.sha256,
          notBefore: details.notBefore, notAfter: details.notAfter))
    }
    let hosts = try rows(
      "hosts", all: { try WatchedHost.all(database) }, find: { try WatchedHost.find(database, id: $0) })
    for host in hosts {
      if let blindness = HostFinding.blindness(host, now: now) {
        unreadable.append(ExpiryReport.Unreadable(key: host.key, name: host.name, blindness.problem))
      }
      // The certificate seen last still counts.
      if let item = TrackedExpiry(host) { items.append(item) }
    }
    let planned = try Forecast.needs(database, now: now)
    let closed = try sealer.map { try Self.closed(database, uses, $0) } ?? []
    return ExpiryReport(
      items, unreadable: unreadable, closed: closed,
      planned: Dictionary(uniqueKeysWithValues: planned.map { ("certificates/\($0.key)", $0.value) }), now: now,
      within: days)
  }

  /// Certificates that are or could be used to send, and whose private key does not open.
  private static func closed(
    _ database: Database, _ uses: [Int64: [TrackedCertificate.Use]], _ sealer: any Sealer
  ) throws -> [ExpiryReport.Unreadable] {
    let ids = try Sealing.closed(database, in: "certificates", sealer)
    guard !ids.isEmpty else { return [] }
    let reason = ClosedReason(try Sealing.state(database, sealer), sealer)
    return try TrackedCertificate.all(database)
      .filter { ids.contains($0.id) && $0.details.hasPrivateKey && (!$0.isReplaced || uses[$0.id] != nil) }
      .map { ExpiryReport.Unreadable(key: "certificates/\($0.id)", name: $0.details.name, reason.problem) }
  }
}

package enum CertificateMessage: String, MessageSet {
  case duplicate = "certificate.duplicate"

  package var english: String { "This file is already stored as “{name}” (since {date})." }
}
