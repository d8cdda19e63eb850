import Certificates
import Foundation
import JSON
import Model
import SQLite
import Store

/// Exports everything that expires with the filters of `/certificates`, in the order of the list. Never a key.
enum CertificateListExport {
  static let routes = ListExportRoutes<Row>(
    path: "/certificates", action: "certificate.export",
    columns: [
      "id", "kind", "name", "apps", "topics", "environments", "team_id", "key_id", "serial", "sha256", "state",
      "not_before", "not_after", "days_left", "replaced", "file_name", "uploaded_by", "uploaded_at",
    ]
  ) { page in
    let filter = try CertificateList(page, apps: try await page.store.read { try App.all($0) }).filter()
    let now = page.now
    return { database, cursor, limit in
      let apps = try App.bundleIDs(database)
      let uses = try TrackedCertificate.uses(database)
      return try ExpiryList.page(database, filter, cursor: cursor, limit: limit).map { item in
        switch item {
        case .certificate(let certificate): Row(certificate, uses[certificate.id] ?? [], apps, now: now)
        case .host(let host): Row(host, now: now)
        }
      }
    }
  }

  /// A file, or a watched host.
  struct Row: JSONObject, Sendable {
    /// As `certificates/3`, the path of its page.
    let id: String
    let kind: String
    let name: String
    /// Bundle IDs: the app that it was uploaded for, and those that send with it.
    var apps: [String] = []
    /// Topics, or the names of a host.
    let topics: [String]
    var environments: [String] = []
    var teamID: String?
    var keyID: String?
    let serial: String?
    let sha256: String?
    /// A band, or `failing` for a host whose certificate has not been seen.
    let state: String
    let notBefore: Date?
    let notAfter: Date?
    let daysLeft: Int?
    /// Whether another one has taken its place, and nothing sends with it any more.
    var isReplaced = false
    var fileName: String?
    let by: String
    let at: Date

    init(
      _ certificate: TrackedCertificate, _ uses: [TrackedCertificate.Use], _ known: [Int64: String], now: Date
    ) {
      let details = certificate.details
      id = "certificates/\(certificate.id)"
      (kind, name, topics) = (details.kind, details.name, details.topics)
      let own = details.appID.flatMap { known[$0] }
      apps = Set([own].compactMap { $0 } + uses.map(\.bundleID)).sorted()
      environments = details.environments.map(\.rawValue)
      (teamID, keyID, serial, sha256) = (details.teamID, details.keyID, details.serial, details.sha256)
      state = Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now).rawValue
      (notBefore, notAfter) = (details.notBefore, details.notAfter)
      daysLeft = Expiry.number(daysLeft: Expiry.daysLeft(notAfter: details.notAfter, now: now))
      isReplaced = certificate.isReplaced && uses.isEmpty
      (fileName, by, at) = (details.fileName, certificate.uploadedBy, certificate.createdAt)
    }

    init(_ host: WatchedHost, now: Date) {
      let seen = host.seen
      id = host.key
      (kind, name) = (CertificateKind.host.rawValue, host.name)
      (topics, serial, sha256) = (seen?.names ?? [], seen?.serial, seen?.sha256)
      state =
        seen.map { Expiry.band(notBefore: $0.notBefore, notAfter: $0.notAfter, now: now).rawValue }
        ?? CertificateList.failing
      (notBefore, notAfter) = (seen?.notBefore, seen?.notAfter)
      daysLeft = seen.flatMap { Expiry.number(daysLeft: Expiry.daysLeft(notAfter: $0.notAfter, now: now)) }
      (by, at) = (host.createdBy, host.createdAt)
    }

    func writeMembers(to json: inout JSONWriter) {
      json.member("id", id)
      json.member("kind", kind)
      json.member("name", name)
      json.member("apps", apps)
      json.member("topics", topics)
      json.member("environments", environments)
      json.member("team_id", teamID)
      json.member("key_id", keyID)
      json.member("serial", serial)
      json.member("sha256", sha256)
      json.member("state", state)
      json.member("not_before", notBefore)
      json.member("not_after", notAfter)
      json.member("days_left", daysLeft)
      json.member("replaced", isReplaced)
      json.member("file_name", fileName)
      json.member("uploaded_by", by)
      json.member("uploaded_at", at)
    }
  }
}
