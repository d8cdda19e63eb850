import Foundation
import HTTPServer
package import JSON
import Model
import SQLite
package import Store
import Text

enum AudienceAPI {
  /// Enough to count about ten million devices.
  static let patience = Duration.seconds(10)

  static func add(to routes: inout ConsoleRouter) {
    routes.call(.post, "/audience/count", role: .viewer, scope: .read, reach: .handler) { call in
      let question = try AudienceQuestion(json: try await call.body())
      try await call.check(app: question.app)
      return APIContext.answer(
        try await question.ask(call.store, now: call.now) { database, query, _ in try query.count(database) })
    }
    routes.call(.post, "/audience/explain", role: .viewer, scope: .read, reach: .handler) { call in
      let question = try AudienceQuestion(json: try await call.body(), asksDevice: true)
      try await call.check(app: question.app)
      return APIContext.answer(
        try await question.ask(call.store, now: call.now) { database, query, app -> AudienceAnswer in
          let answer = try AudienceAnswer(question, database, query, app, apps: call.apps)
          if let device = question.device, answer.devices.isEmpty {
            throw Problems([Problem("device", SegmentMessage.noDevice, ["device": device.abbreviated(to: 60)])])
          }
          return answer
        })
    }
  }

  static let tookTooLong = HTTPError(
    .serviceUnavailable, "Counting took more than 10 seconds and was stopped. Try a narrower audience.",
    headers: ["Retry-After": "60"])
}

/// An audience that is asked about, and not sent to.
struct AudienceQuestion: Sendable {
  let app: String
  let environment: Environment
  let platforms: Set<Platform>
  let audience: Audience
  /// What a device is called: its ID, token, alias, registration ID, or the beginning of its name.
  let device: String?

  /// - Parameter asksDevice: whether the body may name a device.
  /// - Throws: all problems with their paths.
  init(json: JSONValue, asksDevice: Bool = false) throws(Problems) {
    let fields = JSONFields(json)
    let app = fields.string(
      "app", required: true, limit: .characters(AppName.bundleIDLimit), check: AppName.problem(withBundleID:))
    let environment = fields.choice("environment", required: true, as: Environment.self)
    platforms = PushDraft.readPlatforms(fields)
    let audience = Audience.read(fields, platforms: platforms)
    device = asksDevice ? fields.string("device", limit: .characters(Search.longest)) : nil
    try fields.finish()
    guard let app, let environment, let audience else {
      // Unreachable: each of the three is nil only if a problem was reported, and finish() then threw.
      throw Problems([Problem("", FieldMessage.required)])
    }
    (self.app, self.environment, self.audience) = (app, environment, audience)
  }

  /// Asks the database, with a time limit.
  ///
  /// - Throws: 503 if it takes longer than ``AudienceAPI/patience``; 404 for an unknown app; `Problems` for an unknown segment.
  func ask<Answer: Sendable>(
    _ store: Store, now: Date, _ body: @escaping @Sendable (Database, AudienceQuery, App) throws -> Answer
  ) async throws -> Answer {
    do {
      return try await store.read(limit: AudienceAPI.patience) { database in
        guard let app = try App.find(database, bundleID: app) else { throw APIError.noApp(self.app) }
        if case .rule(let rule) = audience,
          let missing = try Segment.missing(database, rule.segment, app: app.id).keys.min()
        {
          let index = rule.segment.firstIndex(of: missing) ?? 0
          throw Problems([Problem("audience.segment[\(index)]", SegmentMessage.missing, ["segment": missing])])
        }
        let query = AudienceQuery(
          app: app.id, environment: environment, platforms: platforms, audience: audience, now: now)
        return try body(database, query, app)
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      throw AudienceAPI.tookTooLong
    }
  }
}

/// What is explained of an audience: the schema `AudienceExplanation`.
struct AudienceAnswer: Sendable {
  let explanation: AudienceExplanation
  /// The devices that the question names, at most ``most``.
  let devices: [Device]
  /// Of the only device that the question names.
  let verdict: DeviceVerdict?

  /// Devices that are offered if a text names several.
  static let most = 5

  /// - Parameter apps: whose devices may be named; nil: all.
  /// - Throws: `Problems` for an audience that only the service knows.
  init(
    _ question: AudienceQuestion, _ database: Database, _ query: AudienceQuery, _ app: App, apps: Set<Int64>? = nil
  ) throws {
    guard let explanation = try query.explained(database) else {
      throw Problems([Problem("audience", SegmentMessage.subscribers)])
    }
    self.explanation = explanation
    devices = try (question.device.map { try Self.find(database, $0, app: app.id) } ?? [])
      .filter { apps?.contains($0.appID) ?? true }
    verdict = devices.count == 1 ? try query.verdict(database, on: devices[0]) : nil
  }

  /// In the app first: a token may be known in another one, which is a reason to be left out.
  private static func find(_ database: Database, _ text: String, app: Int64) throws -> [Device] {
    for app in [app, nil] {
      let found = try Device.search(database, text, DeviceFilter(app: app), tags: false, limit: most).items
      if !found.isEmpty { return found }
    }
    return try Int64(text).flatMap { try Device.find(database, id: $0) }.map { [$0] } ?? []
  }
}

extension AudienceAnswer: JSONObject {
  func writeMembers(to json: inout JSONWriter) {
    json.member("reached", explanation.reached)
    json.objects("steps", explanation.counts) { json, count in
      count.step.writeMembers(to: &json)
      json.member("left_out", count.leftOut)
      json.member("remain", count.remain)
    }
    json.array("devices", devices) { json, device in json.integer(device.id) }
    json.key("verdict")
    guard let verdict else { return json.null() }
    json.object { json in
      json.member("reached", verdict.obstacle == nil)
      json.member("obstacle", verdict.obstacle?.kind.rawValue)
      json.objects("steps", verdict.answers) { json, answer in
        answer.step.writeMembers(to: &json)
        json.member("met", answer.isMet)
      }
    }
  }
}

extension AudienceStep {
  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.member("step", kind.rawValue)
    json.array("names", names) { json, name in json.string(name) }
    json.member("segment", segment)
  }
}

extension AudienceCount: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("reachable", reachable)
    json.member("unreachable", unreachable)
    json.object("platforms") { json in
      for platform in Platform.allCases {
        json.key(dynamic: platform.rawValue)
        json.integer(Int64(reachable(platform)))
      }
    }
  }
}
