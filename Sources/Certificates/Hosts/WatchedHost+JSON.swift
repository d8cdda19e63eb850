public import Foundation
public import Push
public import Store

extension WatchedHost {
  /// The schema `Host`.
  ///
  /// - Parameters:
  ///   - history: nil: not told, as in lists.
  ///   - taken: who is on it.
  public func json(history: [HostEvent]? = nil, taken: Acknowledgement? = nil, now: Date) -> JSONValue {
    var members: [String: JSONValue] = [
      "id": .integer(id), "key": .string(key), "name": .string(name), "host": .string(address.host),
      "port": .integer(Int64(address.port)), "protocol": .string(address.startProtocol.rawValue),
      "server_name": .string(address.serverName), "note": .string(note), "state": .string(state(now: now)),
      "days_left": .optional(Expiry.daysLeft(notAfter: seen?.notAfter, now: now)),
      "probed_at": .optional(probedAt), "answered_at": .optional(answeredAt),
      "failing_since": .optional(failingSince),
      "failure": failure.map { ["code": .string($0.code.rawValue), "message": .string($0.description)] } ?? .null,
      "findings": .array(
        HostFinding.all(self, now: now).map {
          [
            "code": .string($0.problem.code), "severity": .string($0.isGrave ? "error" : "hint"),
            "message": .string($0.problem.text),
          ]
        }),
      "certificate": seen.map(\.json) ?? .null, "created_by": .string(createdBy), "created_at": .time(createdAt),
      "acknowledgement": taken?.json ?? .null,
    ]
    if let history { members["history"] = .array(history.map(\.json)) }
    return .object(members)
  }

  /// The schema `Certificate`, for the list of everything that can end.
  ///
  /// - Parameter taken: who is on it.
  public func certificateJSON(taken: Acknowledgement? = nil, now: Date) -> JSONValue {
    [
      "id": .integer(id), "key": .string(key), "kind": .string(CertificateKind.host.rawValue), "name": .string(name),
      "state": .string(state(now: now)), "days_left": .optional(Expiry.daysLeft(notAfter: seen?.notAfter, now: now)),
      "app": .null, "topics": [], "environments": [], "team_id": .null, "key_id": .null,
      "subject": .optional(seen?.subject), "issuer": .optional(seen?.issuer), "serial": .optional(seen?.serial),
      "sha256": .optional(seen?.sha256), "not_before": .optional(seen?.notBefore),
      "not_after": .optional(seen?.notAfter), "has_private_key": false, "file_name": .null,
      "uploaded_by": .string(createdBy), "created_at": .time(createdAt), "made_by": .null, "note": .string(note),
      "facts": .null, "used_by": [],
      "replaced_by": .null, "replaced_at": .null, "kept_until": .null, "forecast": [],
      "acknowledgement": taken?.json ?? .null,
      "forecast_repeating": [],
    ]
  }

  /// A band, or `unknown` if nothing was seen yet.
  private func state(now: Date) -> String {
    seen == nil
      ? "unknown" : Expiry.band(notBefore: seen?.notBefore, notAfter: seen?.notAfter, now: now).rawValue
  }
}

extension HostSighting {
  fileprivate var json: JSONValue {
    [
      "address": .string(address), "tls_version": .string(tlsVersion), "subject": .string(subject),
      "issuer": .string(issuer), "serial": .string(serial), "sha256": .string(sha256),
      "names": .array(names.map { .string($0) }), "not_before": .optional(notBefore),
      "not_after": .optional(notAfter), "trust": .string(trust), "name_matches": .bool(nameMatches),
      "chain": .array(
        chain.map {
          ["subject": .string($0.subject), "sha256": .string($0.sha256), "not_after": .time($0.notAfter)]
        }),
    ]
  }
}

extension HostEvent {
  fileprivate var json: JSONValue {
    [
      "at": .time(at), "kind": .string(kind.rawValue), "sha256": .optional(sha256), "serial": .optional(serial),
      "issuer": .optional(issuer), "not_after": .optional(notAfter),
      "failure": failure.map { ["code": .string($0.code.rawValue), "message": .string($0.description)] } ?? .null,
    ]
  }
}
