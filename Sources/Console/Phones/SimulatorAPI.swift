import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Simulator
import Store

/// `/simulator/v1`: lets other projects' tests control and query the simulator. The console requires an API token;
/// `signalbox simulate` serves it without one, on the loopback address.
enum SimulatorAPI {
  static let prefix = "/simulator/v1"

  struct Call: Sendable {
    let request: Request
    let running: PushSimulator?
    let now: Date
    /// Whose keys for repeated calls these are.
    var caller = ""
    /// Writes an entry about a server of the simulator; nowhere in `signalbox simulate`.
    var note: @Sendable (SimulatedServer, JSONValue) async throws -> Void = { _, _ in }

    /// Sets a server's faults, and records it.
    func set(_ faults: Faults, _ server: SimulatedServer) async throws {
      let simulator = try simulator()
      let before = simulator.faults(server).faults.description
      simulator.faults(server).set(faults)
      guard simulator.faults(server).faults.description != before else { return }
      try await note(server, FaultsAnswer(server, simulator).audited(before: before))
    }

    /// - Throws: 404 if the simulator does not run.
    func simulator() throws -> PushSimulator {
      if let running { return running }
      throw APIError(
        .notFound,
        "The simulator is not running. Start the server with --demo, or run signalbox simulate.")
    }

    func phones() throws -> PhoneBook { try simulator().phones }
  }

  struct Operation: Sendable {
    let method: HTTPServer.Method
    let pattern: String
    let role: User.Role
    var scope: CallScope { role == .viewer ? .read : role == .operator ? .devices : .admin }
    let query: [String]
    let answer: @Sendable (Call) async throws -> Response

    init(
      _ method: HTTPServer.Method, _ pattern: String, role: User.Role, query: [String] = [],
      _ answer: @escaping @Sendable (Call) async throws -> Response
    ) {
      self.method = method
      self.pattern = pattern
      self.role = role
      self.query = query
      self.answer = answer
    }
  }

  private static let operations = [
    Operation(.get, "", role: .viewer) { call in try overview(call) },
    Operation(.get, "/phones", role: .viewer) { call in
      try APIContext.answer { json in json.member("items", try call.phones().phones().map(PhoneAnswer.init)) }
    },
    Operation(.post, "/phones", role: .operator) { call in try await addPhone(call) },
    Operation(.get, "/phones/:id", role: .viewer) { call in
      let id: Int64 = try call.request.parameter("id")
      guard let phone = try call.phones().phone(id) else { throw APIError(PhoneBookError.noSuchPhone(id)) }
      return APIContext.answer(PhoneAnswer(phone: phone))
    },
    Operation(.patch, "/phones/:id", role: .operator) { call in try await changePhone(call) },
    Operation(.delete, "/phones/:id", role: .operator) { call in
      try act(call) { phones, id throws(PhoneBookError) in try phones.remove(id) }
      return APIContext.nothing
    },
    Operation(.post, "/phones/:id/uninstall", role: .operator) { call in
      try phone(call) { phones, id throws(PhoneBookError) in try phones.uninstall(id, now: call.now) }
    },
    Operation(.post, "/phones/:id/install", role: .operator) { call in
      try phone(call) { phones, id throws(PhoneBookError) in try phones.reinstall(id, now: call.now) }
    },
    Operation(.post, "/phones/:id/refresh", role: .operator) { call in
      try phone(call) { phones, id throws(PhoneBookError) in try phones.refreshToken(id, now: call.now) }
    },
    Operation(.post, "/phones/:id/clear", role: .operator) { call in
      try phone(call) { phones, id throws(PhoneBookError) in try phones.clear(id) }
    },
    Operation(.get, "/notifications", role: .viewer, query: queryNames) { call in try await notifications(call) },
    Operation(.delete, "/notifications", role: .operator) { call in
      try call.phones().clearAll()
      return APIContext.nothing
    },
    Operation(.get, "/faults", role: .viewer) { call in try faults(call) },
    Operation(.delete, "/faults", role: .operator) { call in
      for server in SimulatedServer.allCases { try await call.set(Faults(), server) }
      return APIContext.nothing
    },
    Operation(.put, "/faults/:server", role: .operator) { call in try await setFaults(call) },
    Operation(.get, "/counters", role: .viewer) { call in
      let simulator = try call.simulator()
      return APIContext.answer { simulator.writeCounters(to: &$0) }
    },
  ]

