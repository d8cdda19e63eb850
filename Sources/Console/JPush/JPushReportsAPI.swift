import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The reports, from the outcomes of our own pushes. `…_sent` is what APNs or FCM accepted. What a phone received or a
/// person tapped is what the app itself reported (docs/protocols.md §8.2): null if no device of the push has.
enum JPushReportsAPI {
  private static let deviceLimit = 1000

  static func add(to routes: inout ConsoleRouter) {
    routes.jpush(.get, "/v3/received") { call in try await pushes(call, received) }
    routes.jpush(.get, "/v3/received/detail") { call in try await pushes(call, receivedDetail) }
    routes.jpush(.get, "/v3/messages") { call in try await pushes(call, messages) }
    routes.jpush(.get, "/v3/messages/detail") { call in try await pushes(call, messagesDetail) }
    routes.jpush(.post, "/v3/status/message") { call in try await status(call) }
    routes.jpush(.get, "/v3/users") { call in try await users(call) }
  }

  // MARK: By push

  /// What is known of one push; nothing for a push that the app did not send.
  private struct Figures: Sendable {
    let id: Int64
    /// Devices of the audience; empty: none, or not counted yet.
    var target: [Reach: Int] = [:]
    /// Devices that the provider accepted the push for.
    var sent: [Reach: Int] = [:]
    var receipts: [Platform: ReceiptCounts] = [:]

    func target(_ platform: Platform, _ provider: ProviderKind? = nil) -> JSONValue { sum(target, platform, provider) }
    func sent(_ platform: Platform, _ provider: ProviderKind? = nil) -> JSONValue { sum(sent, platform, provider) }

    /// Without a provider: all of them.
    private func sum(_ counts: [Reach: Int], _ platform: Platform, _ provider: ProviderKind?) -> JSONValue {
      let found = counts.filter { $0.key.platform == platform && (provider ?? $0.key.provider) == $0.key.provider }
      return found.isEmpty ? .null : .number(found.values.reduce(0, +))
    }

    func reported(_ platform: Platform, _ kind: ReceiptKind) -> JSONValue {
      receipts[platform].map { .number($0[kind]) } ?? .null
    }
  }

  private static func figures(_ database: Database, _ call: JPushCall, _ id: Int64) throws -> Figures {
    var figures = Figures(id: id)
    guard let push = try Push.find(database, id: id), push.appID == call.app.id else { return figures }
    figures.target = try Push.targets(database, id: id)
    figures.sent = figures.target.mapValues { _ in 0 }
    figures.receipts = try ReceiptCounts.byPlatform(database, push: id)
    for count in try Delivery.reasonCounts(database, push: id) where count.outcome == .accepted {
      figures.sent[Reach(count.platform, count.provider), default: 0] += count.count
    }
    return figures
  }

  private static func pushes(_ call: JPushCall, _ json: @Sendable (Figures) -> JSONValue) async throws -> Response {
    let ids = try JPushMembers.messageIDs(call.request.queryItems["msg_ids"] ?? "")
    let all = try await call.store.read { database in try ids.map { try figures(database, call, $0) } }
    return JPushCall.answer(.array(all.map(json)))
  }

  private static func received(_ push: Figures) -> JSONValue {
    [
      "msg_id": .string(String(push.id)), "android_received": push.reported(.android, .displayed),
      "ios_apns_sent": push.sent(.ios), "ios_apns_received": push.reported(.ios, .displayed),
      "ios_msg_received": .null, "wp_mpns_sent": .null,
    ]
  }

  private static func receivedDetail(_ push: Figures) -> JSONValue {
    [
      "msg_id": .string(String(push.id)), "jpush_received": .null, "android_pns_sent": push.sent(.android, .fcm),
      "ios_apns_sent": push.sent(.ios), "ios_apns_received": push.reported(.ios, .displayed),
      "ios_msg_received": .null, "wp_mpns_sent": .null,
    ]
  }

  private static func messages(_ push: Figures) -> JSONValue {
    [
      "msg_id": .string(String(push.id)),
      "android": [
        "received": push.reported(.android, .displayed), "target": push.target(.android), "online_push": .null,
        "click": push.reported(.android, .opened), "msg_click": .null,
      ],
      "ios": [
        "apns_sent": push.sent(.ios), "apns_target": push.target(.ios),
        "apns_received": push.reported(.ios, .displayed), "click": push.reported(.ios, .opened), "target": .null,
        "received": .null,
      ],
      "winphone": .null,
    ]
  }

