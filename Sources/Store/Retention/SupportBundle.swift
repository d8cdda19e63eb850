package import JSON
internal import Model
package import SQLite

/// What somebody who helps with an installation needs of its database: settings, states and counts. Without secrets,
/// names of people, aliases, tags, and contents of pushes; tokens are shortened to their ends.
package enum SupportBundle {
  /// A file of the bundle and the statement that makes its JSON. Every column that is read is named here, so that a
  /// later column with a secret stays out by itself.
  private static let queries: [(name: String, sql: String)] = [
    (
      "schema.json",
      """
      SELECT json_object('sqlite', sqlite_version(), 'bytes', (SELECT page_count * page_size
          FROM pragma_page_count(), pragma_page_size()),
        'migrations', (SELECT json_group_array(json_object('id', id, 'at', \(time("applied_at"))))
          FROM migrations))
      """
    ),
    (
      "counts.json",
      """
      SELECT json_object(\(counted.map { "'\($0)', (SELECT count(*) FROM \($0))" }.joined(separator: ", ")),
        'devices', (SELECT json_group_array(json_object('app', app_id, 'environment', environment,
          'platform', platform, 'provider', provider, 'state', state, 'count', count)) FROM device_counters))
      """
    ),
    (
      "settings.json",
      """
      SELECT json_object(
        'settings', (SELECT json_group_object(key, value) FROM settings
          WHERE length(value) < 10 AND value NOT GLOB '*[^0-9]*'),
        'apps', (SELECT json_group_array(json_object('id', id, 'bundle_id', bundle_id, 'package_name', package_name,
          'has_alias_rule', alias_rule IS NOT NULL)) FROM apps),
        'credentials', (SELECT json_group_array(json_object('app', app_id, 'provider', provider,
          'environment', environment, 'certificate', certificate_id, 'has_own_trust', trust_pem IS NOT NULL,
          'last_accepted_at', \(time("last_accepted_at")), 'last_refused_at', \(time("last_refused_at")),
          'last_refusal', last_refusal)) FROM credentials),
        'certificates', (SELECT json_group_array(json_object('id', id, 'kind', kind, 'app', app_id,
          'environments', json(environments), 'topics', json(topics), 'not_before', \(time("not_before")),
          'not_after', \(time("not_after")), 'has_private_key', has_private_key, 'replaced_by', replaced_by))
          FROM certificates),
        'receivers', (SELECT json_group_array(json_object('id', id, 'channel', channel, 'language', language,
          'is_active', is_active)) FROM receivers),
        'webhooks', (SELECT json_group_array(json_object('id', id, 'host', target, 'app', app_id,
          'events', trim(events), 'is_active', is_active, 'failures', failures,
          'failing_since', \(time("failing_since")), 'dropped', dropped)) FROM webhooks),
        'people', (SELECT json_group_object(role, n) FROM (SELECT role, count(*) AS n FROM users GROUP BY role)))
      """
    ),
    (
      "activity.json",
      """
      SELECT json_group_array(json_object('at', \(time("at")), 'action', action)) FROM (
        SELECT at, action FROM audit ORDER BY id DESC LIMIT 500)
      """
    ),
    (
      "incidents.json",
      """
      SELECT json_group_array(json_object('id', id, 'app', app_id, 'environment', environment, 'provider', provider,
        'kind', kind, 'reason', reason, 'state', state, 'devices', devices, 'pushes', pushes,
        'opened_at', \(time("opened_at")), 'last_at', \(time("last_at")))) FROM (
        SELECT * FROM incidents ORDER BY id DESC LIMIT 200)
      """
    ),
    (
      "pushes.json",
      """
      SELECT json_group_array(json_object('id', uid, 'app', app_id, 'environment', environment, 'state', state,
        'source', source, 'created_at', \(time("created_at")), 'started_at', \(time("started_at")),
        'finished_at', \(time("finished_at")), 'target', target, 'accepted', accepted, 'failed', failed,
        'dead_token', dead_token, 'skipped', skipped, 'unknown', unknown, 'waiting', waiting,
        'reasons', (SELECT json_group_array(json_object('provider', provider, 'outcome', outcome, 'reason', r.text,
          'count', count)) FROM push_reasons x JOIN reasons r ON r.id = x.reason_id WHERE x.push_id = p.id),
        'examples', (SELECT json_group_array(json_object('outcome', y.outcome, 'status', y.status, 'reason', s.text,
          'at', \(time("y.at")), 'attempts', y.attempts, 'token', \(masked))) FROM (
            SELECT * FROM deliveries WHERE push_id = p.id AND outcome <> 1 LIMIT 5) y
            LEFT JOIN devices d ON d.id = y.device_id LEFT JOIN reasons s ON s.id = y.reason_id)))
      FROM (SELECT * FROM pushes ORDER BY id DESC LIMIT 50) p
      """
    ),
  ]

  /// Tables that are small, or counted quickly.
  private static let counted = [
    "apps", "credentials", "certificates", "watched_hosts", "receivers", "webhooks", "schedules", "segments",
    "push_templates", "smoke_tests", "incidents", "users", "pushes", "drafts",
  ]

  /// The ends of a token, as its service writes it, and its length in bytes.
  private static let masked = """
    CASE WHEN coalesce(d.provider, d.platform) = \(ProviderKind.apns.code)
      THEN substr(lower(hex(d.token)), 1, 4) || '…' || substr(lower(hex(d.token)), -4)
      ELSE substr(CAST(d.token AS TEXT), 1, 4) || '…' || substr(CAST(d.token AS TEXT), -4) END
      || ' (' || length(d.token) || ')'
    """

  private static func time(_ column: String) -> String {
    "strftime('%Y-%m-%dT%H:%M:%SZ', \(column) / 1000, 'unixepoch')"
  }

  /// The files by name.
  package static func files(_ database: Database) throws -> [(name: String, json: JSONValue)] {
    try queries.map { name, sql in
      let text = try database.fetchOne(sql) { $0.text(0) }
      return (name, try JSONValue(parsing: Array((text ?? "null").utf8)))
    }
  }
}
