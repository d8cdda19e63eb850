public import Foundation
public import Push
public import Store

extension TrackedCertificate {
  /// The schema `Certificate`. Never holds the key.
  ///
  /// - Parameters:
  ///   - app: the bundle id of the app that it was uploaded for.
  ///   - uses: the credentials that rest on it.
  ///   - facts: everything else that its file says, and what people noted.
  ///   - planned: what will be sent with it.
  ///   - taken: who is on it.
  public func json(
    app: String?, uses: [Use], facts: CertificateFacts?, planned: Forecast.Needs = .init(),
    taken: Acknowledgement? = nil, now: Date
  ) -> JSONValue {
    [
      "id": .integer(id), "key": .string("certificates/\(id)"), "kind": .string(details.kind),
      "name": .string(details.name),
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
      "made_by": .optional(facts?.notes.madeBy), "note": .optional(facts?.notes.note), "facts": facts?.says ?? .null,
      "used_by": .array(
        uses.map { use in
          let own = planned.of(use)
          return [
            "app": .string(use.bundleID), "environment": .string(use.environment.rawValue),
            "scheduled_pushes": .integer(Int64(own.pushes.count)), "schedules": .integer(Int64(own.schedules.count)),
          ]
        }),
      "replaced_by": replacement.map { .integer($0.by) } ?? .null, "replaced_at": .optional(replacement?.at),
      "kept_until": .optional(replacement?.keptUntil),
      "acknowledgement": taken?.json ?? .null,
      "forecast": .array(Forecast.missed(planned.pushes, notAfter: details.notAfter).map(\.json)),
      "forecast_repeating": .array(
        Forecast.overruns(planned.schedules, notAfter: details.notAfter, now: now).map(\.json)),
    ]
  }
}
