import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Simulator
import Store

/// `/phones`: the simulated phones, the actions on them, and the simulated errors.
enum PhonePages {
  static let views: [any PageView.Type] = [
    PhoneBenchView.self, PhoneWallView.self, PhoneRequestsView.self, NewPhoneView.self, RemovePhoneView.self,
    NoPhonesView.self,
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/phones") { page in try await index(page) }
    routes.page(.get, "/phones/events") { page in try events(page) }
    routes.page(.get, "/phones/new", role: .operator) { page in
      guard page.console.simulator != nil else { return page.answer(NoPhonesView()) }
      return try await newPage(
        page,
        Form([
          ("app", page.filled("app") ?? ""), ("environment", "development"), ("register", "1"),
          ("platform", page.filled("platform") ?? "ios"),
        ]), FieldErrors())
    }
    routes.page(.get, "/phones/wall", PhoneWall.show)
    routes.page(.get, PhoneRequests.path, PhoneRequests.show)
    routes.page(.get, "/phones/ca.pem") { page in
      guard let simulator = page.console.simulator else { throw PageError(.notFound, "not_found") }
      return Response(
        headers: ["Content-Type": "application/x-pem-file"], body: .bytes(Array(simulator.authorityPEM.utf8)))
    }
    routes.page(.post, "/phones", role: .operator, make)
    routes.page(.post, "/phones/faults", role: .operator, setFaults)
    routes.page(.post, "/phones/:id", role: .operator, act)
    routes.page(.get, "/phones/:id/remove", role: .operator) { page in
      guard let phone = try simulator(page).phones.phone(try page.id()) else {
        throw PageError.notFound("phone", list: "/phones")
      }
      return page.answer(RemovePhoneView(phone: phone))
    }
    routes.page(.post, "/phones/:id/remove", role: .operator, remove)
  }

  private static func simulator(_ page: PageContext) throws -> PushSimulator {
    guard let simulator = page.console.simulator else { throw PageError(.conflict, "no_simulator") }
    return simulator
  }

  // MARK: The page

  /// A rejected fault form, shown again with its errors.
  struct Refused {
    let server: SimulatedServer
    let form: Form
    let error: String
  }

  private static func index(_ page: PageContext, refused: Refused? = nil) async throws -> Response {
    guard let simulator = page.console.simulator else { return page.answer(NoPhonesView()) }
    let (texts, now, changes) = (page.texts, page.now, simulator.phones.changeCount)
    let (phones, channels) = (simulator.phones.phones(), simulator.channels.all)
    let bench = PhoneBench(phones, page)
    let named = ([bench.phone, bench.message?.phone] + bench.inbox.map(\.phone)).compactMap { $0 }
    let item = bench.message?.item
    let (apps, device, origin) = try await page.store.read { database in
      let apps = try App.all(database)
      func device(_ phone: SimulatedPhone?) throws -> Int64? {
        guard let phone, let app = apps.first(where: { $0.bundleID == phone.topic }) else { return nil }
        return try Device.find(database, app: app.id, token: phone.token)?.id
      }
      let shown = try device(bench.phone)
      let receiver = bench.message?.phone.id == bench.phone?.id ? shown : try device(bench.message?.phone)
      return (apps, shown, try item.flatMap { try NotificationOrigin.find(database, $0, device: receiver) })
    }
    let names = Dictionary(
      named.map { phone in (phone.id, apps.first { $0.bundleID == phone.topic }?.name ?? phone.topic) }
    ) { $1 }
    func row(_ entry: PhoneBench.Entry) -> PhoneNotificationRow {
      PhoneNotificationRow(
        entry.item, in: entry.activity, on: entry.phone, app: names[entry.phone.id] ?? entry.phone.topic, texts: texts,
        now: now)
    }
    let wrong = SimulatedServer.allCases.map { ($0, FaultChoice(simulator.faults($0).faults, of: $0)) }
      .filter { $1.kind != .none }
    let notice = texts.phrases(wrong.map { texts.labelled($0.word(texts), $1.text(texts)) })
    let view = PhoneBenchView(
      bench: bench, changes: changes, count: phones.count, shelf: bench.shelf.map { ShelfEntry($0, bench, texts) },
      inbox: bench.inbox.map { entry in
        InboxEntry(
          row: row(entry), href: bench.href(phone: bench.owner?.id, message: entry.item.id),
          isCurrent: entry.item.id == item?.id, isUnread: entry.item.isUnread)
      },
      phone: bench.phone.map { phone in
        PhoneCard(
          phone, app: apps.first { $0.bundleID == phone.topic }, device: device, channels: channels,
          chosen: bench.message?.phone.id == phone.id ? item?.id : nil, texts: texts, now: now)
      },
      message: bench.message.map { PhoneMessageView(row($0), bench, origin, texts) },
      faults: SimulatedServer.allCases.map { server in
        faults(server, simulator.faults(server).faults, refused?.server == server ? refused : nil, texts)
      }, active: notice)
    return page.answer(view, status: refused == nil ? .ok : .unprocessableContent)
  }

