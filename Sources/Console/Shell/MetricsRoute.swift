import Certificates
import Foundation
import HTTPServer
import Model
import SQLite
import Store
import Text

/// `/metrics`: Prometheus' text format 0.0.4. A token is required unless the configuration makes it public, because
/// names of certificates and hosts are confidential.
enum MetricsRoute {
  static func add(to routes: inout ConsoleRouter) {
    let console = routes.console
    routes.plain(.get, "/metrics") { request in
      let now = console.clock()
      if !console.configuration.isMetricsOpen {
        let token = try await console.authentication.token(request, now: now)
        try await CallAccess(role: .viewer, scope: .read, reach: .installation).check(token, request, console.store)
      }
      let version = console.configuration.version
      let text = try await console.store.read { try metrics($0, version: version, now: now) }
      return Response(
        .ok,
        headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
        body: .bytes(Array(text.utf8)))
    }
  }

  private static func metrics(_ database: Database, version: String, now: Date) throws -> String {
    var text = MetricsText()
    text.gauge("signalbox_build_info", "Version of the running server; always 1.", [(["version": version], 1)])
    let report = try CertificateTracker.report(database, now: now)
    text.gauge(
      "signalbox_credential_expiry_timestamp_seconds",
      "Expiry of each certificate, key, profile, or watched host in Unix seconds; items that never expire are left out.",
      report.findings.compactMap { finding in
        let item = finding.item
        guard finding.daysLeft != nil, let notAfter = item.notAfter else { return nil }
        return (
          [
            "key": item.key ?? "", "kind": item.kind.rawValue, "name": item.name, "app": item.app ?? "",
            "environment": item.environments.map(\.rawValue).joined(separator: ","),
            "topic": item.topics.first ?? "", "serial": item.serial ?? "",
          ], notAfter.timeIntervalSince1970
        )
      })
    var bands: [Expiry.Band: Int] = [:]
    for finding in report.findings { bands[finding.band, default: 0] += 1 }
    text.gauge(
      "signalbox_certificates", "Number of items in each expiry band.",
      Expiry.Band.allCases.map { (["band": $0.rawValue], Double(bands[$0] ?? 0)) })
    text.gauge(
      "signalbox_certificates_unreadable", "Number of items whose expiry could not be determined.",
      [([:], Double(report.unreadable.count))])
    text.gauge(
      "signalbox_forecast_pushes", "Number of pushes scheduled after their credential expires.",
      [([:], Double(report.findings.reduce(0) { $0 + $1.missed.count }))])
    text.gauge(
      "signalbox_forecast_schedules",
      "Number of repeating pushes that continue after their credential expires, soon or before their next run.",
      [([:], Double(report.findings.reduce(0) { $0 + $1.pressing.count }))])
    text.gauge(
      "signalbox_schedules_troubled",
      "Number of schedules that recently missed a run, are overdue, or stopped with an error, as on the Overview.",
      [([:], Double(try ScheduleTrouble.all(database, now: now).count))])
    text.gauge(
      "signalbox_incidents_open", "Number of open incidents; those that are snoozed are left out.",
      [([:], Double(try Incident.counts(database, now: now).open))])
    let webhooks = try Webhook.all(database)
    func labels(_ webhook: Webhook) -> [String: String] {
      ["webhook": "\(webhook.id)", "name": webhook.details.name]
    }
    text.gauge(
      "signalbox_webhook_failures", "Number of attempts that failed since the webhook last accepted an event.",
      webhooks.map { (labels($0), Double($0.failures)) })
    text.gauge(
      "signalbox_webhook_events_pending", "Number of events that wait for the webhook.",
      webhooks.map { (labels($0), Double($0.pending)) })
    try hosts(database, &text)
    try pushes(database, &text)
    return text.text
  }

  private static func hosts(_ database: Database, _ text: inout MetricsText) throws {
    let hosts = try WatchedHost.all(database).filter { $0.probedAt != nil }
    func labels(_ host: WatchedHost) -> [String: String] { ["key": host.key, "name": host.name] }
    text.gauge(
      "signalbox_host_probe_success", "1 if the last check of the host saw its certificate.",
      hosts.map { (labels($0), $0.failure == nil ? 1 : 0) })
    text.gauge(
      "signalbox_host_probe_timestamp_seconds", "Time of the last check of the host.",
      hosts.compactMap { host in host.probedAt.map { (labels(host), $0.timeIntervalSince1970) } })
  }

  private static func pushes(_ database: Database, _ text: inout MetricsText) throws {
    let states = try Push.states(database)
    text.gauge(
      "signalbox_pushes", "Number of pushes in each state.",
      PushState.allCases.map { (["state": $0.rawValue], Double(states[$0] ?? 0)) })
    let (counts, waiting) = try Push.outcomes(database)
    text.gauge(
      "signalbox_deliveries", "Number of devices by outcome over all stored pushes.",
      OutcomeKind.allCases.map { (["outcome": $0.name], Double(counts[$0])) })
    text.gauge(
      "signalbox_deliveries_waiting", "Number of devices waiting for a retry.", [([:], Double(waiting))])
  }
}

struct MetricsText {
  private(set) var text = ""

  /// Adds a gauge with its samples. Empty labels are omitted, which Prometheus treats the same.
  mutating func gauge(_ name: String, _ help: String, _ samples: [(labels: [String: String], value: Double)]) {
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) gauge\n"
    for sample in samples {
      let labels = sample.labels.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        .map { "\($0.key)=\"\(Self.escaped($0.value, quotes: true))\"" }
      let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
      let isWhole = sample.value == sample.value.rounded() && abs(sample.value) < 1e15
      text += "\(name)\(list) \(isWhole ? "\(Int64(sample.value))" : "\(sample.value)")\n"
    }
  }

  /// Works on bytes: in Swift, `\r\n` is one character, which is not equal to `\n`.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped: [UInt8] = []
    for byte in text.singleLine.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): escaped += Array("\\\\".utf8)
      case UInt8(ascii: "\n"): escaped += Array("\\n".utf8)
      case UInt8(ascii: "\"") where quotes: escaped += Array("\\\"".utf8)
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
