import JSON
import Model
import Store

/// The body of `PATCH /api/v1/devices/{id}`.
struct DevicePatch: Sendable {
  private(set) var alias: Change<String?> = .keep
  /// Nil: unchanged.
  private(set) var tags: [String]?
  private(set) var name: Change<String?> = .keep
  private(set) var details = DeviceDetails.Changes()
  private(set) var environment: Environment?
  /// The number that the app shows now. Nil: unchanged.
  private(set) var badge: Int?
  /// Whether to reactivate a parked device.
  private(set) var isReleased = false

  private static let tagLimit = 1000

  private enum State: String, CaseIterable {
    case active
  }

  /// - Throws: every problem of the body together.
  init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    if let text = fields.string("alias", limit: .characters(AliasRule.none.limit), check: AliasRule.none.problem(with:))
    {
      alias = .set(text)
    } else if json["alias"] == .null {
      alias = .set(nil)
    }
    let hasTags = fields.value("tags") != nil
    let names = fields.strings("tags", atMost: Self.tagLimit) { TagRule.problem(with: $0, rule: .none) }
    if hasTags { tags = names }
    if let text = fields.string("name", limit: .characters(AppName.nameLimit), check: { AppName.problem(withName: $0) })
    {
      name = .set(text)
    } else if json["name"] == .null {
      name = .set(nil)
    }
    details = DeviceDetails.Changes(fields, json)
    environment = fields.choice("environment", required: json["environment"] != nil)
    badge = fields.integer("badge", required: json["badge"] != nil, in: PushLimits.badge)
    isReleased = fields.choice("state", required: json["state"] != nil, as: State.self) != nil
    // Forms treat an empty text as absent. Here an empty text is an error: null removes a value.
    for member in ["alias", "name"] + DeviceDetails.names where json[member] == "" {
      fields.report(member, Problem("", code: "field.empty_or_null", "Must not be empty. Use null to remove it."))
    }
    try fields.finish()
    if json.object?.isEmpty != false { throw Problems([Problem.nothingToChange]) }
  }

  /// Problems that depend on the device's app, such as its alias rule.
  func problems(_ device: Device, rule: AliasRule) -> [Problem] {
    var problems: [Problem] = []
    if case .set(let alias?) = alias, let problem = rule.problem(with: alias) {
      problems.append(problem.under("alias"))
    }
    if let tags { problems += TagRule.problems(with: tags, rule: rule).map { $0.under("tags") } }
    if device.state == .dead, isReleased || environment != nil {
      problems.append(
        Problem(
          isReleased ? "state" : "environment", code: "device.dead",
          "The push service said that this token is no longer valid. Only a new registration by the app can reactivate "
            + "the device."))
    }
    return problems
  }
}
