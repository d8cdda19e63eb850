import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Simulator
import Store

/// `/pushes/:uid/deliveries/:device`: the request to one device and its response.
enum DeliveryPage {
  static func show(_ page: PageContext) async throws -> Response {
    let push = try await PushPages.find(page)
    let id: Int64 = try page.request.parameter("device")
    let (mayMove, subscribers) = (page.may(.operator), push.draft?.audience.subscribers)
    let (found, credential, fcm, message, badge, last, text, waiting, reasons, kept) = try await page.store.read {
      database in
      let done = try Delivery.find(database, push: push.id, device: id)
      let waiting = done == nil ? try WaitingDelivery.find(database, push: push.id, device: id) : nil
      let item = done ?? waiting?.delivery(push: push.id)
      let provider = Self.provider(push, item)
      let credential = try Credential.find(database, app: push.appID, provider: provider, environment: push.environment)
      let fcm = FCMFacts(
        project: try credential.flatMap { try FCMFacts.project($0, database) },
        name: try Delivery.name(database, push: push.id, device: id))
      return (
        item, credential, fcm,
        try SentJPushMessage.find(database, push: push.id, device: id),
        try Delivery.badge(database, push: push.id, device: id),
        try subscribers == nil ? Delivery.lastSuccess(database, device: id, before: push.id) : nil,
        try Self.text(database, push, item), waiting,
        ReasonGroups(
          push: push, app: try App.find(database, id: push.appID), counts: [],
          tokens: mayMove && item?.delivery.reason == MovedTokens.reason
            ? try MovedTokens.find(database, .push(push)) : nil),
        try KeptAnswer.find(database, push: push.id, device: id)
      )
    }
    guard let item = found else {
      if let date = push.detailsRemovedAt { throw StoreError.detailsRemoved(push: push.uid, at: date) }
      throw PageError.notFound("delivery", list: "/pushes")
    }
    return page.answer(
      view(
        push, item, credential, fcm, message, badge: badge, last: last, text, waiting: waiting, reasons,
        kept.flatMap { $0.isOf(item.delivery) ? $0 : nil }, page))
  }

  /// The service that was asked; of a device that is gone, APNs is assumed.
  private static func provider(_ push: Push, _ item: Delivery.WithDevice?) -> ProviderKind {
    item?.device?.provider ?? (push.draft?.audience.subscribers == .topic ? .fcm : .apns)
  }

  /// What is known of a request to FCM.
  private struct FCMFacts: Sendable {
    /// Of the present service account; nil: unknown.
    let project: String?
    /// Of the message; nil: FCM did not accept it, or it was not one of the first of its push.
    let name: String?

    static func project(_ credential: Credential, _ database: Database) throws -> String? {
      guard credential.place != .simulator else { return "simulator" }
      let contents = try credential.certificateID.flatMap {
        try CertificateContents.find(database, certificate: $0)
      }
      return contents?.says["service_account"]?["project_id"]?.string
    }
  }

  /// The text that a device got.
  private struct Text: Sendable {
    /// Nil: the default text.
    let language: LanguageTag?
    let variant: Int
    /// Whether the text is guessed from the device's present language, because it was not recorded.
    let isGuess: Bool
  }

  /// Nil: the push has one text only.
  private static func text(_ database: Database, _ push: Push, _ item: Delivery.WithDevice?) throws -> Text? {
    guard let item, let draft = push.draft, let languages = draft.languages else { return nil }
    let variant =
      try item.variant ?? DeviceLanguage.variant(database, device: item.delivery.deviceID, languages)
    return Text(language: draft.language(of: variant), variant: variant, isGuess: item.variant == nil)
  }

