public import Foundation
import OpenSSL
public import Push

extension InspectedFile {
  /// What the file is, for programs. Never holds the key.
  public func json(now: Date) -> JSONValue {
    [
      "format": .string(format.rawValue),
      "kind": .string(kind.rawValue),
      "role": role.map { .string($0.rawValue) } ?? .null,
      "name": .string(name),
      "topics": .array(
        topics.map { ["name": .string($0.name), "kinds": .array($0.kinds.map(JSONValue.string))] }),
      "environments": .array(environments.map { .string($0.rawValue) }),
      "team_id": teamID.map(JSONValue.string) ?? .null,
      "key_id": keyID.map(JSONValue.string) ?? .null,
      "has_private_key": .bool(privateKey != nil),
      "can_send": .bool(canSend),
      "sha256": sha256.map(JSONValue.string) ?? .null,
      "not_before": notBefore.map { .string($0.rfc3339) } ?? .null,
      "not_after": notAfter.map { .string($0.rfc3339) } ?? .null,
      "days_left": Expiry.daysLeft(notAfter: notAfter, now: now).map { .integer(Int64($0)) } ?? .null,
      "band": .string(Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now).rawValue),
      "certificate": summary?.json ?? .null,
      "other_certificates": .array(otherCertificates.map { CertificateSummary($0).json }),
      "profile": profile?.json ?? .null,
      "warnings": .array(
        warnings(now: now).map { ["code": .string($0.problem.code), "message": .string($0.problem.text)] }),
    ]
  }
}

extension CertificateSummary {
  /// The same for programs.
  public var json: JSONValue {
    [
      "subject": .string(subject),
      "issuer": .string(issuer),
      "serial": .string(serial),
      "sha256": .string(sha256),
      "not_before": .string(notBefore.rfc3339),
      "not_after": .string(notAfter.rfc3339),
    ]
  }
}

extension ProvisioningProfile {
  /// The same for programs.
  public var json: JSONValue {
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
      "created_at": creationDate.map { .string($0.rfc3339) } ?? .null,
      "expires_at": .string(expirationDate.rfc3339),
      "certificates": .array(certificates.map(\.json)),
    ]
  }
}
