import Certificates
import Foundation
import HTTPServer
import Model
import SQLite
package import Store

/// `/metrics`: Prometheus' text format 0.0.4. A token is required unless the configuration makes it public, because
/// names of certificates and hosts are confidential.
package enum MetricsRoute {
  static let path = "/metrics"

  static func add(to routes: inout ConsoleRouter) {
    let console = routes.console
    routes.plain(.get, path) { request in
      let now = console.clock()
      _ = try console.rateLimits.take(request, now: now)
      if !console.configuration.isMetricsOpen {
        let token = try await console.token(of: request, now: now)
        do {
          try await CallAccess(role: .viewer, scope: .read, reach: .installation).check(token, request, console.store)
        } catch let error as any HTTPResponseError where error.status == .forbidden {
          await console.noteRefusal(of: .token(token), request, error.status, error.message, now: now)
          throw error
        }
      }
      let version = console.configuration.version
      var text = try await console.store.read { try metrics($0, version: version, now: now) }
      text.gauge(
        "signalbox_http_connections", "Number of open connections of browsers and API clients.",
        [([:], Double(console.configuration.connections()))])
      times(console.store.times.all, &text)
      return Response(
        .ok,
        headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
        body: .bytes(Array(text.text.utf8)))
    }
  }

  private static func metrics(_ database: Database, version: String, now: Date) throws -> MetricsText {
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
    return text
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
    text.gauge("signalbox_deliveries_waiting", "Number of devices waiting for a retry.", [([:], Double(waiting))])
    text.gauge(
      "signalbox_queue_devices", "Number of devices that pushes under way still have to reach.",
      [([:], Double(try Push.queueDepth(database)))])
  }

  // MARK: Times

  /// What answers the requests of a route. Asked for every request: without a copy of the route.
  package static func handler(of route: String?) -> ServiceTimes.Handler {
    guard let route else { return .nothing }
    return handlers.first { route.hasPrefix($0.prefix) }?.handler ?? .page
  }

  private static let handlers: [(prefix: String, handler: ServiceTimes.Handler)] = [
    ("/assets/", .asset), ("/css/", .asset), ("/js/", .asset), ("/icons/", .asset), ("/fonts/", .asset),
    ("/api/", .api), ("/v3/", .pushAPI), ("/fcm/", .pushAPI), ("/gcm/", .pushAPI), ("/healthz", .monitoring),
    ("/readyz", .monitoring), ("/metrics", .monitoring),
  ]

  private static func times(_ all: [ServiceTimes.Subject: ServiceTimes.Histogram], _ text: inout MetricsText) {
    typealias Samples = [(labels: [String: String], value: ServiceTimes.Histogram)]
    var (requests, answers, transactions): (Samples, Samples, Samples) = ([], [], [])
    for (subject, histogram) in all {
      switch subject {
      case .request(let handler, let status):
        requests.append((["handler": handler.rawValue, "status": "\(status)xx"], histogram))
      case .answer(let provider): answers.append((["provider": provider.rawValue], histogram))
      case .database(let isWrite): transactions.append((["kind": isWrite ? "write" : "read"], histogram))
      }
    }
    text.histogram(
      "signalbox_http_request_duration_seconds", "Time from the head of a request to the end of its answer.", requests)
    text.histogram(
      "signalbox_provider_answer_seconds", "Time from a request to a push service to its answer, for each device.",
      answers)
    text.histogram(
      "signalbox_database_seconds", "Duration of a database transaction, including the wait for its turn.",
      transactions)
  }
}
