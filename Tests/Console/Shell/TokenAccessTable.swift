import HTTPServer
import Store

/// Who may make each call of the API: the expectation that ``TokenAccessTests`` holds against the router.
struct TokenAccessTable {
  /// The scope of a token that has scopes.
  enum Need { case read, devices, certificates, admin, send, sendEverywhere }

  /// What a token sees that is limited to an app without a part in the call.
  enum Other {
    /// 403.
    case closed
    /// 404, as for an unknown ID.
    case hidden
    /// An answer about its own app, or about none.
    case open
  }

  /// Paths without a prefix are below `/api/v1`.
  private static let table: [(String, User.Role, Need, Other)] = [
    ("GET /apps", .viewer, .read, .open), ("POST /apps", .operator, .admin, .closed),
    ("GET /apps/:app", .viewer, .read, .closed), ("PATCH /apps/:app", .operator, .admin, .closed),
    ("DELETE /apps/:app", .admin, .admin, .closed), ("GET /apps/:app/credentials", .viewer, .read, .closed),
    ("PUT /apps/:app/credentials/:environment", .admin, .certificates, .closed),
    ("DELETE /apps/:app/credentials/:environment", .admin, .certificates, .closed),
    ("GET /apps/:app/jpush-key", .viewer, .read, .closed), ("POST /apps/:app/jpush-key", .admin, .admin, .closed),
    ("DELETE /apps/:app/jpush-key", .admin, .admin, .closed), ("GET /apps/:app/pages", .viewer, .read, .closed),
    ("PUT /apps/:app/pages", .operator, .admin, .closed), ("DELETE /apps/:app/pages", .operator, .admin, .closed),
    ("POST /apps/:app/pages/try", .viewer, .read, .closed),
    ("GET /apps/:app/channels/:environment", .viewer, .read, .closed),
    ("POST /apps/:app/channels/:environment", .operator, .devices, .closed),
    ("POST /apps/:app/channels/:environment/refresh", .operator, .devices, .closed),
    ("GET /apps/:app/channels/:environment/:id", .operator, .devices, .closed),
    ("DELETE /apps/:app/channels/:environment/:id", .operator, .devices, .closed),
    ("GET /apps/:app/topics/:environment", .viewer, .read, .closed),
    ("POST /apps/:app/topics/:environment/subscribe", .operator, .devices, .closed),
    ("POST /apps/:app/topics/:environment/unsubscribe", .operator, .devices, .closed),
    ("GET /apps/:app/topics/:environment/changes", .viewer, .read, .closed),
    ("POST /apps/:app/topics/:environment/changes", .operator, .devices, .closed),
    ("GET /apps/:app/topics/:environment/changes/:change", .viewer, .read, .closed),
    ("GET /apps/:app/topics/:environment/changes/:change/devices", .viewer, .read, .closed),
    ("GET /apps/:app/topic-rules", .viewer, .read, .closed),
    ("PUT /apps/:app/topic-rules", .operator, .devices, .closed),
    ("GET /apps/:app/segments", .viewer, .read, .closed), ("POST /apps/:app/segments", .operator, .devices, .closed),
    ("GET /apps/:app/segments/:segment", .viewer, .read, .closed),
    ("PUT /apps/:app/segments/:segment", .operator, .devices, .closed),
    ("DELETE /apps/:app/segments/:segment", .operator, .devices, .closed),
    ("GET /apps/:app/segments/:segment/devices", .viewer, .read, .closed),
    ("GET /apps/:app/jpush/:environment/schedules", .viewer, .read, .closed),
    ("DELETE /apps/:app/jpush/:environment/schedules/:name", .operator, .devices, .closed),
    ("GET /apps/:app/jpush/:environment/tags", .viewer, .read, .closed),
    ("POST /apps/:app/jpush/:environment/tags/:name", .operator, .devices, .closed),
    ("DELETE /apps/:app/jpush/:environment/tags/:name", .operator, .devices, .closed),
    ("GET /apps/:app/jpush/:environment/tags/:name/devices/:device", .viewer, .read, .closed),
    ("GET /apps/:app/jpush/:environment/aliases/:name", .viewer, .read, .closed),
    ("DELETE /apps/:app/jpush/:environment/aliases/:name", .operator, .devices, .closed),
    ("GET /apps/:app/client-keys", .viewer, .read, .closed), ("POST /apps/:app/client-keys", .admin, .admin, .closed),
    ("DELETE /apps/:app/client-keys/:key", .admin, .admin, .closed), ("GET /devices", .viewer, .read, .open),
    ("PUT /devices", .operator, .devices, .open), ("GET /devices/:id", .viewer, .read, .hidden),
    ("PATCH /devices/:id", .operator, .devices, .hidden), ("DELETE /devices/:id", .operator, .devices, .hidden),
    ("GET /devices/:id/jpush", .viewer, .read, .hidden), ("POST /devices/:id/jpush", .operator, .devices, .hidden),
    ("POST /devices/batch", .operator, .devices, .open), ("POST /devices/import", .operator, .devices, .open),
    ("POST /audience/count", .viewer, .read, .open),
    ("POST /audience/explain", .viewer, .read, .open), ("GET /pushes", .viewer, .read, .open),
    ("POST /pushes", .operator, .send, .open), ("POST /pushes/dialects", .viewer, .read, .open),
    ("POST /pushes/dialects/read", .viewer, .read, .open), ("GET /pushes/:id", .viewer, .read, .hidden),
    ("GET /pushes/:id/deliveries", .viewer, .read, .hidden), ("GET /pushes/:id/events", .viewer, .read, .hidden),
    ("GET /pushes/:id/receipts/events", .viewer, .read, .hidden),
    ("POST /pushes/:id/pause", .operator, .send, .hidden), ("POST /pushes/:id/resume", .operator, .send, .hidden),
    ("POST /pushes/:id/retry", .operator, .send, .hidden), ("POST /pushes/:id/move", .operator, .devices, .hidden),
    ("POST /pushes/:id/move-back", .operator, .devices, .hidden),
    ("POST /pushes/:id/approve", .operator, .send, .hidden), ("POST /pushes/:id/reject", .operator, .send, .hidden),
    ("POST /schedules/:id/approve", .operator, .send, .hidden),
    ("POST /schedules/:id/reject", .operator, .send, .hidden),
    ("POST /pushes/:id/cancel", .operator, .send, .hidden), ("GET /incidents", .viewer, .read, .open),
    ("POST /incidents/:id/move", .operator, .devices, .hidden),
    ("POST /incidents/:id/move-back", .operator, .devices, .hidden),
    ("GET /incidents/:id", .viewer, .read, .hidden), ("PATCH /incidents/:id", .operator, .send, .hidden),
    ("GET /schedules", .viewer, .read, .open), ("GET /schedules/:id", .viewer, .read, .hidden),
    ("GET /schedules/:id/occurrences", .viewer, .read, .hidden),
    ("POST /schedules/:id/pause", .operator, .send, .hidden),
    ("POST /schedules/:id/resume", .operator, .send, .hidden),
    ("POST /schedules/:id/cancel", .operator, .send, .hidden), ("GET /templates", .viewer, .read, .closed),
    ("POST /templates", .operator, .sendEverywhere, .closed), ("GET /templates/:id", .viewer, .read, .closed),
    ("PATCH /templates/:id", .operator, .sendEverywhere, .closed),
    ("DELETE /templates/:id", .operator, .sendEverywhere, .closed), ("GET /smoke-tests", .viewer, .read, .open),
    ("POST /smoke-tests", .operator, .send, .open), ("GET /smoke-tests/:id", .viewer, .read, .hidden),
    ("PATCH /smoke-tests/:id", .operator, .send, .hidden), ("DELETE /smoke-tests/:id", .operator, .send, .hidden),
    ("GET /smoke-tests/:id/runs", .viewer, .read, .hidden), ("POST /smoke-tests/:id/runs", .operator, .send, .hidden),
    ("GET /smoke-tests/:id/runs/:run", .viewer, .read, .hidden), ("GET /certificates", .viewer, .read, .open),
    ("POST /certificates", .admin, .certificates, .open), ("GET /certificates/:id", .viewer, .read, .hidden),
    ("PATCH /certificates/:id", .admin, .certificates, .hidden),
    ("DELETE /certificates/:id", .admin, .certificates, .hidden), ("GET /hosts", .viewer, .read, .closed),
    ("POST /hosts", .admin, .certificates, .closed), ("GET /hosts/:id", .viewer, .read, .closed),
    ("PATCH /hosts/:id", .admin, .certificates, .closed), ("DELETE /hosts/:id", .admin, .certificates, .closed),
    ("POST /hosts/:id/probe", .operator, .certificates, .closed), ("GET /receivers", .admin, .admin, .closed),
    ("POST /receivers", .admin, .admin, .closed), ("GET /receivers/:id", .admin, .admin, .closed),
    ("PATCH /receivers/:id", .admin, .admin, .closed), ("DELETE /receivers/:id", .admin, .admin, .closed),
    ("POST /receivers/:id/test", .admin, .admin, .closed), ("GET /webhooks", .admin, .admin, .closed),
    ("POST /webhooks", .admin, .admin, .closed), ("GET /webhooks/:id", .admin, .admin, .closed),
    ("PATCH /webhooks/:id", .admin, .admin, .closed), ("DELETE /webhooks/:id", .admin, .admin, .closed),
    ("POST /webhooks/:id/secret", .admin, .admin, .closed), ("POST /webhooks/:id/test", .admin, .admin, .closed),
    ("GET /webhooks/:id/deliveries", .admin, .admin, .closed),
    ("POST /webhooks/:id/deliveries/:uid/redeliver", .admin, .admin, .closed),
    ("GET /reminders", .viewer, .read, .closed),
    ("PUT /certificates/:id/acknowledgement", .operator, .certificates, .hidden),
    ("DELETE /certificates/:id/acknowledgement", .operator, .certificates, .hidden),
    ("PUT /hosts/:id/acknowledgement", .operator, .certificates, .closed),
    ("DELETE /hosts/:id/acknowledgement", .operator, .certificates, .closed),
    ("POST /certificates/:id/renew", .admin, .certificates, .hidden),
    ("POST /certificates/:id/undo", .admin, .certificates, .hidden),
    ("GET /certificate-requests", .viewer, .read, .closed),
    ("POST /certificate-requests", .admin, .certificates, .closed),
    ("GET /certificate-requests/:uid", .viewer, .read, .closed),
    ("DELETE /certificate-requests/:uid", .admin, .certificates, .closed),
    ("GET /settings/retention", .viewer, .read, .closed), ("PUT /settings/retention", .admin, .admin, .closed),
    ("GET /settings/mail", .admin, .admin, .closed), ("PUT /settings/mail", .admin, .admin, .closed),
    ("DELETE /settings/mail", .admin, .admin, .closed), ("POST /settings/mail/test", .admin, .admin, .closed),
    ("GET /settings/oidc", .admin, .admin, .closed), ("PUT /settings/oidc", .admin, .admin, .closed),
    ("DELETE /settings/oidc", .admin, .admin, .closed), ("POST /settings/oidc/test", .admin, .admin, .closed),
    ("DELETE /people/:id/identities", .admin, .admin, .closed),
    ("GET /settings/second-step", .admin, .admin, .closed), ("PUT /settings/second-step", .admin, .admin, .closed),
    ("GET /settings/reminders", .admin, .admin, .closed), ("PUT /settings/reminders", .admin, .admin, .closed),
    ("DELETE /settings/reminders/checks/cron", .admin, .admin, .closed),
    ("GET /simulator/v1", .viewer, .read, .closed), ("GET /simulator/v1/phones", .viewer, .read, .closed),
    ("POST /simulator/v1/phones", .operator, .devices, .closed),
    ("GET /simulator/v1/phones/:id", .viewer, .read, .closed),
    ("PATCH /simulator/v1/phones/:id", .operator, .devices, .closed),
    ("DELETE /simulator/v1/phones/:id", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/uninstall", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/install", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/refresh", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/clear", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/subscribe", .operator, .devices, .closed),
    ("POST /simulator/v1/phones/:id/unsubscribe", .operator, .devices, .closed),
    ("GET /simulator/v1/channels", .viewer, .read, .closed),
    ("GET /simulator/v1/notifications", .viewer, .read, .closed),
    ("DELETE /simulator/v1/notifications", .operator, .devices, .closed),
    ("GET /simulator/v1/requests", .viewer, .read, .closed),
    ("DELETE /simulator/v1/requests", .operator, .devices, .closed),
    ("GET /simulator/v1/faults", .viewer, .read, .closed),
    ("DELETE /simulator/v1/faults", .operator, .devices, .closed),
    ("PUT /simulator/v1/faults/:server", .operator, .devices, .closed),
    ("GET /simulator/v1/counters", .viewer, .read, .closed), ("GET /activity", .operator, .admin, .closed),
    ("GET /activity/check", .operator, .admin, .closed),
    ("GET /people", .admin, .admin, .closed), ("POST /people", .admin, .admin, .closed),
    ("GET /people/:id", .admin, .admin, .closed), ("PATCH /people/:id", .admin, .admin, .closed),
    ("DELETE /people/:id", .admin, .admin, .closed), ("POST /people/:id/link", .admin, .admin, .closed),
    ("DELETE /people/:id/sessions", .admin, .admin, .closed),
    ("DELETE /people/:id/second-step", .admin, .admin, .closed),
    ("GET /tokens", .admin, .admin, .closed), ("POST /tokens", .admin, .admin, .closed),
    ("GET /tokens/:id", .admin, .admin, .closed), ("DELETE /tokens/:id", .admin, .admin, .closed),
  ]

  struct Entry {
    let method: HTTPServer.Method
    let pattern: String
    let role: User.Role
    let need: Need
    let other: Other

    /// Whether a token with this scope alone may make the call.
    func allows(_ scope: TokenScope) -> Bool {
      switch need {
      case .read: scope == .read || scope == .admin
      case .devices: scope == .devices || scope == .admin
      case .certificates: scope == .certificates || scope == .admin
      case .send: [.sendDevelopment, .sendProduction, .admin].contains(scope)
      case .admin, .sendEverywhere: scope == .admin
      }
    }
  }

  static let entries = table.map { line, role, need, other in
    let parts = line.split(separator: " ").map(String.init)
    let prefix = parts[1].hasPrefix("/simulator") ? "" : "/api/v1"
    return Entry(
      method: HTTPServer.Method(rawValue: parts[0]), pattern: prefix + parts[1], role: role, need: need, other: other)
  }
}
