import Foundation
import HTTPServer
import Mustache
import Push
import Store

/// `/pushes/:uid/deliveries/:device`: the exact request to one device, and the exact answer.
enum DeliveryPage {
  static func show(_ page: PageContext) async throws -> Response {
    let push = try await PushPages.find(page)
    let id: Int64 = try page.request.parameter("device")
    let found = try await page.store.read { database in
      (
        try Delivery.find(database, push: push.id, device: id),
        try Credential.find(database, app: push.appID, provider: .apns, environment: push.environment)
      )
    }
    guard let item = found.0 else {
      if let date = push.detailsRemovedAt { throw StoreError.detailsRemoved(push: push.uid, at: date) }
      throw PageError.notFound("delivery", list: "/pushes")
    }
    return try page.page("deliveries/show", .pushes, members(push, item, found.1, page))
  }

  private static func members(
    _ push: PushRecord, _ item: Delivery.WithDevice, _ credential: Credential?, _ page: PageContext
  ) -> [String: Value] {
    let texts = page.texts
    let delivery = item.delivery
    let exchange = Exchange(push: push, item: item, credential: credential)
    return [
      "push": ["href": .string("/pushes/\(push.uid)"), "title": .string(push.heading(texts))],
      "outcome": .string(delivery.outcome.name), "outcome_text": .string(texts("words.\(delivery.outcome.name)")),
      "production": .bool(push.environment == .production), "environment": .string(push.environment.word(texts)),
      "why": delivery.reason.map { why(Reason.of($0), delivery, texts) } ?? .null,
      "facts": .list(facts(push, item, credential, page)), "attempts": .list(attempts(exchange, delivery, texts)),
      "curl": .string(exchange.curl ?? ""),
    ]
  }

  private static func why(_ reason: Reason, _ delivery: Delivery, _ texts: Texts) -> Value {
    let words = ReasonWords(reason, texts)
    return [
      "failed": .bool(delivery.outcome == .failed), "code": .string(reason.code),
      "text": .string(texts("outcome.\(delivery.outcome.name)")), "cause": .string(words.cause),
      "who_acts": .string(words.actor), "remedy": .string(words.remedy),
    ]
  }

  private static func facts(
    _ push: PushRecord, _ item: Delivery.WithDevice, _ credential: Credential?, _ page: PageContext
  ) -> [Value] {
    let texts = page.texts
    func fact(_ name: String, _ value: String?, href: String = "", at date: Date? = nil) -> Value? {
      guard let value = date?.utcText ?? value, !value.isEmpty else { return nil }
      return [
        "label": .string(texts("facts.\(name)")), "value": .string(value), "href": .string(href),
        "datetime": .string(date.map(Timestamp.text) ?? ""),
      ]
    }
    let device = item.device
    return [
      fact(
        "device", device?.token.hexadecimal ?? texts("push.removed_device"),
        href: device.map { "/devices/\($0.id)" } ?? ""),
      fact("name", device?.name), fact("alias", device?.alias), fact("registration_id", device?.registrationID),
      fact("tags", device?.tags.joined(separator: ", ")), fact("registered", nil, at: device?.registeredAt),
      fact("device_environment", device?.environment.word(texts)),
      fact("device_state", device.map { texts("state.\($0.state)") }),
      fact("apns_id", APNsID(seed: push.seed, device: item.delivery.deviceID).description),
      fact("credential", CredentialState(credential, now: page.now).text(texts), href: "/apps/\(push.appID)"),
    ].compactMap { $0 }
  }

  private static func attempts(_ exchange: Exchange, _ delivery: Delivery, _ texts: Texts) -> [Value] {
    guard let request = exchange.request else { return [] }
    return [
      [
        "title": .string(texts("delivery.attempt", ["number": String(delivery.attempts)])),
        "at": .string(Timestamp.text(delivery.at)), "at_text": .string(delivery.at.utcText),
        "duration": .string(texts.duration(milliseconds: delivery.durationMilliseconds)), "request": .string(request),
        "answer": .string(exchange.answer ?? texts("delivery.no_answer")),
      ]
    ]
  }

  /// Request and answer as they went over the wire, without the secret in them.
  private struct Exchange {
    var request: String?
    var answer: String?
    var curl: String?

    init(push: PushRecord, item: Delivery.WithDevice, credential: Credential?) {
      let delivery = item.delivery
      guard delivery.outcome != .skipped, let draft = push.draft, let device = item.device else { return }
      let payload = APNsPayload(draft, uid: push.uid)
      let asked = delivery.at.addingTimeInterval(-Double(delivery.durationMilliseconds) / 1000)
      let id = APNsID(seed: push.seed, device: delivery.deviceID)
      let endpoint = credential.map(\.endpoint) ?? "apple"
      let host =
        endpoint == "apple" ? push.environment.apnsHost : endpoint == "simulator" ? "simulator" : endpoint
      var lines = ["POST /3/device/\(device.token.hexadecimal) HTTP/2", "host: \(host)", "authorization: bearer …"]
      lines += payload.headers(sentAt: asked).map { "\($0.name): \($0.value)" }
      lines += ["apns-id: \(id)", "content-length: \(payload.body.count)", "", payload.json.text(pretty: true)]
      request = lines.joined(separator: "\n")
      let preview = Preview(
        draft, uid: push.uid, sentAt: asked, endpoint: endpoint.contains(":") ? endpoint : nil, address: "")
      curl = preview.apnsCommand.replacing("$DEVICE_TOKEN", with: device.token.hexadecimal)
      guard delivery.status != 0 else { return }
      var reply = ["HTTP/2 \(delivery.status)", "apns-id: \(id)"]
      if let reason = delivery.reason {
        var members: [String: JSONValue] = ["reason": .string(reason)]
        if delivery.status == 410, let since = device.stateAt {
          members["timestamp"] = .integer(Int64(since.timeIntervalSince1970 * 1000))
        }
        reply += ["", JSONValue.object(members).text()]
      }
      answer = reply.joined(separator: "\n")
    }
  }
}
