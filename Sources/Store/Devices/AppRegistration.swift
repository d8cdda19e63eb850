package import Foundation
import JSON
package import Model
package import SQLite

/// A registration by the app itself, whose key everybody can read out of the app: it reaches the device whose token the
/// caller knows, and no other one.
package struct AppRegistration: Sendable {
  package var app: Int64
  /// `tags`, if set, replaces all tags, before those below.
  package var registration: Registration
  package var addedTags: [String] = []
  package var removedTags: [String] = []
  /// The token that this one replaces: its device moves on.
  package var previousToken: DeviceToken?
  package var details = DeviceDetails()
  package var limits = DeviceLimits()
  /// A key for one phone, with which it is made; nil: the app's key.
  package var phoneKey: String?

  package init(app: Int64, _ registration: Registration) { (self.app, self.registration) = (app, registration) }

  /// Registers several devices in the surrounding transaction; one result for each, in order.
  package static func register(
    _ database: Database, _ inputs: [AppRegistration], now: Date
  ) throws -> [RegistrationCode] {
    try DeviceWriter.run(database, now: now, leaving: .ignored) { writer in
      let registrar = try DeviceWriter.Registrar(database)
      return try inputs.map { try writer.take($0, registrar) }
    }
  }

  /// Removes the device with this token, if the app has one.
  ///
  /// - Parameter phoneKey: a key for one phone, which removes only the one that registered with it.
  @discardableResult
  package static func remove(
    _ database: Database, app: Int64, token: DeviceToken, phoneKey: String? = nil, now: Date
  ) throws -> RegistrationCode {
    let device = try Device.find(database, app: app, token: token)
    if let phoneKey {
      guard let own = try ClientKey.find(database, key: phoneKey)?.deviceID, own == device?.id else {
        return .invalidKey
      }
    }
    if let device { try Device.delete(database, id: device.id, now: now) }
    return .success
  }
}

extension DeviceWriter {
  fileprivate func take(_ input: AppRegistration, _ registrar: Registrar) throws -> RegistrationCode {
    var registration = input.registration
    var known = try find(registration.token, app: input.app, registrar)
    var previous: Before?
    if let token = input.previousToken, token != registration.token {
      previous = try find(token, app: input.app, registrar)
    }
    if let key = input.phoneKey {
      // Looked at here, so that of many phones at once one uses the key up.
      guard let found = try ClientKey.find(database, key: key) else { return .invalidKey }
      if previous?.id != found.deviceID { previous = nil }
      if let own = found.deviceID, (known ?? previous)?.id != own { return .invalidKey }
    }
    let devices = [known, previous].compactMap { $0 }
    let tags = try tags(input, devices)
    if let tags {
      guard tags.count <= input.limits.tagsPerDevice else { return .deviceTags }
      registration.tags = .set(tags.sorted())
    }
    // A device counts once for its alias, whichever of its tokens has it.
    if try problem(input.limits, app: input.app, alias: registration.alias, before: devices, tags: 0) != nil {
      return .aliasFull
    }
    if case .set(let id?) = registration.registrationID,
      try isTaken(id, app: input.app, by: devices.map(\.id))
    {
      // Whoever knows an ID must not get the pushes of its device, nor learn that there is one.
      registration.registrationID = .keep
    }
    if let old = previous {
      if let new = known {
        if case .keep = registration.alias, new.alias == nil { registration.alias = .set(old.alias) }
        if case .keep = registration.registrationID, new.registrationID == nil, let id = old.registrationID {
          registration.registrationID = .set(id)
        }
        try noteReplaced(input.previousToken, by: new.id, app: input.app, former: old.id)
        try remove(old)
        try note(
          new.id, .tokenChanged,
          [
            "from": shown(input.previousToken), "to": shown(registration.token), "device": .integer(old.id),
          ])
        tellMove(new, "token", from: input.previousToken?.text ?? "", to: registration.token.text)
      } else {
        try database.run("UPDATE devices SET token = ? WHERE id = ?", registration.token.bytes, old.id)
        try noteReplaced(input.previousToken, by: old.id, app: input.app)
        try note(
          old.id, .tokenChanged, ["from": shown(input.previousToken), "to": shown(registration.token)])
        tellMove(old, "token", from: input.previousToken?.text ?? "", to: registration.token.text)
        known = old
      }
    }
    registration.details = DeviceDetails.Changes(input.details)
    var registered = known?.id
    if let known {
      try change(
        known,
        to: Target(
          kind: registration.kind, alias: registration.alias, tags: registration.tags,
          registrationID: registration.registrationID, details: registration.details, isRegistration: true,
          isNewToken: previous?.id == known.id))
    } else if let id = try register(registration, app: input.app, registrar, DeviceLimits()).deviceID {
      registered = id
    } else {
      return .invalid
    }
    if let key = input.phoneKey, let registered { try ClientKey.note(database, key: key, device: registered) }
    return .success
  }

  /// The tags that the device shall have; nil: as they are.
  private func tags(_ input: AppRegistration, _ devices: [Before]) throws -> Set<String>? {
    var tags: Set<String> = []
    if case .set(let names) = input.registration.tags {
      tags = Set(names)
    } else {
      // A device that moves into another one brings its tags along.
      guard !input.addedTags.isEmpty || !input.removedTags.isEmpty || devices.count > 1 else { return nil }
      for device in devices { tags.formUnion(try self.tags(of: device.id).keys) }
    }
    return tags.union(input.addedTags).subtracting(input.removedTags)
  }

  /// Whether another device that is alive has a registration ID.
  private func isTaken(_ registrationID: String, app: Int64, by devices: [Int64]) throws -> Bool {
    let holder = try database.fetchOne(
      "SELECT id, state FROM devices WHERE registration_id = ? AND app_id = ?", registrationID, app
    ) { ($0.int64(0), $0.int(1)) }
    guard let (id, state) = holder else { return false }
    return !devices.contains(id) && state != DeviceState.dead.rawValue
  }

  private func shown(_ token: DeviceToken?) -> JSONValue { .string(token?.abbreviated ?? "") }
}
