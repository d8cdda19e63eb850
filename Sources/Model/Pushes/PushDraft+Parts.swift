package import JSON

extension PushDraft.APNsOverrides {
  package var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if !headers.isEmpty { members["headers"] = .object(headers.mapValues(JSONValue.string)) }
    if let payload { members["payload"] = payload }
    if isIdentified { members["identified"] = true }
    return .object(members)
  }

  static func read(_ fields: JSONFields) -> Self {
    var overrides = Self()
    overrides.headers = readHeaders(fields)
    // The API documentation's example has `"payload": {}`: no override.
    overrides.payload = fields.members("payload").flatMap { $0.isEmpty ? nil : .object($0) }
    overrides.isIdentified = fields.bool("identified") ?? false
    return overrides
  }

  private static func readHeaders(_ fields: JSONFields) -> [String: String] {
    let members = fields.members("headers") ?? [:]
    var headers: [String: String] = [:]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let lower = name.lowercased()
      let text = value.string ?? value.integer.map(String.init)
      guard let text else {
        let arguments = ["expected": "string", "found": value.typeName]
        fields.report("headers", Problem(name, FieldMessage.expected, arguments))
        continue
      }
      if headers.updateValue(text, forKey: lower) != nil {
        fields.report("headers", Problem(name, DraftMessage.headerTwice))
      } else if let problem = APNsHeader.problem(with: lower, value: text) {
        fields.report("headers", problem.under(name))
      }
    }
    return headers
  }
}

extension PushDraft.Options {
  package var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if let timeToLive { members["time_to_live"] = .integer(Int64(timeToLive)) }
    if let priority { members["priority"] = .string(priority.rawValue) }
    if let collapseID { members["collapse_id"] = .string(collapseID) }
    if let pushType { members["push_type"] = .string(pushType.rawValue) }
    if let rate { members["rate"] = .integer(Int64(rate)) }
    if let spreadMinutes { members["spread_minutes"] = .integer(Int64(spreadMinutes)) }
    if undoSeconds != 0 { members["undo_seconds"] = .integer(Int64(undoSeconds)) }
    if atMostOnce { members["at_most_once"] = true }
    if allowEmptyAudience { members["allow_empty_audience"] = true }
    if dryRun { members["dry_run"] = true }
    if anyAndroid { members["any_android"] = true }
    return .object(members)
  }

  static func read(_ fields: JSONFields) -> Self {
    var options = Self()
    options.timeToLive = fields.integer("time_to_live", in: PushLimits.timeToLive)
    options.priority = fields.choice("priority")
    options.collapseID = fields.string("collapse_id", limit: .bytes(PushLimits.collapseID)) {
      APNsHeader.problem(with: APNsHeader.collapseID, value: $0)
    }
    options.pushType = fields.choice("push_type")
    options.rate = fields.integer("rate", in: PushLimits.rate)
    options.spreadMinutes = fields.integer("spread_minutes", in: PushLimits.spreadMinutes)
    if options.rate != nil, options.spreadMinutes != nil {
      fields.report("spread_minutes", Problem("", RepeatMessage.speedTwice))
    }
    options.undoSeconds = fields.integer("undo_seconds", in: PushLimits.undoSeconds) ?? 0
    options.atMostOnce = fields.bool("at_most_once") ?? false
    options.allowEmptyAudience = fields.bool("allow_empty_audience") ?? false
    options.dryRun = fields.bool("dry_run") ?? false
    options.anyAndroid = fields.bool("any_android") ?? false
    return options
  }
}

/// Where a push, a schedule or a run of a smoke test was asked for.
package enum PushSource: String, Sendable, CaseIterable {
  case web, api, cli, jpush
  /// `POST /fcm/send`.
  case legacy
  /// A schedule's rule.
  case schedule
  /// The run of a smoke test.
  case smoke
}
