import Arguments
import Console
import Foundation
import JSON
import Reactor
import SQLite
import Store
import Webhooks
import Text

/// `signalbox webhooks …`: lists event webhooks, and sends a test event.
enum WebhooksCommand {
  private static let id = Argument<Int64>("id", "The webhook's ID, as shown by list.", parseID)
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "webhooks", "List event webhooks, and send a test event.",
    subcommands: [
      Command(
        "list", "List event webhooks with their state.",
        discussion: "Exit code 1 if one has failed for a day, or was turned off by its receiver.",
        parameters: common, action: list),
      Command(
        "test", "Send a test event at once, and print the answer.",
        discussion: "Exit code 1 if it was not accepted.",
        parameters: [
          id.parameter, CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter,
          CommonOptions.trust.parameter, CommonOptions.allowHTTP.parameter,
        ] + common,
        action: test),
    ])

  private static let list: Action = { values, io in
    let now = io.now()
    let found = try readStore(values, io) { database in
      try Webhook.all(database).map { try WebhookAnswer(database, $0) }
    }
    io.hint(ifEmpty: found, "no webhooks yet; add one in the console: Settings → Event webhooks")
    let table = io.table("ID", "NAME", "HOST", "STATE", "PENDING", "DROPPED", "FAILING SINCE")
    io.print(found, values, in: table) { answer in
      let webhook = answer.webhook
      let state: Message = webhook.goneAt != nil ? "gone" : !webhook.details.isActive ? "off" : "on"
      return [
        "\(webhook.id)", webhook.details.name, webhook.details.target, io.text(state), "\(webhook.pending)",
        "\(webhook.dropped)", webhook.failingSince?.text ?? "",
      ]
    }
    return found.contains { $0.webhook.isTroubled(at: now) } ? ExitCode.failed : ExitCode.done
  }

  private static let test: Action = { values, io in
    let (io, id) = (try io.calling(values), values[id])
    let store = try DataDirectory(values, io).open(creating: false, now: io.now())
    defer { store.close() }
    let pool = BlockingPool(name: "webhook", threads: 1)
    defer { pool.stop() }
    let sender = WebhookSender(pool: pool, proxies: io.proxies) { nil }
    let sent: WebhookDelivery
    do {
      (_, sent) = try await sender.test(
        id, in: store, audit: NewAuditEntry(actor: commandActor, action: "webhook.test", subject: ""), now: io.now())
    } catch StoreError.notFound {
      throw CommandFailure("Webhook \(id) not found. See: signalbox webhooks list")
    }
    let isGood = sent.state == .delivered
    if values[CommonOptions.json] {
      io.print(sent.prettyJSON)
    } else {
      let answer = [sent.status.map(String.init), sent.answer].compactMap { $0 }.joined(separator: " ")
      io.say(isGood ? "Accepted: \(answer)" : "Not accepted: \(answer)")
    }
    return isGood ? ExitCode.done : ExitCode.failed
  }
}