  private static func messagesDetail(_ push: Figures) -> JSONValue {
    [
      "msg_id": .integer(push.id),
      "jpush": [
        "target": push.target(.android, .jpush), "online_push": .null, "received": .null, "click": .null,
        "msg_click": .null,
      ],
      "android_pns": [
        "pns_target": push.target(.android, .fcm), "pns_sent": push.sent(.android, .fcm), "xm_detail": .null,
        "hw_detail": .null, "mz_detail": .null, "oppo_detail": .null, "vivo_detail": .null,
        "fcm_detail": ["target": push.target(.android, .fcm), "sent": push.sent(.android, .fcm)],
      ],
      "ios": [
        "apns_target": push.target(.ios), "apns_sent": push.sent(.ios),
        "apns_received": push.reported(.ios, .displayed), "apns_click": push.reported(.ios, .opened),
        "msg_target": .null, "msg_received": .null,
      ],
      "winphone": .null,
    ]
  }

  // MARK: By device

  /// JPush's numbers for a device of a push. "Delivered" is what the provider accepted: more is not known.
  private enum DeviceStatus: Int64 { case delivered, notDelivered, foreign, notTarget, unknown }

  private static func status(_ call: JPushCall) async throws -> Response {
    let body = try await call.body()
    guard let id = body["msg_id"]?.integer ?? body["msg_id"]?.string.flatMap({ Int64($0) }) else {
      throw JPushError(.missing, "Missing parameter: msg_id")
    }
    let ids = body["registration_ids"]?.array?.compactMap(\.string) ?? []
    guard !ids.isEmpty, ids.count == body["registration_ids"]?.array?.count, ids.count <= deviceLimit else {
      throw call.invalid("registration_ids must be a list of 1 to \(deviceLimit) strings.")
    }
    if let date = body["date"], date != .null, date.string.flatMap({ JPushTime.day($0) }) == nil {
      throw call.invalid("date must be a day such as 2026-12-01.")
    }
    let found = try await call.store.read { database in
      let push = try Push.find(database, id: id).flatMap { $0.appID == call.app.id ? $0 : nil }
      return try ids.map { ($0, try status(database, call, push, $0)) }
    }
    let answer = found.map { ($0, JSONValue.object(["status": .integer($1.rawValue)])) }
    return JPushCall.answer(.object(Dictionary(answer) { first, _ in first }))
  }

  private static func status(
    _ database: Database, _ call: JPushCall, _ push: Push?, _ id: String
  ) throws -> DeviceStatus {
    guard let device = try Device.find(database, app: call.app.id, registrationID: id) else { return .foreign }
    guard let push else { return .notTarget }
    guard let delivery = try Delivery.find(database, push: push.id, device: device.id)?.delivery else {
      // Without an outcome: still to come, or never meant.
      return push.state.isOver && !push.isSettling ? .notTarget : .notDelivered
    }
    return switch delivery.outcome {
    case .accepted: .delivered
    case .failed, .deadToken, .skipped: .notDelivered
    case .unknown: .unknown
    }
  }

  // MARK: Users

  /// New devices by hour, day or month in Beijing. Who was online or active is not known: those members are left out.
  private static func users(_ call: JPushCall) async throws -> Response {
    let query = call.request.queryItems
    let span = try JPushSpan(
      unit: query["time_unit"], start: query["start"], duration: query["duration"], now: call.now)
    guard let first = span.steps.first, let last = span.steps.last else { return JPushCall.answer([:]) }
    let hours: [Device.NewCount]
    do {
      hours = try await call.store.read(limit: .seconds(10)) { database in
        try Device.newCounts(database, app: call.app.id, from: first.start, before: last.end)
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      throw JPushError(.reportInternal, "Counting took too long. Ask for fewer days.")
    }
    return JPushCall.answer(
      span.json { step in
        var item: [String: JSONValue] = [:]
        for platform in Platform.allCases {
          let count = hours.filter { $0.platform == platform && (step.start..<step.end).contains($0.hour) }
            .reduce(0) { $0 + $1.count }
          if count > 0 { item[platform.rawValue] = ["new": .number(count)] }
        }
        return item
      })
  }
}
