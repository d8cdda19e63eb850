import Foundation
import HTTPServer
import JSON
import Logging
import Mail
import Mustache
import Model
import Reminders
import SQLite
import Store

/// `/settings/receivers`: the receivers of reminders.
enum ReceiverPages {
  private static let export = ListExportRoutes<ReceiverAnswer>(
    path: "/settings/receivers", action: "receiver.export",
    columns: [
      "id", "channel", "name", "target", "language", "app", "active", "incidents", "created_by", "created_at",
    ], role: .admin
  ) { _ in
    return { database, _, _ in Page(items: try ReceiverAnswer.all(database), next: nil) }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/receivers", role: .admin) { page in try await index(page) }
    export.add(to: &routes)
    routes.page(.get, "/settings/receivers/new", role: .admin) { page in
      let channel = Receiver.Channel(rawValue: page.filled("channel") ?? "") ?? .email
      let form = Form([("channel", channel.rawValue), ("language", page.texts.code), ("active", "yes")])
      return try await edit(page, nil, form, FieldErrors())
    }
    routes.page(.post, "/settings/receivers", role: .admin, proof: true) { page in try await save(page, nil) }
    routes.page(.get, "/settings/receivers/:id", role: .admin) { page in
      let receiver = try await find(page)
      let details = receiver.details
      let form = Form([
        ("channel", details.channel.rawValue), ("name", details.name),
        ("address", details.channel == .email ? details.target : ""), ("language", details.language),
        ("app", details.appID.map(String.init) ?? ""), ("active", details.isActive ? "yes" : ""),
        ("incidents", details.getsIncidents ? "yes" : ""),
      ])
      return try await edit(page, receiver, form.with(details.revision), FieldErrors())
    }
    routes.page(.post, "/settings/receivers/:id", role: .admin, proof: true) { page in
      try await save(page, try await find(page))
    }
    routes.page(.post, "/settings/receivers/:id/test", role: .admin, test)
    routes.page(.post, "/settings/receivers/:id/remove", role: .admin, proof: true, remove)
  }

  private static func find(_ page: PageContext) async throws -> Receiver {
    let id = try page.id()
    return try await page.store.read { try Receiver.get($0, id: id) }
  }

  // MARK: The list

  private static func index(
    _ page: PageContext, _ test: TestResult? = nil
  ) async throws -> Response {
    let texts = page.texts
    let (receivers, apps) = try await page.store.read { (try Receiver.all($0), try App.all($0)) }
    return page.answer(
      ReceiverListView(
        receivers: receivers.map { receiver in
          let details = receiver.details
          let app = details.appID.map { id in apps.first { $0.id == id }?.name ?? "" }
          return ReceiverRow(
            href: "/settings/receivers/\(receiver.id)", name: details.name,
            channel: texts("settings.channels.\(details.channel.rawValue)"), target: details.target,
            language: page.console.locales.name(details.language), app: app ?? texts("settings.all_apps"),
            isActive: details.isActive)
        },
        channels: Receiver.Channel.allCases.map { channel in
          LinkView(
            href: "/settings/receivers/new?channel=\(channel.rawValue)",
            label: texts("settings.channels.\(channel.rawValue)"))
        }, exports: receivers.isEmpty ? nil : ExportLinks(page, "/settings/receivers"), test: test))
  }

  // MARK: One receiver

  private static func edit(
    _ page: PageContext, _ receiver: Receiver?, _ form: Form, _ errors: FieldErrors
  ) async throws -> Response {
    let texts = page.texts
    let apps = try await page.store.read { try App.all($0) }
    let channel = receiver?.details.channel ?? Receiver.Channel(rawValue: form["channel"]) ?? .email
    let name = texts("settings.channels.\(channel.rawValue)")
    let choices = [("", texts("settings.all_apps"))] + apps.map { (String($0.id), $0.name) }
    return page.answer(
      ReceiverView(
        title: receiver?.details.name ?? texts("settings.new_receiver", ["channel": name]),
        name: receiver?.details.name,
        action: receiver.map { "/settings/receivers/\($0.id)" } ?? "/settings/receivers", channel: channel.rawValue,
        channelName: name, isMail: channel == .email, signs: ChatService(rawValue: channel.rawValue)?.signs ?? false,
        addressHint: texts("settings.address_hint.\(channel.rawValue)"),
        keptHost: channel == .email ? nil : receiver?.details.target, form: form, errors: errors,
        languages: ReceiverForm.languages.map {
          ChoiceView(value: $0, label: page.console.locales.name($0), isSelected: $0 == form["language"])
        }, apps: choices.map { ChoiceView(value: $0.0, label: $0.1, isSelected: $0.0 == form["app"]) }),
      status: errors.status)
  }

