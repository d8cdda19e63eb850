import Foundation
public import Push
import Store

extension ExpiryReport {
  /// The same for programs.
  public var json: JSONValue {
    [
      "checked_at": .string(checkedAt.rfc3339),
      "within_days": .integer(Int64(withinDays)),
      "exit_code": .integer(Int64(exitCode)),
      "items": .array(findings.map(\.json)),
      "unreadable": .array(
        unreadable.map { ["key": .optional($0.key), "name": .string($0.name), "reason": .string($0.reason)] }),
      "closed": .array(
        closed.map { ["key": .optional($0.key), "name": .string($0.name), "reason": .string($0.reason)] }),
    ]
  }
}

extension ExpiryReport.Finding {
  /// The same for programs.
  public var json: JSONValue {
    guard case .object(var members) = item.json else { return item.json }
    members["band"] = .string(band.rawValue)
    members["days_left"] = daysLeft.map { .integer(Int64($0)) } ?? .null
    members["forecast"] = .array(missed.map(\.json))
    members["forecast_repeating"] = .array(overruns.map(\.json))
    return .object(members)
  }
}

extension TrackedExpiry {
  /// The same for programs.
  public var json: JSONValue {
    [
      "key": key.map(JSONValue.string) ?? .null,
      "name": .string(name),
      "kind": .string(kind.rawValue),
      "app": app.map(JSONValue.string) ?? .null,
      "topics": .array(topics.map(JSONValue.string)),
      "environments": .array(environments.map { .string($0.rawValue) }),
      "serial": serial.map(JSONValue.string) ?? .null,
      "sha256": sha256.map(JSONValue.string) ?? .null,
      "not_before": notBefore.map { .string($0.rfc3339) } ?? .null,
      "not_after": notAfter.map { .string($0.rfc3339) } ?? .null,
      "ending_issuer": endingIssuer.map(JSONValue.string) ?? .null,
    ]
  }
}

extension Date {
  /// As `2026-11-20T12:00:00Z`.
  var rfc3339: String { formatted(.iso8601) }
}