  private static func view(
    _ push: Push, _ item: Delivery.WithDevice, _ credential: Credential?, _ fcm: FCMFacts,
    _ message: SentJPushMessage?, badge: Int?, last: Delivery.WithPush?, _ text: Text?,
    waiting: WaitingDelivery.Listed?, _ reasons: ReasonGroups, _ kept: KeptAnswer?, _ page: PageContext
  ) -> DeliveryView {
    let (texts, delivery) = (page.texts, item.delivery)
    let exchange = Exchange(
      push: push, item: item, credential: credential, fcm: fcm, message: message, badge: badge,
      variant: text?.variant ?? 0, kept: kept,
      simulator: credential?.place == .simulator ? simulator(push, provider(push, item), page) : nil)
    let isSimulated = credential?.place == .simulator && exchange.request != nil
    let isJPush = item.device?.provider == .jpush
    // For a device that waits, or was given up while it waited, the time of the last attempt is not recorded.
    let isTimed = waiting == nil && !delivery.endedWaiting
    return DeliveryView(
      push: LinkView(href: "/pushes/\(push.uid)", label: push.heading(texts)),
      device: push.recipient(item.device, texts),
      deviceHref: item.device.map { "/devices/\($0.id)" },
      isProduction: push.environment == .production, tone: waiting == nil ? delivery.outcome.tone : "none",
      outcome: texts("words.\(waiting == nil ? delivery.outcome.name : DeliverySearch.waiting)"),
      heading: waiting.map { plan($0, texts) }
        ?? (delivery.endedWaiting ? texts("outcome.given_up") : texts("outcome.\(delivery.outcome.name)")),
      cause: delivery.reason.map { code in
        let reason = Reason.of(code)
        return DeliveryCauseView(
          code: reason.code, isFailed: delivery.outcome == .failed,
          words: ReasonWords(reason, isRetried: waiting?.isRetried, texts),
          isRefused: [.failed, .deadToken].contains(delivery.outcome),
          last: last.map { LastSuccessView(item: $0, now: page.now) },
          clock: [.afterCredential, .resignOnce].contains(reason.retry) ? clock(credential, page) : "",
          isActiveAgain: delivery.outcome == .deadToken && item.device?.state == .active,
          action: reasons.action(reason, texts))
      },
      facts: facts(push, item, credential, name: fcm.name, badge: badge, text, kept, page),
      steps: waiting == nil ? DeliverySteps(push, item, name: nil, texts) : nil,
      attempt: exchange.request.map { request in
        DeliveryAttemptView(
          number: delivery.attempts, at: isTimed ? MomentView(date: delivery.at) : nil,
          duration: isTimed ? texts.duration(milliseconds: delivery.durationMilliseconds) : "",
          request: request,
          answer: exchange.answer,
          rebuilt: DeliveryAttemptView.rebuilt(push, isWhole: kept != nil, texts))
      },
      curl: exchange.curl,
      curlNote: isSimulated ? texts(exchange.curl == nil ? "delivery.curl_stopped" : "delivery.curl_simulated") : nil,
      shared: isJPush && exchange.request != nil ? shared(message, texts) : nil)
  }

  /// When a device is tried again, or that it will not be.
  private static func plan(_ item: WaitingDelivery.Listed, _ texts: Texts) -> String {
    if item.waiting.isUnderWay { return texts("delivery.trying_now") }
    guard item.isRetried else { return texts("delivery.inactive") }
    return texts("delivery.waits", ["time": texts.minute(item.waiting.dueAt)])
  }

  /// `host:port` of the built-in simulator; nil: it does not run.
  private static func simulator(_ push: Push, _ provider: ProviderKind, _ page: PageContext) -> String? {
    SimulatedServer(provider, push.environment)
      .flatMap { page.console.simulator?.endpoint($0) }.map { "\($0.host):\($0.port)" }
  }

  private static func clock(_ credential: Credential?, _ page: PageContext) -> String {
    guard let credential, let lead = page.console.engine.health(credential: credential.id)?.clockLead else { return "" }
    return HealthWords.clock(lead, page.texts)
  }

  /// The sentence that the request named other devices too.
  private static func shared(_ message: SentJPushMessage?, _ texts: Texts) -> String {
    message.map { texts("delivery.shared", count: $0.devices) } ?? texts("delivery.shared_many")
  }

