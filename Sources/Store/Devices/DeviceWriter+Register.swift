internal import Foundation
internal import Model
internal import SQLite

extension DeviceWriter {
  /// The statements of an import, compiled once.
  struct Registrar {
    let insert: Statement
    let find: Statement

    init(_ database: Database) throws {
      insert = try database.prepare(
        """
        INSERT INTO devices(app_id, environment, platform, state, token, alias, name, created_at, registered_at, seen_at,
          provider)
        VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?7, ?7, ?8) ON CONFLICT(token, app_id) DO NOTHING
        """)
      find = try database.prepare("SELECT \(DeviceWriter.before) FROM devices WHERE token = ? AND app_id = ?")
    }
  }

  /// Adds a device, or updates and reactivates the one with this token.
  func register(
    _ registration: Registration, app: Int64, _ registrar: Registrar, _ limits: DeviceLimits
  ) throws -> RegistrationResult {
    let kind = registration.kind
    let tags = registration.tags.applied(toTags: [])
    // Most rows of an import are new: insert without a look-up first, unless a limit requires one.
    if limits.devicesPerAlias == nil, tags.count <= limits.tagsPerDevice {
      if let id = try insert(registration, app: app, kind, tags, registrar) { return .added(id) }
    }
    if let known = try find(registration.token, app: app, registrar) {
      let count = try tagCount(known.id, after: registration.tags)
      if let problem = try problem(limits, app: app, alias: registration.alias, before: known, tags: count) {
        return .rejected(problem)
      }
      try change(
        known,
        to: Target(
          kind: kind, alias: registration.alias, tags: registration.tags, registrationID: registration.registrationID,
          name: registration.name, details: registration.details, isRegistration: true))
      return .updated(known.id)
    }
    if let problem = try problem(limits, app: app, alias: registration.alias, before: nil, tags: tags.count) {
      return .rejected(problem)
    }
    guard let id = try insert(registration, app: app, kind, tags, registrar) else {
      throw StoreError.notFound(noun: "device", id: registration.token.abbreviated)
    }
    return .added(id)
  }

  /// The device with this token, if the app has one.
  func find(_ token: DeviceToken, app: Int64, _ registrar: Registrar) throws -> Before? {
    try registrar.find.bind(1, token.bytes)
    try registrar.find.bind(2, app)
    guard try registrar.find.step() else { return nil }
    defer { registrar.find.reset() }
    return Self.before(registrar.find.row)
  }

  /// Adds a device with its tags; nil if its token is known.
  private func insert(
    _ registration: Registration, app: Int64, _ kind: DeviceCounters.Kind, _ tags: Set<String>, _ registrar: Registrar
  ) throws -> Int64? {
    let insert = registrar.insert
    try insert.bind(1, app)
    try insert.bind(2, kind.environment)
    try insert.bind(3, kind.platform)
    try insert.bind(4, registration.token.bytes)
    try insert.bind(5, registration.alias.applied(to: nil))
    try insert.bind(6, registration.name.applied(to: nil))
    try insert.bind(7, now.milliseconds)
    try insert.bind(8, kind.ownProvider.map { Int64($0) })
    try insert.run()
    guard database.changes == 1 else { return nil }
    let id = database.lastInsertedID
    counters.add(1, app: app, kind)
    try addTags(tags, device: id, app: app, kind)
    try registration.details.save(database, device: id)
    // After the insert, because a rejected row must not take the ID from another device.
    if case .set(let registrationID?) = registration.registrationID {
      try release(registrationID, app: app, except: id)
      try database.run("UPDATE devices SET registration_id = ? WHERE id = ?", registrationID, id)
    }
    return id
  }
}

extension Registration {
  /// What its device counts as.
  var kind: DeviceCounters.Kind {
    DeviceCounters.Kind(
      environment: environment.code, platform: platform.code, provider: (provider ?? platform.ownProvider).code,
      state: DeviceState.active.rawValue)
  }
}
