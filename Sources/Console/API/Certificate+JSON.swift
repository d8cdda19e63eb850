import Certificates
import Foundation
import OpenSSL
import Push
import Store

extension TrackedCertificate {
  /// The schema `Certificate`. Never holds the key.
  ///
  /// - Parameters:
  ///   - app: the bundle id of the app that it was uploaded for.
  ///   - uses: the credentials that rest on it.
  func json(app: String?, uses: [Use], now: Date) -> JSONValue {
    [
      "id": .integer(id), "kind": .string(details.kind), "name": .string(details.name),
      "state": .string(Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now).rawValue),
      "days_left": .optional(Expiry.daysLeft(notAfter: details.notAfter, now: now)), "app": .optional(app),
      "topics": .array(details.topics.map { .string($0) }),
      "environments": .array(details.environments.map { .string($0.rawValue) }),
      "team_id": .optional(details.teamID), "key_id": .optional(details.keyID),
      "subject": .optional(details.subject), "issuer": .optional(details.issuer),
      "serial": .optional(details.serial), "sha256": .optional(details.sha256),
      "not_before": .optional(details.notBefore), "not_after": .optional(details.notAfter),
      "has_private_key": .bool(details.hasPrivateKey), "file_name": .string(details.fileName),
      "uploaded_by": .string(uploadedBy), "created_at": .time(createdAt),
      "used_by": .array(
        uses.map { ["app": .string($0.bundleID), "environment": .string($0.environment.rawValue)] }),
    ]
  }

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
      "not_after": .optional(notAfter), "has_private_key": .bool(privateKey != nil), "file_name": .string(fileName),
      "used_by": [], "warnings": .array(warnings(now: now).map { .string($0.description) }),
    ]
  }
}