  private static func facts(
    _ push: Push, _ item: Delivery.WithDevice, _ credential: Credential?, name: String?, badge: Int?, _ text: Text?,
    _ kept: KeptAnswer?, _ page: PageContext
  ) -> [FactView] {
    let (texts, device, provider) = (page.texts, item.device, Self.provider(push, item))
    let audience = push.draft.flatMap { $0.audience.subscribers == nil ? nil : $0.audience.text(texts) }
    return [
      FactView(
        texts(audience == nil ? "details.device" : "details.audience"),
        audience ?? device?.token.text ?? texts("push.removed_device"),
        href: device.map { "/devices/\($0.id)" }, isMono: device != nil),
      FactView(texts("details.name"), device?.name), FactView(texts("details.alias"), device?.alias),
      FactView(texts("details.registration_id"), device?.registrationID),
      FactView(texts("details.tags"), device.map { texts.list($0.tags) }),
      FactView(texts("details.registered"), at: device?.registeredAt),
      FactView(texts("details.device_environment"), device?.environment.word(texts)),
      FactView(texts("details.device_state"), device.map { texts("state.\($0.state)") }),
      FactView(texts("push.provider"), device == nil && audience == nil ? nil : provider.name),
      provider == .apns
        ? FactView(
          audience == nil ? texts("details.apns_id") : "apns-request-id",
          APNsID(seed: push.seed, device: item.delivery.deviceID).description) : nil,
      FactView("apns-unique-id", kept?["apns-unique-id"]),
      FactView(texts("details.message_name"), name),
      text.flatMap { text in
        let name = text.language?.text ?? texts("send.default_text")
        return FactView(
          texts("details.language"), text.isGuess ? texts("delivery.language_now", ["language": name]) : name)
      },
      badge.flatMap { number in
        FactView(
          texts("details.badge"),
          push.draft?.notification.badge.map { "\($0.text) → \(number.grouped)" } ?? number.grouped)
      },
      FactView(texts("receipts.displayed"), at: item.receipt?.displayedAt),
      FactView(texts("receipts.opened"), at: item.receipt?.openedAt),
      FactView(texts("receipts.dismissed"), at: item.receipt?.dismissedAt),
      FactView(
        texts("details.credential"), CredentialState(credential, now: page.now).text(texts),
        href: "/apps/\(push.appID)"),
    ].compactMap { $0 }
  }

  /// The request as it is rebuilt, with secrets removed, and the response: as it came, or rebuilt if it was not kept.
  private struct Exchange {
    var request: String?
    var answer: String?
    var curl: String?

    init(
      push: Push, item: Delivery.WithDevice, credential: Credential?, fcm: FCMFacts, message: SentJPushMessage?,
      badge: Int?, variant: Int, kept: KeptAnswer?, simulator: String?
    ) {
      let delivery = item.delivery
      defer {
        address(credential, simulator)
        if request != nil, let kept { answer = kept.text }
      }
      guard delivery.outcome != .skipped, delivery.attempts > 0, var draft = push.draft?.localized(variant),
        item.device != nil || draft.audience.subscribers != nil
      else { return }
      let device = item.device
      if let badge {
        draft.notification.badge = .set(badge)
        draft.apns.payload = draft.apns.payload.map { APNsPayload.counted($0, badge) }
      }
      let asked = delivery.at.addingTimeInterval(-Double(delivery.durationMilliseconds) / 1000)
      switch DeliveryPage.provider(push, item) {
      case .apns: break
      case .fcm:
        showFCM(draft, push, device, delivery, asked, credential, fcm)
        return
      case .jpush:
        if let device { showJPush(draft, push, device, delivery, asked, credential, message) }
        return
      }
      let payload = APNsPayload(draft, uid: push.uid, signature: push.signature)
      let id = APNsID(seed: push.seed, device: delivery.deviceID)
      let server = Self.server(credential)
      let host = server ?? ProviderKind.apns.host(push.environment)
      let path = device.map { "/3/device/\($0.token.hexadecimal)" } ?? "/4/broadcasts/apps/\(draft.app)"
      let idName = device == nil ? "apns-request-id" : "apns-id"
      var lines = ["POST \(path) HTTP/2", "host: \(host)", "authorization: bearer …"]
      lines += payload.headers(sentAt: asked).map { "\($0.name): \($0.value)" }
      lines += ["\(idName): \(id)", "content-length: \(payload.body.count)", "", payload.json.text(pretty: true)]
      request = lines.joined(separator: "\n")
      let preview = Preview(
        draft, uid: push.uid, signature: push.signature, sentAt: asked,
        endpoint: server, address: "")
      curl = preview.apnsCommand.replacing("$DEVICE_TOKEN", with: device?.token.hexadecimal ?? "")
      guard delivery.status != 0 else { return }
      var reply = ["HTTP/2 \(delivery.status)", "\(idName): \(id)"]
      if let reason = delivery.reason.flatMap(Reason.said) {
        var members: [String: JSONValue] = ["reason": .string(reason)]
        // Known of the answer that retired the device only.
        if delivery.status == 410, let device, device.state == .dead, let since = device.stateAt, since <= delivery.at {
          members["timestamp"] = .integer(Int64(since.timeIntervalSince1970 * 1000))
        }
        reply += ["", JSONValue.object(members).text()]
      }
      answer = reply.joined(separator: "\n")
    }

