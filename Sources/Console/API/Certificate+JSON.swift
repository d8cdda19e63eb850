import Certificates
import Foundation
import OpenSSL
import Push
import Store

extension TrackedCertificate {
  /// For the audit.
  var audited: JSONValue {
    [
      "kind": .string(details.kind), "name": .string(details.name), "sha256": .optional(details.sha256),
      "file_name": .string(details.fileName), "not_after": .optional(details.notAfter),
    ]
  }
}

extension InspectedFile {
  /// The schema `Certificate` for a file that is not kept: its id is 0.
  func json(app: String?, keyID: String?, teamID: String?, fileName: String, now: Date) -> JSONValue {
    [
      "id": 0, "kind": .string(kind.rawValue), "name": .string(name),
      "state": .string(Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now).rawValue),
      "days_left": .optional(Expiry.daysLeft(notAfter: notAfter, now: now)), "app": .optional(app),
      "topics": .array(topics.map { .string($0.name) }),
      "environments": .array(environments.map { .string($0.rawValue) }),
      "team_id": .optional(self.teamID ?? teamID), "key_id": .optional(self.keyID ?? keyID),
      "subject": .optional(summary?.subject), "issuer": .optional(summary?.issuer),
      "serial": .optional(summary?.serial), "sha256": .optional(sha256), "not_before": .optional(notBefore),
      "not_after": .optional(notAfter), "has_private_key": .bool(privateKey != nil || keyPair != nil),
      "made_by": .null, "note": .null, "facts": facts, "file_name": .string(fileName),
      "used_by": [], "replaced_by": .null, "replaced_at": .null, "kept_until": .null, "acknowledgement": .null,
      "warnings": .array(warnings(now: now, keyID: keyID).map { .string($0.description) }),
    ]
  }
}
