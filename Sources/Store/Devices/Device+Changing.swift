package import Foundation
package import Model
package import SQLite

extension Device {
  /// Registers devices of one app in bulk; one result for each, in order.
  ///
  /// A known token is updated and reactivated, a new one added. Of two rows with the same token the later wins. A large
  /// import is fastest in transactions of some 50,000 rows, because each commit writes every changed page of the token
  /// index.
  ///
  /// - Parameter actor: for the timeline; nil: the app itself.
  package static func register(
    _ database: Database, app: Int64, _ registrations: [Registration], limits: DeviceLimits = DeviceLimits(),
    by actor: String? = nil, now: Date
  ) throws -> [RegistrationResult] {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      let registrar = try DeviceWriter.Registrar(database)
      return try registrations.map { try writer.register($0, app: app, registrar, limits) }
    }
  }

  /// Changes alias, tags, name, or details of a device.
  ///
  /// - Throws: `StoreError.notFound`; `Problem` if a limit is exceeded.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, alias: Change<String?> = .keep, tags: Change<[String]> = .keep,
    name: Change<String?> = .keep, details: DeviceDetails.Changes = DeviceDetails.Changes(),
    limits: DeviceLimits = DeviceLimits(), by actor: String, now: Date
  ) throws -> Device {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      guard let before = try writer.find(id) else { throw StoreError.notFound(noun: "device", id: "\(id)") }
      let count = try writer.tagCount(id, after: tags)
      if let problem = try writer.problem(limits, app: before.app, alias: alias, before: before, tags: count) {
        throw problem
      }
      try writer.change(
        before, to: DeviceWriter.Target(kind: before.kind, alias: alias, tags: tags, name: name, details: details))
    }
    return try get(database, id: id)
  }

  /// Moves a device to the other environment, or reactivates it after quarantine, on a person's request.
  ///
  /// - Parameter environment: nil: unchanged.
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

  /// Deletes a device and its timeline. Its deliveries stay in the pushes' history.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func delete(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try DeviceWriter.run(database, now: now) { writer in
      guard let before = try writer.find(id) else { return false }
      try writer.remove(before)
      return true
    }
  }
}

extension Device {
  /// The devices that a draft's tokens stand for and that the app does not have in any environment: they were pasted to
  /// try a push.
  package static func unknown(_ database: Database, of draft: PushDraft, app: Int64) throws -> [Registration] {
    guard case .rule(let rule) = draft.audience else { return [] }
    return try rule.deviceToken.filter { try find(database, app: app, token: $0) == nil }.map { token in
      let isFirebase = !draft.platforms.contains(.ios) || token.isText
      return Registration(
        token: token, environment: draft.environment,
        platform: isFirebase && draft.platforms.contains(.android) ? .android : .ios)
    }
  }

  /// Registers them, so that the push reaches them and their outcomes can be recorded. Belongs into the transaction that
  /// stores the push.
  ///
  /// - Returns: how many.
  @discardableResult
  package static func registerUnknown(
    _ database: Database, of draft: PushDraft, app: Int64, by actor: String, now: Date
  ) throws -> Int {
    let registrations = try unknown(database, of: draft, app: app)
    guard !registrations.isEmpty else { return 0 }
    return try register(database, app: app, registrations, by: actor, now: now).count { $0.deviceID != nil }
  }
}
