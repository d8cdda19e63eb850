import Certificates
import Foundation
import JSON
import OpenSSL
import Model

/// The schema `Certificate` for a file that is not stored: its ID is 0.
struct UnkeptCertificateAnswer: JSONObject {
  let file: CertificateFile
  /// The app's bundle ID.
  let app: String?
  /// From the form, not from the file.
  let keyID: String?
  let teamID: String?
  let fileName: String
  let now: Date

  func writeMembers(to json: inout JSONWriter) {
    json.member("id", 0)
    json.member("kind", file.kind.rawValue)
    json.member("name", file.name)
    json.member("state", Expiry.band(notBefore: file.notBefore, notAfter: file.notAfter, now: now).rawValue)
    json.member("days_left", Expiry.number(daysLeft: Expiry.daysLeft(notAfter: file.notAfter, now: now)))
    json.member("app", app)
    json.member("topics", file.topics.map { $0.name })
    json.member("environments", file.environments.map { $0.rawValue })
    json.member("team_id", file.teamID ?? teamID)
    json.member("key_id", file.keyID ?? keyID)
    json.member("subject", file.summary?.subject)
    json.member("issuer", file.summary?.issuer)
    json.member("serial", file.summary?.serial)
    json.member("sha256", file.sha256)
    json.member("not_before", file.notBefore)
    json.member("not_after", file.notAfter)
    json.member("has_private_key", file.hasPrivateKey)
    json.member("made_by", JSONValue.null)
    json.member("note", JSONValue.null)
    json.member("facts", file.facts)
    json.member("file_name", fileName)
    json.member("used_by", JSONValue.array([]))
    json.member("replaced_by", JSONValue.null)
    json.member("replaced_at", JSONValue.null)
    json.member("kept_until", JSONValue.null)
    json.member("acknowledgement", JSONValue.null)
    json.member("warnings", file.warnings(now: now, keyID: keyID).map { $0.description })
  }
}
