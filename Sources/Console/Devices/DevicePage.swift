import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Simulator
import Store

/// `/devices/:id`: one device, its history, and the actions on it.
enum DevicePage {
  private static let deliveries = 20

  private struct Found: Sendable {
    let device: Device
    let app: App
    let events: [DeviceEvent]
    let waiting: [WaitingDelivery.WithPush]
    let deliveries: [Delivery.WithPush]
    let retention: RetentionPolicy
    /// Whether the reader marked it as their own.
    let isOwn: Bool
    /// That the field of tags offers without script.
    let tags: [String]

    init(_ database: Database, _ id: Int64, user: Int64) throws {
      guard let device = try Device.find(database, id: id) else { throw PageError.notFound("device", list: "/devices") }
      self.device = device
      app = try App.get(database, id: device.appID)
      events = try DeviceEvent.all(database, device: id)
      waiting = try WaitingDelivery.list(database, device: id, limit: DevicePage.deliveries)
      deliveries = try Delivery.list(database, device: id, limit: DevicePage.deliveries).items
      retention = try RetentionPolicy.find(database)
      isOwn = try Device.isOwn(database, id: id, user: user)
      tags = try AudienceNames(database, of: app).tags
    }
  }

  private static func facts(_ page: PageContext) async throws -> Found {
    let (id, user) = (try page.id(), page.user?.id ?? 0)
    return try await page.store.read { try Found($0, id, user: user) }
  }

  /// - Parameter jpush: what JPush knows of the device; nil: it was not asked.
  static func show(_ page: PageContext, jpush: JPushDeviceView? = nil) async throws -> Response {
    let facts = try await facts(page)
    let device = facts.device
    let form = Form([
      ("name", device.name ?? ""), ("alias", device.alias ?? ""), ("tags", Form.parts(device.tags)),
      ("language", device.details.language ?? ""),
    ])
    return show(page, facts, form, FieldErrors(), jpush: jpush)
  }

  private static func show(
    _ page: PageContext, _ facts: Found, _ form: Form, _ errors: FieldErrors, jpush: JPushDeviceView? = nil
  ) -> Response {
    let texts = page.texts
    let device = facts.device
    let problem = errors.isEmpty ? nil : errors.others(DeviceEditView.names) ?? texts("devices.nothing_changed")
    let view = DeviceView(
      device: device, isOwn: facts.isOwn,
      phone: page.console.simulator?.phones.phones(token: device.token)
        .first { $0.environment == device.environment }?.id,
      app: facts.app,
      platform: texts("platform.\(device.platform.rawValue)"),
      now: page.now,
      parked: parked(device, texts),
      waiting: facts.waiting.map { item in
        DeviceWaitingRow(item: item, device: device, title: texts.heading(item.title, item.body), now: page.now)
      },
      deliveries: facts.deliveries.map { row($0, page) },
      keptDays: facts.retention.deliveries, events: facts.events.map { DeviceEventRow($0, texts, now: page.now) },
      form: DeviceEditView(form: form, errors: errors, problem: problem, tags: facts.tags),
      jpush: device.provider == .jpush
        ? jpush ?? JPushDeviceView(device: device, mayChange: page.may(.operator)) : nil)
    // A refusal of JPush's is the answer to a question, but no answer to a change.
    let isRefused = page.request.method == .post && jpush?.problem != nil
    return page.answer(view, status: errors.isEmpty && !isRefused ? .ok : .unprocessableContent)
  }

  private static func parked(_ device: Device, _ texts: Texts) -> ParkedDevice? {
    guard device.state != .active else { return nil }
    let other = device.environment.other
    let reason = Reason.of(device.stateReason ?? "")
    return ParkedDevice(
      isDead: device.state == .dead, date: device.stateAt ?? device.registeredAt, reason: device.stateReason ?? "",
      words: reason.isKnown ? ReasonWords(reason, texts) : nil,
      other: other, otherName: other.word(texts))
  }

  private static func row(_ item: Delivery.WithPush, _ page: PageContext) -> DeviceDeliveryRow {
    DeviceDeliveryRow(
      item: item, title: page.texts.heading(item.title, item.body),
      outcome: page.texts("words.\(item.delivery.outcome.name)"), now: page.now)
  }

  // MARK: Changes

  static func update(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let form = page.form
    var problems: [Problem] = []
    let name = form["name"].isEmpty ? nil : form["name"]
    let alias = form["alias"].isEmpty ? nil : form["alias"]
    let tags = form.parts("tags")
    let rule = facts.app.rule
    if let name, let problem = AppName.problem(withName: name) { problems.append(problem.under("name")) }
    if let alias, let problem = rule.problem(with: alias) { problems.append(problem.under("alias")) }
    let language = form["language"].isEmpty ? nil : form["language"]
    if let language, let problem = DeviceDetails.problem(withLanguage: language) {
      problems.append(problem.under("language"))
    }
    problems += TagRule.problems(with: tags, rule: rule).map { problem in
      var problem = problem
      problem.field = "tags"
      return problem
    }
    if problems.isEmpty {
      do {
        let id = facts.device.id
        try await page.store.write { database in
          var details = DeviceDetails.Changes()
          if form.has("language") { details.language = .set(language) }
          let before = try Device.find(database, id: id)
          try Device.update(
            database, id: id, alias: .set(alias), tags: .set(tags), name: .set(name), details: details, by: page.actor,
            now: page.now)
          let after = try Device.find(database, id: id)
          try page.record(
            database, page.audit("device.update", "device \(id)").changing(before?.audited, to: after?.audited))
        }
        return page.redirect(to: "/devices/\(id)", flash: "device_saved")
      } catch let problem as Problem {
        problems.append(problem)
      }
    }
    return show(page, facts, form, FieldErrors(Problems(problems), page.texts))
  }

  /// Marks a device as the person's own, or no longer.
  static func setOwn(_ page: PageContext) async throws -> Response {
    let (id, user, isOwn) = (try page.id(), page.user?.id ?? 0, page.form["own"] == "1")
    try await page.store.write { database in
      guard try Device.find(database, id: id) != nil else { throw PageError.notFound("device", list: "/devices") }
      try Device.setOwn(database, id: id, user: user, isOwn)
    }
    return page.redirect(to: "/devices/\(id)", flash: isOwn ? "device_own" : "device_not_own")
  }

  static func release(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let environment = page.form.filled("environment").flatMap(Environment.init)
    guard environment != nil || page.form.filled("environment") == nil else {
      throw PageError(.unprocessableContent, "refused")
    }
    let audit = page.audit(environment == nil ? "device.release" : "device.move", "device \(id)")
    do {
      try await page.store.write { database in
        let before = try Device.find(database, id: id)
        try Device.release(
          database, id: id, environment: environment, leaving: try page.leaving(database), by: page.actor,
          now: page.now)
        let after = try Device.find(database, id: id)
        try page.record(database, audit.changing(before?.audited, to: after?.audited))
      }
    } catch is Problem {
      throw PageError(.forbidden, "leaving")
    }
    return page.redirect(to: "/devices/\(id)", flash: "device_released")
  }

  // MARK: Deleting

  static func removePage(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    return page.answer(DeviceRemovalView(device: facts.device, app: facts.app, events: facts.events.count))
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    try await page.store.write { database in
      guard let device = try Device.find(database, id: id), try Device.delete(database, id: id, now: page.now) else {
        throw PageError.notFound("device", list: "/devices")
      }
      try page.record(database, "device.delete", "device \(id)", ["before": device.audited, "after": .null])
    }
    return page.redirect(to: "/devices", flash: "device_removed")
  }
}