    /// Points at the simulator what went there. Its certificate is its own, and it may have stopped since.
    private mutating func address(_ credential: Credential?, _ simulator: String?) {
      guard credential?.place == .simulator else { return }
      guard let simulator else {
        curl = nil
        return
      }
      let word = CredentialPlace.simulatorWord
      curl = curl?.replacing("curl ", with: "curl --insecure ", maxReplacements: 1)
        .replacing("\"https://\(word)/", with: "\"https://\(simulator)/")
      request = request?.replacing("\nhost: \(word)\n", with: "\nhost: \(simulator)\n")
    }

    private mutating func showJPush(
      _ draft: PushDraft, _ push: Push, _ device: Device, _ delivery: Delivery, _ asked: Date,
      _ credential: Credential?, _ message: SentJPushMessage?
    ) {
      let left = Self.timeToLive(draft, push, asked)
      // The others of the request, if it named any.
      let others: [JSONValue] = message?.devices == 1 ? [] : ["…"]
      let body = JPushMessage(draft, uid: push.uid, signature: push.signature).request(
        to: draft.platforms, audience: ["registration_id": .array([.string(device.token.text)] + others)],
        cid: "$APP_KEY-…", sendno: push.id, timeToLive: left)
      let host = Self.server(credential) ?? ProviderKind.jpush.host(push.environment)
      request =
        [
          "POST /v3/push HTTP/2", "host: \(host)", "authorization: Basic …", "content-type: application/json", "",
          body.text(pretty: true),
        ].joined(separator: "\n")
      let single = JPushMessage(draft, uid: push.uid, signature: push.signature).request(
        to: [device.platform], audience: ["registration_id": [.string(device.token.text)]], cid: nil)
      curl = Preview.jpushCommand(single, host: host)
      show(delivery, message.map { ["msg_id": .string($0.id), "sendno": .string(String(push.id))] })
    }

    /// - Parameter accepted: what the service answers to what it accepts; nil: unknown.
    private mutating func show(_ delivery: Delivery, _ accepted: JSONValue?) {
      guard delivery.status != 0 else { return }
      let body = delivery.reason.flatMap(Reason.said) ?? accepted?.text()
      answer = (["HTTP/2 \(delivery.status)"] + (body.map { ["", $0] } ?? [])).joined(separator: "\n")
    }

    /// Seconds that the service was to keep the push; nil: its own time.
    private static func timeToLive(_ draft: PushDraft, _ push: Push, _ asked: Date) -> Int? {
      // Of one tried again it began earlier: when is no longer known.
      draft.expiration(sentAt: draft.secondsToLive == nil ? push.sentAt : asked).map {
        max(0, Int($0.timeIntervalSince(asked).rounded(.up)))
      }
    }

    /// The server that a credential sends to instead of the service's own; nil: the service's.
    private static func server(_ credential: Credential?) -> String? {
      credential.flatMap { $0.place == .service ? nil : $0.endpoint }
    }

    private mutating func showFCM(
      _ draft: PushDraft, _ push: Push, _ device: Device?, _ delivery: Delivery, _ asked: Date,
      _ credential: Credential?, _ fcm: FCMFacts
    ) {
      let left = Self.timeToLive(draft, push, asked)
      var message: [String: JSONValue] =
        device?.platform == .ios
        ? ["apns": APNsPayload(draft, uid: push.uid, signature: push.signature).fcmBlock(sentAt: push.sentAt)]
        : FCMMessage(draft, uid: push.uid, signature: push.signature, timeToLive: left).json.object ?? [:]
      message.merge(draft.audience.topicTarget ?? ["token": .string(device?.token.text ?? "")]) { $1 }
      let body: JSONValue = ["message": .object(message)]
      let host = Self.server(credential) ?? ProviderKind.fcm.host(push.environment)
      let project = fcm.project ?? "$PROJECT"
      request =
        [
          "POST /v1/projects/\(project)/messages:send HTTP/2", "host: \(host)", "authorization: Bearer …",
          "content-type: application/json", "content-length: \(body.bytes.count)", "", body.text(pretty: true),
        ].joined(separator: "\n")
      curl = Preview.fcmCommand(body, host: host, project: project)
      show(delivery, fcm.name.map { ["name": .string($0)] })
    }
  }
}