  private static func events(_ page: PageContext) throws -> Response {
    let phones = try simulator(page).phones
    let changes = phones.changes()
    return try page.events { stream in
      // The page fetches what it missed before this connection opened, or while it was hidden.
      try await stream.send(ServerSentEvent(data: "{\"changes\":\(phones.changeCount)}", event: "phones"))
      for await change in changes {
        try await stream.send(ServerSentEvent(data: "{\"phone\":\(change.phoneID)}", event: "phones"))
      }
    }
  }

  // MARK: Faults

  private static func faults(
    _ server: SimulatedServer, _ faults: Faults, _ refused: Refused?, _ texts: Texts
  ) -> PhoneFaultsView {
    let choice = FaultChoice(faults, of: server)
    return PhoneFaultsView(
      server: server, name: server.word(texts),
      active: choice.kind == .none ? nil : choice.text(texts),
      kinds: ChoiceView.list(
        FaultChoice.kinds(of: server).map { ($0.rawValue, texts("phones.fault_\($0.rawValue)")) },
        chosen: refused?.form["fault"] ?? choice.kind.rawValue),
      count: refused?.form["count"] ?? choice.count.map(String.init) ?? "", error: refused?.error ?? "")
  }

  private static func setFaults(_ page: PageContext) async throws -> Response {
    let simulator = try simulator(page)
    guard let server = SimulatedServer(rawValue: page.form["server"]),
      let kind = FaultChoice.Kind(rawValue: page.form.has("stop") ? "none" : page.form["fault"]),
      FaultChoice.kinds(of: server).contains(kind)
    else { throw PageError(.unprocessableContent, "refused") }
    let text = page.form["count"]
    let count = Int(text)
    guard text.isEmpty || count.map({ (1...1_000_000).contains($0) }) == true else {
      let refused = Refused(server: server, form: page.form, error: page.texts("phones.count_problem"))
      return try await index(page, refused: refused)
    }
    let before = simulator.faults(server).faults.description
    simulator.faults(server).set(FaultChoice(kind: kind, count: count).faults)
    if simulator.faults(server).faults.description != before {
      let detail = FaultsAnswer(server, simulator).audited(before: before)
      try await page.note(page.audit("simulator.faults", "simulator \(server.rawValue)", detail))
    }
    return page.redirect(to: "/phones#faults", flash: "faults_set")
  }

  // MARK: Adding and deleting

  private static func newPage(_ page: PageContext, _ form: Form, _ errors: FieldErrors) async throws -> Response {
    let texts = page.texts
    let (apps, tags) = try await page.store.read { database in
      let apps = try App.all(database)
      let app = apps.count == 1 ? apps[0] : apps.first { $0.bundleID == form["app"] }
      return (apps, try AudienceNames(database, of: app).tags)
    }
    let view = NewPhoneView(
      form: form, errors: errors, hasApps: !apps.isEmpty,
      apps: ChoiceView.apps(apps, none: texts("send.choose_app"), chosen: form["app"]),
      environments: ChoiceView.environments(texts, chosen: form["environment"]),
      platforms: ChoiceView.list(
        Platform.allCases.map { ($0.rawValue, texts("phones.kind_\($0.rawValue)")) }, chosen: form["platform"]),
      providers: ChoiceView.list(
        [("", texts("devices.provider_own"))] + [ProviderKind.fcm, .jpush].map { ($0.rawValue, $0.name) },
        chosen: form["provider"]), tags: tags)
    return page.answer(view, status: errors.status)
  }

  private static func make(_ page: PageContext) async throws -> Response {
    let phones = try simulator(page).phones
    let form = page.form
    let apps = try await page.store.read { try App.all($0) }
    let app = apps.first { $0.bundleID == form["app"] }
    let environment = Environment(rawValue: form["environment"])
    // A form of an earlier page has no such field.
    let platform = form["platform"].isEmpty ? .ios : Platform(rawValue: form["platform"])
    let rule = app?.rule ?? .none
    let tags = form.parts("tags")
    var problems: [Problem] = []
    if app == nil { problems.append(Problem("app", FieldMessage.required)) }
    if environment == nil { problems.append(Problem("environment", FieldMessage.required)) }
    if platform == nil { problems.append(Problem("platform", FieldMessage.required)) }
    if let problem = AppName.problem(withRequiredName: form["name"]) { problems.append(problem.under("name")) }
    if let alias = form.filled("alias"), let problem = rule.problem(with: alias) {
      problems.append(problem.under("alias"))
    }
    if let problem = TagRule.problems(with: tags, rule: rule).first {
      problems.append(SendForm.placed(problem.under("audience.tags")))
    }
    guard problems.isEmpty, let app, let environment, let platform else {
      return try await newPage(page, form, FieldErrors(Problems(problems), page.texts))
    }
    let phone = try phones.add(
      NewPhone(
        name: form["name"], platform: platform,
        provider: [.fcm, .jpush].first { $0.rawValue == form["provider"] }, environment: environment,
        topic: app.bundleID, alias: form.filled("alias")))
    if form.has("register") {
      var registration = Registration(of: phone)
      registration.alias = .set(form.filled("alias"))
      registration.tags = .set(tags)
      registration.name = .set(form["name"])
      try await register(registration, app, page)
    }
    return page.redirect(to: "/phones?phone=\(phone.id)", flash: "phone_added")
  }

