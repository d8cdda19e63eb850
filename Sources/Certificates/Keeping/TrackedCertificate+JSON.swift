package import Foundation
package import JSON
import Model
package import Store

/// The schema `Certificate`. Never contains the key.
package struct CertificateAnswer: JSONObject, Sendable {
  private let certificate: TrackedCertificate
  private let app: String?
  private let uses: [TrackedCertificate.Use]
  private let facts: CertificateContents?
  private let planned: Forecast.Plan
  private let taken: Acknowledgement?
  private let now: Date

  /// - Parameters:
  ///   - app: the bundle ID of the app that it was uploaded for.
  ///   - uses: the credentials that use it.
  ///   - facts: the other contents of its file, and people's notes.
  ///   - planned: the pushes and schedules that will use it.
  ///   - taken: who handles it.
  package init(
    _ certificate: TrackedCertificate, app: String?, uses: [TrackedCertificate.Use], facts: CertificateContents?,
    planned: Forecast.Plan = .init(), taken: Acknowledgement? = nil, now: Date
  ) {
    (self.certificate, self.app, self.uses, self.facts) = (certificate, app, uses, facts)
    (self.planned, self.taken, self.now) = (planned, taken, now)
  }

  package func writeMembers(to json: inout JSONWriter) {
    let details = certificate.details
    json.member("id", certificate.id)
    json.member("key", "certificates/\(certificate.id)")
    json.member("kind", details.kind)
    json.member("name", details.name)
    json.member("state", Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now).rawValue)
    json.member("days_left", Expiry.number(daysLeft: Expiry.daysLeft(notAfter: details.notAfter, now: now)))
    json.member("app", app)
    json.member("topics", details.topics)
    json.member("environments", details.environments.map(\.rawValue))
    json.member("team_id", details.teamID)
    json.member("key_id", details.keyID)
    json.member("subject", details.subject)
    json.member("issuer", details.issuer)
    json.member("serial", details.serial)
    json.member("sha256", details.sha256)
    json.member("not_before", details.notBefore)
    json.member("not_after", details.notAfter)
    json.member("has_private_key", details.hasPrivateKey)
    json.member("file_name", details.fileName)
    json.member("uploaded_by", certificate.uploadedBy)
    json.member("created_at", certificate.createdAt)
    json.member("made_by", facts?.notes.madeBy)
    json.member("note", facts?.notes.note)
    json.member("facts", facts?.says)
    json.array("used_by", uses) { json, use in
      let own = planned.of(use)
      json.object { json in
        json.member("app", use.bundleID)
        json.member("environment", use.environment.rawValue)
        json.member("scheduled_pushes", own.pushes.count)
        json.member("schedules", own.schedules.count)
      }
    }
    json.member("replaced_by", certificate.replacement?.by)
    json.member("replaced_at", certificate.replacement?.at)
    json.member("kept_until", certificate.replacement?.keptUntil)
    json.member("acknowledgement", taken)
    json.member("forecast", Forecast.missed(planned.pushes, notAfter: details.notAfter))
    json.member("forecast_repeating", Forecast.overruns(planned.schedules, notAfter: details.notAfter, now: now))
  }
}

extension Acknowledgement: JSONObject {
  /// The schema `Acknowledgement`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("by", by)
    json.member("until", until)
  }
}
