package import Foundation
package import Model
package import SQLite

extension Device {
  /// Registers devices of one app, thousands in one transaction; one result for each, in order.
  ///
  /// A token that is known is brought up to date and to life, a new one added. Of two rows with the same token the
  /// later counts. A large import is quickest in transactions of some 50,000 rows: each commit writes every page of the
  /// token index that it touched.
  ///
  /// - Parameter actor: who does it, for the timeline; nil: the app itself.
  package static func register(
    _ database: Database, app: Int64, _ registrations: [Registration], limits: DeviceLimits = DeviceLimits(),
    by actor: String? = nil, now: Date
  ) throws -> [RegistrationResult] {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      let registrar = try DeviceWriter.Registrar(database)
      return try registrations.map { try writer.register($0, app: app, registrar, limits) }
    }
  }

  /// Changes alias, tags, or name of a device.
  ///
  /// - Throws: `StoreError.notFound`; `Problem` if it is against the limits.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, alias: Change<String?> = .keep, tags: Change<[String]> = .keep,
    name: Change<String?> = .keep, limits: DeviceLimits = DeviceLimits(), by actor: String, now: Date
  ) throws -> Device {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      guard let before = try writer.find(id) else { throw StoreError.notFound(noun: "device", id: "\(id)") }
      var count = 0
      if case .keep = tags {} else { count = tags.applied(toTags: Set(try writer.tags(of: id).keys)).count }
      if let problem = try writer.problem(limits, app: before.app, alias: alias, before: before, tags: count) {
        throw problem
      }
      try writer.change(before, to: DeviceWriter.Target(kind: before.kind, alias: alias, tags: tags, name: name))
    }
    return try get(database, id: id)
  }

  /// Moves a device to the other environment, or sets it free from quarantine, because a person says so.
  ///
  /// - Parameter environment: nil: as it was.
  /// - Throws: `StoreError.notFound`.
  @discardableResult
  package static func release(
    _ database: Database, id: Int64, environment: Environment? = nil, by actor: String, now: Date
  ) throws -> Device {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      guard let before = try writer.find(id) else { throw StoreError.notFound(noun: "device", id: "\(id)") }
      var kind = before.kind
      kind.state = DeviceState.active.rawValue
      if let environment { kind.environment = environment.code }
      try writer.change(before, to: DeviceWriter.Target(kind: kind))
    }
    return try get(database, id: id)
  }

  /// Removes a device and its timeline. Its deliveries stay in the pushes' history.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package static func delete(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try DeviceWriter.run(database, now: now) { writer in
      guard let before = try writer.find(id) else { return false }
      for tag in try writer.tags(of: id).values { writer.counters.add(-1, tag: tag, before.kind) }
      writer.counters.add(-1, app: before.app, before.kind)
      try database.run("DELETE FROM device_tags WHERE device_id = ?", id)
      try database.run("DELETE FROM device_events WHERE device_id = ?", id)
      return try database.run("DELETE FROM devices WHERE id = ?", id) == 1
    }
  }
}