  private static func register(_ registration: Registration, _ app: App, _ page: PageContext) async throws {
    _ = try await page.store.write {
      try Device.register(
        $0, app: app.id, [registration], leaving: try page.leaving($0), by: page.actor, now: page.now)
    }
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let phones = try simulator(page).phones
    do {
      try phones.remove(try page.id())
    } catch is PhoneBookError {
      throw PageError.notFound("phone", list: "/phones")
    }
    return page.redirect(to: "/phones", flash: "phone_removed")
  }

  // MARK: Actions

  private static func act(_ page: PageContext) async throws -> Response {
    let (phones, channels) = (try simulator(page).phones, try simulator(page).channels)
    let id = try page.id()
    guard let phone = phones.phone(id) else { throw PageError.notFound("phone", list: "/phones") }
    do {
      let muted = phone.android?.mutedChannels ?? []
      if let channel = page.form.filled("subscribe") {
        try channels.subscribe(phone, to: channel)
      } else if let channel = page.form.filled("unsubscribe") {
        try channels.unsubscribe(phone, from: channel)
      } else if let channel = page.form.filled("channel_off") {
        try phones.setMutedChannels(id, muted.union([channel]))
      } else if let channel = page.form.filled("channel_on") {
        try phones.setMutedChannels(id, muted.subtracting([channel]))
      } else {
        try await press(page.form["action"], on: phone, phones, page)
      }
    } catch is ChannelBook.Problem {
      throw PageError(.conflict, "channel_gone", action: ("/phones", "nav.phones"))
    } catch let error as PhoneBookError {
      // Another browser changed the phone first: the page shows its current state.
      throw PageError(
        .conflict, "phone_busy", ["reason": page.texts.text(error.problem)], action: ("/phones", "nav.phones"))
    }
    return page.redirect(to: "/phones?phone=\(id)")
  }

  /// What a button of the phone does.
  private static func press(
    _ action: String, on phone: SimulatedPhone, _ phones: PhoneBook, _ page: PageContext
  ) async throws {
    let (id, now) = (phone.id, page.now)
    switch action {
    case "foreground": try phones.setAppState(id, .foreground, now: now)
    case "background": try phones.setAppState(id, .background)
    case "not_running": try phones.setAppState(id, .notRunning)
    case "on": try phones.setPower(id, .on)
    case "off": try phones.setPower(id, .off)
    case "notifications_allowed": try phones.setNotifications(id, .allowed)
    case "notifications_off": try phones.setNotifications(id, .off)
    case "uninstall": try phones.uninstall(id, now: now)
    case "reinstall": try await register(try phones.reinstall(id, now: now), inPlaceOf: phone, page)
    case "refresh": try await register(try phones.refreshToken(id, now: now), inPlaceOf: phone, page)
    case "doze": try phones.setDozing(id, true, now: now)
    case "wake": try phones.setDozing(id, false, now: now)
    case "clear": try phones.clear(id)
    case "tap": try phones.tap(id, Int64(page.form["notification"]) ?? 0, now: now)
    default: throw PageError(.unprocessableContent, "refused")
    }
  }

  /// The app registers its new token, with everything that the device of the previous one had.
  ///
  /// - Parameter phone: as it was.
  static func register(
    _ token: DeviceToken, inPlaceOf phone: SimulatedPhone, _ page: PageContext
  ) async throws {
    let (app, before) = try await page.store.read { database -> (App?, Device?) in
      let app = try App.find(database, bundleID: phone.topic)
      return (app, try app.flatMap { try Device.find(database, app: $0.id, token: phone.token) })
    }
    guard let app, let before else { return }
    var registration = Registration(token: token, environment: phone.environment, platform: phone.platform)
    registration.provider = phone.provider
    if phone.provider == .jpush { registration.registrationID = .set(token.text) }
    registration.alias = .set(before.alias)
    registration.tags = .set(before.tags)
    registration.name = .set(before.name)
    try await register(registration, app, page)
  }
}
