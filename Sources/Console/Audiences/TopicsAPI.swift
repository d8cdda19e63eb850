import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Store

/// `/api/v1/apps/{app}/topics`: topics of FCM, their subscriptions, and the rules that keep them.
enum TopicsAPI {
  static func add(to routes: inout ConsoleRouter) {
    let list = "/apps/:app/topics/:environment"
    routes.call(.get, list, role: .viewer, scope: .read) { call in
      let (app, environment) = try await ChannelsAPI.place(call)
      let topics = try await call.store.read { try Topic.all($0, app: app.id, environment: environment) }
      return APIContext.answer(Page(items: topics, next: nil))
    }
    for joins in [true, false] {
      routes.call(.post, list + (joins ? "/subscribe" : "/unsubscribe"), role: .operator, scope: .devices) { call in
        try await change(call, joins: joins)
      }
    }
    routes.call(.get, "/apps/:app/topic-rules", role: .viewer, scope: .read) { call in
      try await call.read { try TopicRules.find($0, app: try call.app($0).id) }
    }
    routes.call(.put, "/apps/:app/topic-rules", role: .operator, scope: .devices) { call in
      let fields = JSONFields(try await call.body())
      let rules: [TopicRule] = fields.choices("rules", atMost: TopicRule.allCases.count)
      if fields.value("rules") == nil { fields.report("rules", Problem("", FieldMessage.required)) }
      try fields.finish()
      let app = try await call.store.read { try call.app($0) }
      try await call.check(ownerSendingIn: .production)
      return APIContext.answer(try await set(Set(rules), app, for: call))
    }
  }

  /// Sets an app's rules, with an entry in the activity log.
  static func set(_ rules: Set<TopicRule>, _ app: App, for context: some ActorContext) async throws -> TopicRules {
    try await context.store.write { database in
      let before = try TopicRules.find(database, app: app.id).rules
      try TopicRules.set(database, app: app.id, rules)
      let audit = context.audit("topic.rules", "app \(app.bundleID)")
      try context.record(database, audit.changing(TopicRules.audited(before), to: TopicRules.audited(rules)))
      return try TopicRules.find(database, app: app.id)
    }
  }

  private static func change(_ call: APIContext, joins: Bool) async throws -> Response {
    let fields = JSONFields(try await call.body())
    let topic = fields.string(
      "topic", required: true, limit: .characters(TopicCondition.nameLimit), check: TopicCondition.problem(withTopic:))
    let tokens = fields.elements("tokens", atMost: TopicBatch.limit) { text throws(Problem) in
      try DeviceToken(parsing: text, platform: .android)
    }
    if tokens.isEmpty, fields.problems.isEmpty { fields.report("tokens", Problem("", FieldMessage.required)) }
    try fields.finish()
    let (app, environment) = try await ChannelsAPI.place(call)
    let reached = try await call.store.read { try ProductionGuard($0, app: app.id, topicsIn: environment).environment }
    try await call.check(ownerSendingIn: reached)
    let batch = TopicBatch(topic: topic ?? "", joins: joins, tokens: tokens)
    return try await ChannelsAPI.telling {
      let results = try await call.console.engine.topics.change(batch, app: app, environment, by: call.author)
      return APIContext.answer { json in
        json.member("topic", batch.topic)
        json.member("succeeded", results.count { $0 == .done })
        json.objects("results", Array(zip(tokens, results))) { json, item in
          json.member("token", item.0.text)
          item.1.write(to: &json)
        }
      }
    }
  }
}

extension TopicResult {
  /// As members of an object: `state`, and why.
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .done: json.member("state", "done")
    case .refused(let reason): Self.write("refused", reason, to: &json)
    case .later(let reason, _): Self.write("pending", reason, to: &json)
    }
  }

  private static func write(_ state: String, _ reason: String, to json: inout JSONWriter) {
    let known = Reason.of(reason)
    json.member("state", state)
    json.member("reason", reason)
    json.member("cause", known.cause)
    json.member("remedy", known.remedy)
  }
}
