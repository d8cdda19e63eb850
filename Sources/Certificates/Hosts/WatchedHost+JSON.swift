package import Foundation
package import JSON
import Model
package import Store

package struct HostAnswer: JSONObject, Sendable {
  private let host: WatchedHost
  private let history: [HostEvent]?
  private let taken: Acknowledgement?
  private let now: Date

  /// - Parameters:
  ///   - history: nil: left out, as in lists.
  ///   - taken: the current acknowledgement.
  package init(_ host: WatchedHost, history: [HostEvent]? = nil, taken: Acknowledgement? = nil, now: Date) {
    (self.host, self.history, self.taken, self.now) = (host, history, taken, now)
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", host.id)
    json.member("key", host.key)
    json.member("name", host.name)
    json.member("host", host.address.host)
    json.member("port", Int(host.address.port))
    json.member("protocol", host.address.startProtocol.rawValue)
    json.member("server_name", host.address.serverName)
    json.member("note", host.note)
    json.member("state", host.state(now: now))
    json.member("days_left", Expiry.number(daysLeft: Expiry.daysLeft(notAfter: host.seen?.notAfter, now: now)))
    json.member("probed_at", host.probedAt)
    json.member("answered_at", host.answeredAt)
    json.member("failing_since", host.failingSince)
    json.member("failure", host.failure)
    json.objects("findings", HostFinding.all(host, now: now)) { json, finding in
      json.member("code", finding.problem.code)
      json.member("severity", finding.isGrave ? "error" : "hint")
      json.member("message", finding.problem.text)
    }
    json.member("certificate", host.seen)
    json.member("created_by", host.createdBy)
    json.member("created_at", host.createdAt)
    json.member("acknowledgement", taken)
    if let history { json.member("history", history) }
  }
}

/// A host's certificate, for the list of everything that can expire.
package struct HostCertificateAnswer: JSONObject, Sendable {
  private let host: WatchedHost
  private let taken: Acknowledgement?
  private let now: Date

  /// - Parameter taken: the current acknowledgement.
  package init(_ host: WatchedHost, taken: Acknowledgement? = nil, now: Date) {
    (self.host, self.taken, self.now) = (host, taken, now)
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", host.id)
    json.member("key", host.key)
    json.member("kind", CertificateKind.host.rawValue)
    json.member("name", host.name)
    json.member("state", host.state(now: now))
    json.member("days_left", Expiry.number(daysLeft: Expiry.daysLeft(notAfter: host.seen?.notAfter, now: now)))
    for name in ["app", "team_id", "key_id", "file_name", "made_by", "facts"] as [StaticString] {
      json.key(name)
      json.null()
    }
    for name in ["topics", "environments", "used_by", "forecast", "forecast_repeating"] as [StaticString] {
      json.key(name)
      json.array { _ in }
    }
    json.member("subject", host.seen?.subject)
    json.member("issuer", host.seen?.issuer)
    json.member("serial", host.seen?.serial)
    json.member("sha256", host.seen?.sha256)
    json.member("not_before", host.seen?.notBefore)
    json.member("not_after", host.seen?.notAfter)
    json.member("has_private_key", false)
    json.member("uploaded_by", host.createdBy)
    json.member("created_at", host.createdAt)
    json.member("note", host.note)
    for name in ["replaced_by", "replaced_at", "kept_until"] as [StaticString] {
      json.key(name)
      json.null()
    }
    json.member("acknowledgement", taken)
  }
}

extension WatchedHost {
  /// A band, or `unknown` before the first sighting.
  fileprivate func state(now: Date) -> String {
    seen == nil ? "unknown" : Expiry.band(notBefore: seen?.notBefore, notAfter: seen?.notAfter, now: now).rawValue
  }
}

extension HostFailure: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("code", code.rawValue)
    json.member("message", description)
  }
}

extension HostSighting: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("address", address)
    json.member("tls_version", tlsVersion)
    json.member("subject", subject)
    json.member("issuer", issuer)
    json.member("serial", serial)
    json.member("sha256", sha256)
    json.member("names", names)
    json.member("not_before", notBefore)
    json.member("not_after", notAfter)
    json.member("trust", trust)
    json.member("name_matches", nameMatches)
    json.objects("chain", chain) { json, item in
      json.member("subject", item.subject)
      json.member("sha256", item.sha256)
      json.member("not_after", item.notAfter)
      json.member("surplus", item.isSurplus)
    }
  }
}

extension HostEvent: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("at", at)
    json.member("kind", kind.rawValue)
    json.member("sha256", sha256)
    json.member("serial", serial)
    json.member("issuer", issuer)
    json.member("not_after", notAfter)
    json.member("failure", failure)
  }
}