  static let all = operations + SimulatorChannels.operations + SimulatorRequests.operations

  static func add(to routes: inout ConsoleRouter) {
    let simulator = routes.console.simulator
    for operation in all {
      routes.call(
        operation.method, operation.pattern, role: operation.role, scope: operation.scope, query: operation.query,
        under: prefix
      ) { call in
        try await operation.answer(
          Call(request: call.request, running: simulator, now: call.now, caller: call.actor) { server, detail in
            try await call.note(call.audit("simulator.faults", "simulator \(server.rawValue)", detail))
          })
      }
    }
  }

  // MARK: The simulator

  private static func overview(_ call: Call) throws -> Response {
    let simulator = try call.simulator()
    return APIContext.answer { json in
      for server in SimulatedServer.allCases {
        json.key(dynamic: server.rawValue)
        guard let endpoint = simulator.endpoint(server) else {
          json.null()
          continue
        }
        json.object { json in
          json.member("host", endpoint.host)
          json.member("port", Int(endpoint.port))
        }
      }
      json.member("authority", simulator.authorityPEM)
    }
  }

  // MARK: Phones

  private static func addPhone(_ call: Call) async throws -> Response {
    let fields = JSONFields(try await APIContext.body(of: call.request))
    let app = fields.string("app", required: true, limit: .bytes(255)) { AppName.problem(withBundleID: $0) }
    let environment = fields.choice("environment", required: true, as: Environment.self)
    let name = fields.string("name")
    let model = fields.string("model")
    let given = fields.choice("platform", as: Platform.self)
    let provider = fields.choice("provider", as: ProviderKind.self)
    var platform = given ?? .ios
    var token: DeviceToken?
    let text = fields.string("token", limit: .bytes(1024)) { text in
      do throws(Problem) {
        if provider == .jpush {
          token = try DeviceToken(parsing: text, platform: platform, provider: provider)
          return nil
        }
        let read = try DeviceToken(parsing: text, platforms: Set(Platform.allCases))
        // FCM's tokens are kept as their text; iPhones may have them, too.
        platform = read.isText && given != .ios ? .android : .ios
        token = read
        return nil
      } catch {
        return error
      }
    }
    try fields.finish()
    guard let app, let environment else { throw APIError(.unprocessableContent, "") }
    guard provider == nil || provider.map(platform.providers.contains) == true else {
      throw APIError(.conflict, "A phone with \(platform.name) cannot be registered with this push service.")
    }
    guard given == nil || given == platform else {
      throw APIError(.conflict, "The token is of another platform: \(platform.rawValue).")
    }
    let (phones, body) = (try call.phones(), try await call.request.body.collect(upTo: 1 << 20))
    let new = NewPhone(
      name: name ?? "Phone \(phones.phones().count + 1)", model: model, platform: platform, provider: provider,
      environment: environment, topic: app, token: text == nil ? nil : token)
    return try once(call, content: body) {
      do throws(PhoneBookError) {
        let phone = try phones.add(new)
        return Idempotency.Answer(
          status: .created, json: PhoneAnswer(phone: phone), location: "\(prefix)/phones/\(phone.id)")
      } catch {
        throw APIError(error)
      }
    }
  }

  private static func changePhone(_ call: Call) async throws -> Response {
    let body = try await APIContext.body(of: call.request)
    let fields = JSONFields(body)
    let appState = fields.choice("app_state", as: SimulatedPhone.AppState.self)
    let power = fields.choice("power", as: SimulatedPhone.Power.self)
    let notifications = fields.choice("notifications", as: SimulatedPhone.Notifications.self)
    let isDozing = fields.bool("dozing")
    let changesChannels = fields.value("muted_channels") != nil
    let muted = Set(fields.strings("muted_channels", atMost: 100))
    try fields.finish()
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    return try phone(call) { phones, id throws(PhoneBookError) in
      // Other changes need the phone on: switch it on first, or off last.
      if power == .on { try phones.setPower(id, .on, now: call.now) }
      if let appState { try phones.setAppState(id, appState, now: call.now) }
      if let notifications { try phones.setNotifications(id, notifications) }
      if changesChannels { try phones.setMutedChannels(id, muted) }
      if let isDozing { try phones.setDozing(id, isDozing, now: call.now) }
      if power == .off { try phones.setPower(id, .off, now: call.now) }
    }
  }

