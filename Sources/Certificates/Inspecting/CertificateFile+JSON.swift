package import Foundation
package import JSON
import OpenSSL
import Model
import Providers

/// The API's answer about a file. Contains no secrets.
package struct CertificateFileAnswer: JSONObject {
  private let file: CertificateFile
  private let now: Date

  package init(_ file: CertificateFile, now: Date) { (self.file, self.now) = (file, now) }

  package func writeMembers(to json: inout JSONWriter) {
    json.members(of: file.facts)
    json.member("days_left", Expiry.number(daysLeft: Expiry.daysLeft(notAfter: file.notAfter, now: now)))
    json.member("band", Expiry.band(notBefore: file.notBefore, notAfter: file.notAfter, now: now).rawValue)
    json.objects("warnings", file.warnings(now: now)) { json, warning in
      json.member("code", warning.problem.code)
      json.member("message", warning.problem.text)
    }
  }
}

extension CertificateFile {
  /// The facts that do not depend on the time. Contains no secrets.
  package var facts: JSONValue {
    [
      "format": .string(format.rawValue),
      "kind": .string(kind.rawValue),
      "role": .optional(role?.rawValue),
      "name": .string(name),
      "topics": .array(topics.map { ["name": .string($0.name), "kinds": .array($0.kinds.map(JSONValue.string))] }),
      "environments": .array(environments.map { .string($0.rawValue) }),
      "team_id": .optional(teamID),
      "key_id": .optional(keyID),
      "has_private_key": .bool(hasPrivateKey),
      "key": .optional(privateKey.map { "\($0.algorithm)" } ?? summary?.keyAlgorithm),
      "can_send": .bool(canSend),
      "encryption": .array(encryption.map(JSONValue.string)),
      "sha256": .optional(sha256),
      "not_before": .optional(notBefore),
      "not_after": .optional(notAfter),
      "certificate": summary?.json ?? .null,
      "other_certificates": .array(otherCertificates.map { CertificateSummary($0).json }),
      "profile": profile?.json ?? .null,
      "service_account": serviceAccount.map { account in
        [
          "project_id": .string(account.projectID), "client_email": .string(account.clientEmail),
          "private_key_id": .string(account.privateKeyID), "token_uri": .string(account.tokenURI),
        ]
      } ?? .null,
      "jpush_app_key": .optional(keyPair?.appKey),
    ]
  }
}

extension CertificateSummary {
  package var json: JSONValue {
    [
      "subject": .string(subject),
      "issuer": .string(issuer),
      "serial": .string(serial),
      "sha256": .string(sha256),
      "sha1": .string(sha1),
      "key": .string(keyAlgorithm),
      "signature": .string(signatureAlgorithm),
      "not_before": .string(notBefore.rfc3339),
      "not_after": .string(notAfter.rfc3339),
    ]
  }
}

extension ProvisioningProfile {
  package var json: JSONValue {
    [
      "name": .string(name),
      "uuid": .string(uuid),
      "team_id": teamID.map(JSONValue.string) ?? .null,
      "team_name": teamName.map(JSONValue.string) ?? .null,
      "app_id": .string(appID),
      "aps_environment": apsEnvironment.map { .string($0.rawValue) } ?? .null,
      "platforms": .array(platforms.map(JSONValue.string)),
      "distribution": .string(distribution.rawValue),
      "devices": .integer(Int64(deviceCount)),
      "entitlements": .object(entitlements.mapValues(JSONValue.string)),
      "created_at": creationDate.map { .string($0.rfc3339) } ?? .null,
      "expires_at": .string(expirationDate.rfc3339),
      "certificates": .array(certificates.map(\.json)),
    ]
  }
}
