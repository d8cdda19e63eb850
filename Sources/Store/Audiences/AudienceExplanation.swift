import Model
package import SQLite

/// A step from all devices of an app to those that a push reaches.
package struct AudienceStep: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    case app, environment, platforms
    case deviceToken = "device_token"
    case registrationID = "registration_id"
    case alias
    case tagAnd = "tag_and"
    case tag
    case tagNot = "tag_not"
    /// Several segments, or one that does not exist.
    case segment
    case aliasForm = "alias_form"
    case appVersion = "app_version"
    case timeZone = "time_zone"
    case language
    case seenWithin = "seen_within"
    case seenOver = "seen_over"
    case notParked = "not_parked"
    case registered
    case credential
  }

  package let kind: Kind
  /// What the step asks for.
  package let names: [String]
  /// The segment whose rule it belongs to.
  package let segment: String?

  package init(kind: Kind, names: [String], segment: String? = nil) {
    (self.kind, self.names, self.segment) = (kind, names, segment)
  }
}

/// How many devices an audience loses at each step. It agrees with what ``AudienceQuery`` counts and finds.
package struct AudienceExplanation: Sendable, Hashable {
  package struct Count: Sendable, Hashable {
    package let step: AudienceStep
    package let leftOut: Int
    package let remain: Int
  }

  package let counts: [Count]

  /// Devices that are sent to.
  package var reached: Int { counts.last?.remain ?? 0 }
}

/// Whether a device meets each step of an audience.
package struct DeviceVerdict: Sendable, Hashable {
  package struct Answer: Sendable, Hashable {
    package let step: AudienceStep
    package let isMet: Bool
  }

  package let answers: [Answer]

  /// The first step that leaves the device out; nil: it is sent to.
  package var obstacle: AudienceStep? { answers.first { !$0.isMet }?.step }
}

extension AudienceQuery {
  /// Explains the audience; nil: only the service knows who it is.
  ///
  /// Reads what counting reads, with the same need for a limit.
  package func explained(_ database: Database) throws -> AudienceExplanation? {
    guard audience.subscribers == nil else { return nil }
    let (parts, along) = try ordered(database)
    let devices = try DeviceCount.all(database, app: app)
    func total(_ isCounted: (DeviceCount) -> Bool) -> Int { devices.reduce(0) { isCounted($1) ? $0 + $1.count : $0 } }
    let ofPlatforms = total { $0.environment == environment && platforms.contains($0.platform) }
    var counts: [AudienceExplanation.Count] = []
    func add(_ step: AudienceStep, _ remain: Int) {
      let before = counts.last?.remain ?? remain
      counts.append(AudienceExplanation.Count(step: step, leftOut: before - remain, remain: remain))
    }
    for (step, remain) in zip(frame, [total { _ in true }, total { $0.environment == environment }, ofPlatforms]) {
      add(step, remain)
    }
    let (left, members) = try classified(database, parts, along, of: ofPlatforms)
    for (index, part) in parts.enumerated() { add(part.step, (counts.last?.remain ?? 0) - left[index, default: 0]) }
    let bound = try boundProviders(database)
    add(Self.notParked, members.total - members.total(.quarantined))
    add(Self.registered, members.reachable)
    add(credential, bound.reduce(0) { $0 + members.reachable($1) })
    return AudienceExplanation(counts: counts)
  }

  /// Tells whether a device is sent to, and what leaves it out; nil: only the service knows who the audience is.
  package func verdict(_ database: Database, on device: Device) throws -> DeviceVerdict? {
    guard audience.subscribers == nil else { return nil }
    let parts = try ordered(database).parts
    var met = [
      device.appID == app, device.environment == environment, platforms.contains(device.platform),
    ]
    if !parts.isEmpty {
      let columns = parts.map { "(\($0.condition.sql)) IS TRUE" }.joined(separator: ", ")
      let arguments = parts.flatMap(\.condition.arguments) + [.integer(device.id)]
      met +=
        try database.fetchOne("SELECT \(columns) FROM devices d WHERE d.id = ?", arguments: arguments) { row in
          parts.indices.map { row.bool($0) }
        } ?? parts.map { _ in false }
    }
    met += [
      device.state != .quarantined, device.state != .dead, try boundProviders(database).contains(device.provider),
    ]
    let steps = frame + parts.map(\.step) + [Self.notParked, Self.registered, credential]
    return DeviceVerdict(answers: zip(steps, met).map { DeviceVerdict.Answer(step: $0, isMet: $1) })
  }

