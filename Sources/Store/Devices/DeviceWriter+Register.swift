internal import Foundation
internal import Push
internal import SQLite

extension DeviceWriter {
  /// The statements of an import, compiled once for all its rows.
  struct Registrar {
    let insert: Statement
    let find: Statement

    init(_ database: Database) throws {
      insert = try database.prepare(
        """
        INSERT INTO devices(app_id, environment, platform, state, token, alias, registration_id, name, created_at,
          registered_at, seen_at)
        VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?8, ?8) ON CONFLICT(token, app_id) DO NOTHING
        """)
      find = try database.prepare("SELECT \(DeviceWriter.before) FROM devices WHERE token = ? AND app_id = ?")
    }
  }

  /// Registers a device: adds it, or brings the one with this token up to date and to life.
  func register(
    _ registration: Registration, app: Int64, _ registrar: Registrar, _ limits: DeviceLimits
  ) throws -> RegistrationResult {
    let kind = DeviceCounters.Kind(
      environment: registration.environment.code, platform: registration.platform.code,
      state: DeviceState.active.rawValue)
    let known = try find(registration.token, app: app, registrar)
    if let known {
      var count = 0
      if case .keep = registration.tags {} else { count = try newTags(registration.tags, of: known.id).count }
      if let problem = try problem(limits, app: app, alias: registration.alias, before: known, tags: count) {
        return .rejected(problem)
      }
      try change(
        known,
        to: Target(
          kind: kind, alias: registration.alias, tags: registration.tags, registrationID: registration.registrationID,
          name: registration.name, isRegistration: true))
      return .updated(known.id)
    }
    let tags: [String] =
      switch registration.tags {
      case .keep: []
      case .set(let tags): tags
      case .edit(let add, _): add
      }
    if let problem = try problem(limits, app: app, alias: registration.alias, before: nil, tags: tags.count) {
      return .rejected(problem)
    }
    let id = try insert(registration, app: app, kind, registrar)
    counters.add(1, app: app, kind)
    try addTags(tags, device: id, app: app, kind)
    return .added(id)
  }

  private func find(_ token: DeviceToken, app: Int64, _ registrar: Registrar) throws -> Before? {
    try registrar.find.bind(1, token.bytes)
    try registrar.find.bind(2, app)
    guard try registrar.find.step() else { return nil }
    defer { registrar.find.reset() }
    return Self.before(registrar.find.row)
  }

  private func insert(
    _ registration: Registration, app: Int64, _ kind: DeviceCounters.Kind, _ registrar: Registrar
  ) throws -> Int64 {
    let registrationID = registration.registrationID.applied(to: nil)
    if let registrationID { try release(registrationID, app: app, except: nil) }
    let insert = registrar.insert
    try insert.bind(1, app)
    try insert.bind(2, kind.environment)
    try insert.bind(3, kind.platform)
    try insert.bind(4, registration.token.bytes)
    try insert.bind(5, registration.alias.applied(to: nil))
    try insert.bind(6, registrationID)
    try insert.bind(7, registration.name.applied(to: nil))
    try insert.bind(8, now.milliseconds)
    try insert.run()
    return database.lastInsertedID
  }

  private func newTags(_ change: TagChange, of device: Int64) throws -> Set<String> {
    change.applied(to: Set(try tags(of: device).keys))
  }
}
