import Foundation
package import JSON
import Model
import Store

extension ExpiryReport: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("checked_at", checkedAt.rfc3339)
    json.member("within_days", withinDays)
    json.member("exit_code", Int(exitCode))
    json.member("items", findings)
    json.member("unreadable", unreadable)
    json.member("closed", closed)
  }
}

extension ExpiryReport.Unreadable: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("key", key)
    json.member("name", name)
    json.member("reason", reason)
  }
}

extension ExpiryReport.Finding: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    item.writeMembers(to: &json)
    json.member("band", band.rawValue)
    json.member("days_left", Expiry.number(daysLeft: daysLeft))
    json.member("forecast", missed)
    json.member("forecast_repeating", overruns)
  }
}

extension TrackedExpiry: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("key", key)
    json.member("name", name)
    json.member("kind", kind.rawValue)
    json.member("app", app)
    json.member("topics", topics)
    json.member("environments", environments.map { $0.rawValue })
    json.member("serial", serial)
    json.member("sha256", sha256)
    json.member("not_before", notBefore.map { $0.rfc3339 })
    json.member("not_after", notAfter.map { $0.rfc3339 })
    json.member("ending_issuer", endingIssuer)
  }
}

extension Date {
  var rfc3339: String { formatted(.iso8601) }
}