  /// Changes the phone named in the path, and answers with its new state.
  private static func phone<Result>(
    _ call: Call, _ body: (PhoneBook, Int64) throws(PhoneBookError) -> Result
  ) throws -> Response {
    let id = try act(call, body)
    guard let phone = try call.phones().phone(id) else { throw APIError(PhoneBookError.noSuchPhone(id)) }
    return APIContext.answer(PhoneAnswer(phone: phone))
  }

  @discardableResult
  private static func act<Result>(
    _ call: Call, _ body: (PhoneBook, Int64) throws(PhoneBookError) -> Result
  ) throws -> Int64 {
    let id: Int64 = try call.request.parameter("id")
    let phones = try call.phones()
    do throws(PhoneBookError) {
      _ = try body(phones, id)
    } catch {
      throw APIError(error)
    }
    return id
  }

  // MARK: Received notifications

  private static let queryNames =
    SimulatorExpectation.names + ["phone", "name", "token", "environment"] + ContentQuery.names + [
      "apns_id", "message", "push", "after", "limit",
    ]

  private static func notifications(_ call: Call) async throws -> Response {
    var query = APIQuery(call.request)
    var wanted = NotificationQuery()
    let expectation = SimulatorExpectation(&query)
    wanted.phone = query.number("phone", in: 1...Int(Int32.max)).map(Int64.init)
    wanted.name = query.text("name", limit: 500)
    if let text = query.text("token", limit: DeviceToken.firebaseCharacters.upperBound) {
      do throws(Problem) {
        wanted.token = try DeviceToken(parsing: text, platforms: Set(Platform.allCases))
      } catch {
        query.report(error.under("token"))
      }
    }
    wanted.environment = query.choice("environment")
    wanted.content = query.content()
    wanted.apnsID = query.text("apns_id") ?? query.text("message", limit: 500)
    wanted.push = query.text("push")
    wanted.after = query.number("after", in: 0...Int(Int32.max)).map(Int64.init) ?? 0
    let limit = query.limit()
    try query.finish()
    let phones = try call.phones()
    let found = await phones.arrivals(wanted, atLeast: expectation.enough, within: expectation.limit)
    var others = NotificationQuery()
    others.after = wanted.after
    try expectation.check(
      found.count, call, one: "notification", "\(phones.arrivals(others).count) arrived on all phones")
    return APIContext.answer { json in
      json.member("total", found.count)
      json.member("items", found.prefix(limit).map(ArrivalAnswer.init))
    }
  }

  // MARK: Faults

  private static func faults(_ call: Call) throws -> Response {
    let simulator = try call.simulator()
    return APIContext.answer { json in
      json.member("items", SimulatedServer.allCases.map { FaultsAnswer($0, simulator) })
    }
  }

  private static func setFaults(_ call: Call) async throws -> Response {
    let fields = JSONFields(try await APIContext.body(of: call.request))
    let name = call.request.parameters["server"] ?? ""
    let server = SimulatedServer(rawValue: name)
    var faults = Faults()
    _ = fields.string("faults", required: true, limit: .bytes(4096)) { text in
      do {
        faults = try Faults(parsing: text, for: server ?? .development)
        return nil
      } catch {
        return Problem("", code: "simulator.faults", "{reason}", ["reason": "\(error)"])
      }
    }
    try fields.finish()
    guard let server else {
      throw APIError(.notFound, "Unknown server “\(name.prefix(40))”. Use development, production, fcm, or jpush.")
    }
    let simulator = try call.simulator()
    try await call.set(faults, server)
    return APIContext.answer(FaultsAnswer(server, simulator))
  }
}

extension APIError {
  fileprivate init(_ error: PhoneBookError) {
    switch error {
    case .noSuchPhone, .noSuchNotification: self.init(.notFound, error.description)
    case .tokenTaken, .appNotInstalled, .phoneIsOff, .notAndroid: self.init(.conflict, error.description)
    }
  }
}