  private static func save(_ page: PageContext, _ before: Receiver?) async throws -> Response {
    let form = page.form
    var typed = ReceiverForm()
    typed.channel = before?.details.channel ?? Receiver.Channel(rawValue: form["channel"]) ?? .email
    typed.name = form["name"]
    // Only the host of a webhook is shown, so an empty field keeps the stored address.
    typed.address = form["address"].isEmpty && before != nil && typed.channel != .email ? nil : form["address"]
    typed.secret = form["secret"].isEmpty ? (form["no_secret"] == "yes" ? "" : nil) : form["secret"]
    typed.language = form["language"]
    typed.appID = Int64(form["app"])
    typed.isActive = form["active"] == "yes"
    typed.getsIncidents = form["incidents"] == "yes"
    var problems = typed.problems(plain: page.plainHosts)
    if let app = typed.appID, try await page.store.read({ try App.find($0, id: app) }) == nil {
      problems.append(CertificatePages.noApp)
    }
    guard problems.isEmpty else {
      return try await edit(page, before, form, FieldErrors(Problems(problems), page.texts))
    }
    let wanted = typed
    do {
      try await page.store.write { database in
        // Somebody else may have changed it since it was read.
        let stored = try before.map { try Receiver.get(database, id: $0.id) }
        try stored?.details.revision.check(form, saving: wanted.details(stored).revision)
        _ = try keep(database, wanted, stored, for: page)
      }
    } catch let error as Revision.Overtaken {
      let receiver = try await find(page)
      let errors = try await page.overtaken("receiver.update", "receiver \(receiver.id)")
      return try await edit(page, receiver, form.with(error.stored), errors)
    }
    return page.redirect(to: "/settings/receivers", flash: "receiver_saved")
  }

  /// Adds or changes a receiver, with its audit entry.
  static func keep(
    _ database: Database, _ form: ReceiverForm, _ before: Receiver?, for context: some ActorContext
  ) throws -> Receiver {
    let (sealer, now) = (context.store.sealer, context.now)
    let secrets = try before.map { try Receiver.secrets(database, id: $0.id, sealer: sealer) }
    let after =
      if let before {
        try Receiver.update(
          database, id: before.id, form.details(before), form.secrets(secrets), sealer: sealer, now: now)
      } else {
        try Receiver.add(
          database, form.details(nil), form.secrets(nil) ?? .init(address: ""), sealer: sealer, by: context.actor,
          now: now)
      }
    try context.record(
      database, before == nil ? "receiver.create" : "receiver.update", "receiver \(after.id)",
      ["before": before?.audited ?? .null, "after": after.audited])
    return after
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    try await page.store.write { database in
      let receiver = try Receiver.get(database, id: id)
      try Receiver.delete(database, id: id)
      try page.record(database, "receiver.delete", "receiver \(id)", receiver.audited)
    }
    return page.redirect(to: "/settings/receivers", flash: "receiver_removed")
  }

  // MARK: Test

  private static func test(_ page: PageContext) async throws -> Response {
    let receiver = try await find(page)
    let sealer = page.store.sealer
    let (secrets, mail) = try await page.store.read { database in
      (try Receiver.secrets(database, id: receiver.id, sealer: sealer), try MailSettings.load(database, sealer: sealer))
    }
    let details = receiver.details
    let (isGood, answer) = await attempt(page, details.channel, secrets, language: details.language, mail: mail)
    try await page.note(page.audit("receiver.test", "receiver \(receiver.id)", ["accepted": .bool(isGood)]))
    let text = page.texts(isGood ? "settings.test_good" : "settings.test_bad", ["to": details.name])
    return try page.shown(at: "/settings/receivers") { page in
      try await index(page, TestResult(isGood: isGood, text: text, answer: answer))
    }
  }

  /// Sends a test message.
  /// - Returns: what the receiving server answered.
  static func attempt(
    _ page: PageContext, _ channel: Receiver.Channel, _ secrets: Receiver.Secrets, language: String,
    mail: MailSettings?
  ) async -> (isGood: Bool, answer: String) {
    let courier = page.console.courier
    do {
      let content = courier.test(language: language, now: page.now)
      return (true, try await courier.send(content, over: channel, to: secrets, mail: mail))
    } catch let error as MailError {
      return (false, page.texts.failure(error.code, error.words))
    } catch {
      page.console.log.error("could not create a test message", ["error": "\(error)"])
      return (false, page.texts("settings.failures.settings"))
    }
  }
}

extension Locales {
  /// The name of a language in that language.
  func name(_ code: String) -> String {
    texts[code]?.known("layout.own_name") ?? (code == "zh-Hans" ? "简体中文" : code)
  }
}
