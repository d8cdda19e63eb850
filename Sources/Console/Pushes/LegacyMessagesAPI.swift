import Delivery
import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Reactor
import SQLite
import Store

/// `POST /fcm/send` and `/gcm/send`: the legacy protocol of GCM and FCM, with an app's JPush key pair as server key
/// (docs/protocols.md §3.8).
///
/// The old service answered at once what became of each token. Here the answer waits a moment for outcomes: those that
/// are known by then stand in the results, any other token is taken and counted in `signalbox.pending`.
enum LegacyMessagesAPI {
  static func add(to routes: inout ConsoleRouter) {
    let console = routes.console
    for path in ["/fcm/send", "/gcm/send"] {
      routes.plain(.post, path, name: "legacy") { request in try await answer(console, request) }
    }
  }

  private static func answer(_ console: Console, _ request: Request) async throws -> Response {
    let now = console.clock()
    let call: JPushCall
    switch try await JPushAccess.find(console, request, key(of: request), now: now) {
    case .found(let key, let app):
      call = JPushCall(console: console, request: request, key: key, app: app, family: .push, now: now)
    case .refused:
      return .text(
        "Unauthorized: the request needs Authorization: key=<AppKey>:<master secret>.\n", status: .unauthorized)
    case .tooOften(let seconds):
      var response = Response.text(
        "Too many wrong keys from this address. Wait \(seconds) s.\n", status: .tooManyRequests)
      response.headers.append("Retry-After", String(seconds))
      return response
    }
    let bytes = try await request.body.collect(upTo: 1 << 20)
    if request.mediaType == LegacyForm.mediaType {
      let pairs = try URLEncodedForm(bytes).pairs.map { (name: $0.name, value: $0.value) }
      return plain(try await answer(LegacyForm.json(pairs), call))
    }
    let json: JSONValue
    do {
      json = try JSONValue(checking: bytes)
    } catch {
      return .text("JSON_PARSING_ERROR: \(error.text)\n", status: .badRequest)
    }
    return try await answer(json, call)
  }

  private static func answer(_ json: JSONValue, _ call: JPushCall) async throws -> Response {
    do {
      return try await send(try LegacyRequest(json, app: call.app.bundleID), call)
    } catch let error as LegacyRequest.Malformed {
      return .text("\(error.text)\n", status: .badRequest)
    } catch let error as LegacyRequest.Refused {
      return refusal(error, of: json)
    } catch let problems as Problems {
      return refusal(LegacyRequest.Refused(problems), of: json)
    }
  }

  /// The same answer for a request in GCM's plain-text form.
  private static func plain(_ answer: Response) -> Response {
    // Refusals of the whole request are sentences already.
    guard answer.status == .ok, let json = try? JSONValue(parsing: answer.body.bytes ?? []) else { return answer }
    var response = Response.text(LegacyForm.answer(json))
    if let unused = answer.headers["X-Signalbox-Unused"] { response.headers.append("X-Signalbox-Unused", unused) }
    return response
  }

  private static func key(of request: Request) -> (name: String, secret: String)? {
    guard let value = request.header("Authorization"), value.lowercased().hasPrefix("key=") else { return nil }
    return JPushAccess.pair(value.dropFirst(4).trimmingCharacters(in: .whitespaces))
  }

  // MARK: Sending

  private static func send(_ request: LegacyRequest, _ call: JPushCall) async throws -> Response {
    switch request.target {
    case .topics(let topics, let tags):
      var draft = request.draft
      (draft.environment, draft.audience) = try await call.store.read { database in
        let environment = try usualEnvironment(database, call.app)
        return (environment, try audience(topics, tags, environment, database, call.app))
      }
      if draft.audience.topicTarget != nil { draft.platforms = [.android] }
      let push = try await take(draft, request, call)
      // Clients take zero for a failure (docs/protocols.md §7.5).
      return APIContext.answer { $0.member("message_id", push?.id ?? 1) }.naming(unused: request.unused)
    case .tokens(let texts):
      let targets = try await call.store.read { database in
        try texts.map { try LegacyTarget($0, database, app: call.app.id) }
      }
      let lots = try await send(request, to: targets, call)
      return try await results(of: targets, lots, request, call).naming(unused: request.unused)
    }
  }

  /// Tags of these names, iOS too, if the app's devices have any; else FCM's own topics, if the app sends through FCM.
  private static func audience(
    _ topics: Audience, _ tags: Audience.Rule?, _ environment: Environment, _ database: Database, _ app: App
  ) throws -> Audience {
    let names = tags.map { Set($0.tag + $0.tagAnd + $0.tagNot) } ?? []
    let isTagged = try Tag.missing(database, names, app: app.id).count < names.count
    if let tags, isTagged { return .rule(tags) }
    guard try Credential.find(database, app: app.id, provider: .fcm, environment: environment) == nil else {
      return topics
    }
    guard let tags else {
      throw LegacyRequest.Refused(
        .invalidParameters,
        "Without an FCM service account, topics are sent as tags. Join them by &&, with at most one group of ||.")
    }
    return .rule(tags)
  }