  private static let notParked = AudienceStep(kind: .notParked, names: [])
  private static let registered = AudienceStep(kind: .registered, names: [])

  private var frame: [AudienceStep] {
    [
      AudienceStep(kind: .app, names: []),
      AudienceStep(kind: .environment, names: [environment.rawValue]),
      AudienceStep(
        kind: .platforms, names: Platform.allCases.filter(platforms.contains).map(\.rawValue)),
    ]
  }

  private var credential: AudienceStep { AudienceStep(kind: .credential, names: [environment.rawValue]) }

  private func boundProviders(_ database: Database) throws -> [ProviderKind] {
    try ProviderKind.allCases.filter {
      try Credential.find(database, app: app, provider: $0, environment: environment) != nil
    }
  }

  /// The parts with the impossible ones first, else with the one to walk along first, because only what it finds is
  /// looked at.
  private func ordered(_ database: Database) throws -> (parts: [AudiencePart], along: DeviceSource?) {
    var parts = try AudiencePart.all(database, self)
    if parts.contains(where: \.isImpossible) {
      return (parts.filter(\.isImpossible) + parts.filter { !$0.isImpossible }, nil)
    }
    guard let index = try AudiencePart.narrowest(parts, database, app: app) else { return (parts, nil) }
    parts.insert(parts.remove(at: index), at: 0)
    return (parts, parts[0].walk?.source(app: app, DeviceSource.Range()))
  }

  /// How many devices each part leaves out, of those that the parts before it left; and what all of them leave.
  private func classified(
    _ database: Database, _ parts: [AudiencePart], _ along: DeviceSource?, of total: Int
  ) throws -> (leftOut: [Int: Int], members: AudienceCount) {
    if parts.contains(where: \.isImpossible) { return ([0: total], AudienceCount()) }
    if parts.count <= 1 {
      let members = try count(database)
      return (parts.isEmpty ? [:] : [0: total - members.total], members)
    }
    let platforms = platforms.sorted { $0.code < $1.code }
    guard
      let source = along
        ?? .kinds(
          apps: [app], environments: [environment], platforms: platforms, states: DeviceState.allCases,
          DeviceSource.Range())
    else { return ([0: total], AudienceCount()) }
    var condition = DeviceCondition()
    condition.add("app_id", equals: app)
    condition.add("environment", equals: Int64(environment.code))
    condition.add("platform", in: platforms.map { .integer(Int64($0.code)) })
    var cases = ""
    var values: [SQLiteValue] = []
    for (index, part) in parts.enumerated() where index > 0 || along == nil || part.walk?.isExact != true {
      // NULL, as of a device without an alias, does not meet a condition either.
      cases += "WHEN (\(part.condition.sql)) IS NOT TRUE THEN \(index) "
      values += part.condition.arguments
    }
    let (sql, arguments) = source.query(
      """
      CASE \(cases) ELSE \(parts.count) END AS step, d.platform, coalesce(d.provider, d.platform) AS service, d.state,
      count(*)
      """, where: condition, tail: "GROUP BY step, d.platform, service, d.state")
    var left: [Int: Int] = [:]
    var walked = 0
    var members = AudienceCount()
    try database.forEach(sql, arguments: values + arguments) { row in
      walked += row.int(4)
      if row.int(0) < parts.count {
        left[row.int(0), default: 0] += row.int(4)
      } else {
        let kind = AudienceCount.Kind(
          platform: try Platform(code: row.int(1)), provider: try ProviderKind(code: row.int(2)),
          state: try row.value(3, as: DeviceState.self))
        members.counts[kind, default: 0] += row.int(4)
      }
      return .continue
    }
    left[0, default: 0] += total - walked
    return (left, members)
  }
}

extension AudiencePart {
  var step: AudienceStep { AudienceStep(kind: kind, names: names, segment: segment) }
}
