import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/devices/:id`: one device, its history, and what can be changed about it.
enum DevicePage {
  private static let fields = ["name", "alias", "tags"]
  private static let deliveries = 20

  private struct Facts: Sendable {
    let device: Device
    let app: App
    let events: [DeviceEvent]
    let deliveries: [Delivery.WithPush]
    let retention: RetentionPolicy

    init(_ database: Database, _ id: Int64) throws {
      guard let device = try Device.find(database, id: id) else { throw PageError.notFound("device", list: "/devices") }
      self.device = device
      app = try App.get(database, id: device.appID)
      events = try DeviceEvent.all(database, device: id)
      deliveries = try Delivery.list(database, device: id, limit: DevicePage.deliveries).items
      retention = try RetentionPolicy.find(database)
    }
  }

  private static func facts(_ page: PageContext) async throws -> Facts {
    let id = try page.id()
    return try await page.store.read { try Facts($0, id) }
  }

  static func show(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let device = facts.device
    let form = Form([
      ("name", device.name ?? ""), ("alias", device.alias ?? ""), ("tags", Form.parts(device.tags)),
    ])
    return try show(page, facts, form, FieldErrors())
  }

  private static func show(
    _ page: PageContext, _ facts: Facts, _ form: Form, _ errors: FieldErrors
  ) throws -> Response {
    let texts = page.texts
    let device = facts.device
    return try page.page(
      "devices/show", .devices,
      [
        "id": .integer(device.id), "title": .string(device.heading), "state": .string(device.state.name),
        "state_text": .string(texts("state.\(device.state.name)")),
        "production": .bool(device.environment == .production), "environment": .string(device.environment.word(texts)),
        "send_href": .string("/pushes/new?device=\(device.id)"), "parked": parked(device, texts),
        "other_environment": .string(device.environment.other.rawValue), "token": .string(device.tokenText),
        "any_deliveries": .bool(!facts.deliveries.isEmpty),
        "pushes_text": .string(
          facts.deliveries.isEmpty ? "" : texts("devices.pushes_text", count: facts.deliveries.count)),
        "kept_text": .string(
          facts.retention.deliveries == 0
            ? "" : texts("retention.device_kept_for", count: facts.retention.deliveries)),
        "deliveries": .list(facts.deliveries.map { delivery($0, texts) }),
        "events": .list(facts.events.map { DeviceEventWords($0, texts).value }),
        "facts": .list(about(facts, texts)), "form": form.value(fields), "errors": errors.value(fields),
        "problem": .string(errors.isEmpty ? "" : errors.others(fields) ?? texts("devices.nothing_changed")),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func parked(_ device: Device, _ texts: Texts) -> Value {
    guard device.state != .active else { return false }
    let arguments = ["date": device.stateAt?.utcText ?? "", "reason": device.stateReason ?? ""]
    let isDead = device.state == .dead
    return [
      "text": .string(texts(isDead ? "devices.dead_text" : "devices.parked", arguments)),
      "next": .string(texts(isDead ? "devices.dead_next" : "devices.parked_next")),
      "move_label": .string(
        texts("devices.move_to", ["environment": device.environment.other.word(texts)])),
    ]
  }

  private static func delivery(_ item: Delivery.WithPush, _ texts: Texts) -> Value {
    let at = Value.instant(item.delivery.at)
    let answer = [item.delivery.status == 0 ? nil : String(item.delivery.status), item.delivery.reason]
    return [
      "href": .string("/pushes/\(item.uid)/deliveries/\(item.delivery.deviceID)"),
      "content": .string([item.title, item.body].compactMap { $0 }.first { !$0.isEmpty } ?? texts("pushes.no_text")),
      "outcome": .string(item.delivery.outcome.name),
      "outcome_text": .string(texts("words.\(item.delivery.outcome.name)")),
      "answer": .string(answer.compactMap { $0 }.joined(separator: " ")), "at": at.datetime, "at_text": at.text,
    ]
  }

  private static func about(_ facts: Facts, _ texts: Texts) -> [Value] {
    let device = facts.device
    func fact(_ name: String, _ value: String?, href: String = "", at date: Date? = nil) -> Value? {
      guard let value = date?.utcText ?? value, !value.isEmpty else { return nil }
      return [
        "label": .string(texts("facts.\(name)")), "value": .string(value), "href": .string(href),
        "datetime": .string(date.map(Timestamp.text) ?? ""),
      ]
    }
    return [
      fact("app", facts.app.name, href: "/apps/\(facts.app.id)"),
      fact("platforms", texts("platform.\(device.platform.rawValue)")),
      fact("alias", device.alias), fact("tags", device.tags.joined(separator: ", ")),
      fact("registration_id", device.registrationID), fact("created_device", nil, at: device.createdAt),
      fact("registered", nil, at: device.registeredAt), fact("seen", nil, at: device.seenAt),
    ].compactMap { $0 }
  }

  // MARK: Changes

  static func update(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let form = page.form
    var problems: [Problem] = []
    let name = form["name"].isEmpty ? nil : form["name"]
    let alias = form["alias"].isEmpty ? nil : form["alias"]
    let tags = form.parts("tags")
    let rule = facts.app.aliasRule.flatMap(AliasRule.init) ?? .none
    if let name, let problem = AppName.problem(withName: name) { problems.append(problem.under("name")) }
    if let alias, let problem = rule.problem(with: alias) { problems.append(problem.under("alias")) }
    problems += TagRule.problems(with: tags, rule: rule).map { problem in
      var problem = problem
      problem.field = "tags"
      return problem
    }
    if problems.isEmpty {
      do {
        let (id, actor, now) = (facts.device.id, page.actor, page.now)
        let audit = page.audit("device.update", "device \(id)")
        try await page.store.write { database in
          try Device.update(
            database, id: id, alias: .set(alias), tags: .set(tags), name: .set(name), by: actor, now: now)
          try AuditEntry.add(database, audit, now: now)
        }
        return page.redirect(to: "/devices/\(id)", flash: "device_saved")
      } catch let problem as Problem {
        problems.append(problem)
      }
    }
    return try show(page, facts, form, FieldErrors(Problems(problems), page.texts))
  }

  static func release(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let environment = page.form.filled("environment").flatMap(Environment.init)
    guard environment != nil || page.form.filled("environment") == nil else {
      throw PageError(.unprocessableContent, "refused")
    }
    let (actor, now) = (page.actor, page.now)
    let audit = page.audit(
      "device.release", "device \(id)", environment.map { ["environment": .string($0.rawValue)] })
    try await page.store.write { database in
      try Device.release(database, id: id, environment: environment, by: actor, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/devices/\(id)", flash: "device_released")
  }

  // MARK: Removing

  static func removePage(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let texts = page.texts
    let device = facts.device
    var takes = [texts("devices.remove_timeline", count: facts.events.count)]
    if !device.tags.isEmpty { takes.append(texts("devices.remove_tags", count: device.tags.count)) }
    if let alias = device.alias { takes.append(texts("devices.remove_alias", ["alias": alias])) }
    return try page.page(
      "devices/remove", .devices,
      [
        "id": .integer(device.id), "title": .string(device.heading),
        "question": .string(texts("devices.remove_question", ["device": device.heading, "app": facts.app.name])),
        "takes": .list(takes.map { ["text": .string($0)] }),
      ])
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let (id, now) = (try page.id(), page.now)
    let audit = page.audit("device.delete", "device \(id)")
    try await page.store.write { database in
      guard try Device.delete(database, id: id, now: now) else { throw PageError.notFound("device", list: "/devices") }
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/devices", flash: "device_removed")
  }
}

extension Environment {
  /// The other one.
  var other: Environment { self == .production ? .development : .production }
}

/// A line of a device's history in words.
struct DeviceEventWords {
  private let event: DeviceEvent
  private let texts: Texts

  init(_ event: DeviceEvent, _ texts: Texts) {
    self.event = event
    self.texts = texts
  }

  var value: Value {
    let at = Value.instant(event.at)
    return ["at": at.datetime, "at_text": at.text, "text": .string(text), "detail": .string(detail)]
  }

  private func member(_ name: String) -> String {
    let text = event.detail?[name]?.string ?? ""
    return text.isEmpty ? texts("devices.events.nobody") : text
  }

  private var text: String {
    texts(
      "devices.events.\(event.kind.rawValue)",
      ["from": member("from"), "to": member("to"), "reason": event.detail?["reason"]?.string ?? ""])
  }

  private var detail: String {
    func list(_ name: String) -> String? {
      let names = event.detail?[name]?.array?.compactMap(\.string) ?? []
      return names.isEmpty ? nil : texts("devices.events.\(name)", ["tags": names.joined(separator: ", ")])
    }
    let by = event.detail?["by"]?.string.map { texts("devices.events.by", ["who": $0]) }
    return [list("added"), list("removed"), by].compactMap { $0 }.joined(separator: "; ")
  }
}