  /// One push for each environment that has devices among the tokens; if a service refuses it, one for each service, so
  /// that the limits of one do not hold for the tokens of another.
  private static func send(
    _ request: LegacyRequest, to targets: [LegacyTarget], _ call: JPushCall
  ) async throws -> LegacyLots {
    let tokens = Set(targets.compactMap(\.receiver))
    let places = try await call.store.read { database in
      let usual = try usualEnvironment(database, call.app)
      return try Dictionary(grouping: tokens) { token in
        try LegacyLots.Place(database, token, app: call.app, usual: usual)
      }
    }
    var lots = LegacyLots()
    for environment in Environment.allCases {
      var left = Reach.all.compactMap { reach in
        places.first { $0.key.environment == environment && $0.key.reach == reach }
      }
      do {
        if left.count > 1, try await add(left, to: &lots, request, call) { continue }
        while let place = left.first {
          _ = try await add([place], to: &lots, request, call)
          left.removeFirst()
        }
      } catch  where !lots.pushes.isEmpty {
        // What was sent is answered as sent: a caller who repeats it all would send it twice.
        call.console.log.error("a part of a legacy message was not stored", ["error": "\(error)"])
        let refusal = LegacyRequest.Refused(.internalServerError, "The server could not store it. Try again.")
        for (_, tokens) in left { lots.refuse(tokens, refusal) }
      }
    }
    return lots
  }

  /// Sends to places of one environment.
  ///
  /// - Returns: false if the push is refused; a refusal of one place is noted.
  private static func add(
    _ places: [(key: LegacyLots.Place, value: [DeviceToken])], to lots: inout LegacyLots, _ request: LegacyRequest,
    _ call: JPushCall
  ) async throws -> Bool {
    var rule = Audience.Rule()
    rule.deviceToken = places.flatMap(\.value).sorted { $0.text < $1.text }
    var draft = request.draft
    (draft.environment, draft.audience) = (places[0].key.environment, .rule(rule))
    draft.platforms = Set(places.map(\.key.reach.platform))
    do {
      if let push = try await take(draft, request, call) { lots.pushes.append(push) }
      return true
    } catch let problems as Problems {
      if places.count == 1 { lots.refuse(places[0].value, LegacyRequest.Refused(problems)) }
      return false
    }
  }

  /// Production, unless the app has devices in development only: the protocol names no environment.
  private static func usualEnvironment(_ database: Database, _ app: App) throws -> Environment {
    let overview = try AppOverview.find(database, id: app.id)
    func count(_ environment: Environment) -> Int { overview?.count(environment: environment) ?? 0 }
    return count(.production) == 0 && count(.development) > 0 ? .development : .production
  }

  /// - Returns: nil for a dry run, which is checked alone.
  private static func take(_ draft: PushDraft, _ request: LegacyRequest, _ call: JPushCall) async throws -> Push? {
    guard !request.isDryRun else {
      let check = try await call.console.intake.check(draft, now: call.now, within: .seconds(10))
      guard check.problems.isEmpty else { throw Problems(check.problems) }
      return nil
    }
    let order = PushIntake.Order(
      draft, source: .legacy, by: "fcm \(call.key.appKey)", from: call.clientAddress, now: call.now)
    guard case .push(let push) = try await call.console.intake.take(order) else { return nil }
    return push
  }

  // MARK: Results

  private static func results(
    of targets: [LegacyTarget], _ lots: LegacyLots, _ request: LegacyRequest, _ call: JPushCall
  ) async throws -> Response {
    do {
      if !lots.pushes.isEmpty { try await call.console.wait(for: lots.pushes) }
      let results = try await call.store.read { database in
        try targets.map { try $0.result(database, app: call.app.id, lots, isDryRun: request.isDryRun) }
      }
      return answer(results, lots.pushes)
    } catch  where !lots.pushes.isEmpty {
      call.console.log.error("the results of a legacy message are not known", ["error": "\(error)"])
      return answer(targets.map { $0.result(lots) }, lots.pushes)
    }
  }

  private static func answer(_ results: [LegacyResult], _ pushes: [Push]) -> Response {
    let failures = results.count { $0.isFailure }
    return APIContext.answer { json in
      json.member("multicast_id", Int64.random(in: 1..<1 << 53))
      json.member("success", results.count - failures)
      json.member("failure", failures)
      json.member("canonical_ids", results.count { $0.isReplaced })
      json.array("results", results) { json, result in json.object { result.write(to: &$0) } }
      json.object("signalbox") { json in
        json.array("pushes", pushes) { json, push in json.string(push.uid) }
        json.member("pending", results.count { $0.isPending })
      }
    }
  }

  /// A message that is refused for each of its receivers.
  private static func refusal(_ error: LegacyRequest.Refused, of request: JSONValue) -> Response {
    let result = LegacyResult.failed(error.word, reason: error.reason)
    let isTopic = request["condition"] != nil || request["to"]?.string?.hasPrefix("/topics/") == true
    guard !isTopic else { return APIContext.answer { result.write(to: &$0) } }
    return answer(Array(repeating: result, count: request["registration_ids"]?.array?.count ?? 1), [])
  }
}

extension Response {
  /// Names a request's keys without effect, so that nothing is left out in silence.
  func naming(unused: [String]) -> Response {
    var response = self
    response.headers.append("X-Signalbox-Unused", list: unused)
    return response
  }
}
