import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Simulator
import Store

struct PhoneAnswer: JSONObject {
  let phone: SimulatedPhone

  func writeMembers(to json: inout JSONWriter) {
    var uninstalled: Date?
    if case .uninstalled(let since) = phone.state { uninstalled = since }
    json.member("id", phone.id)
    json.member("name", phone.name)
    json.member("model", phone.model)
    json.member("platform", phone.platform.rawValue)
    json.member("provider", phone.provider.rawValue)
    json.member("environment", phone.environment.rawValue)
    json.member("app", phone.topic)
    json.member("token", phone.tokenText)
    json.object("tokens") { json in
      for (type, token) in phone.ownTokens.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        json.key(dynamic: type.rawValue)
        json.string(token.hexadecimal)
      }
    }
    json.member("uninstalled_at", uninstalled)
    json.member("app_state", phone.appState.rawValue)
    json.member("power", phone.power.rawValue)
    json.member("notifications", phone.notifications.rawValue)
    json.member("received", phone.received.count)
    json.member("waiting", phone.waiting.count)
    json.key("android")
    guard let android = phone.android else { return json.null() }
    json.object { json in
      json.member("dozing", android.isDozing)
      json.member("muted_channels", android.mutedChannels.sorted())
      json.member("topics", phone.topics.keys.sorted())
      json.member("lost_messages", android.hasLostMessages)
    }
  }
}

struct ArrivalAnswer: JSONObject {
  let arrival: PhoneBook.Arrival

  func writeMembers(to json: inout JSONWriter) {
    let (phone, notification) = (arrival.phone, arrival.notification)
    let alert = notification.alert
    let android = notification.androidNotification
    // The service's own number, where that is not the sender's.
    let isNumbered = notification.pushType == nil || phone.provider != .apns
    json.member("id", notification.id)
    json.member("phone", phone.id)
    json.member("token", phone.tokenText)
    json.member("environment", phone.environment.rawValue)
    json.member("topic", notification.topic)
    json.member("apns_id", isNumbered ? nil : notification.apnsID)
    json.member("message", isNumbered ? notification.apnsID : nil)
    json.member("push_type", notification.pushType?.rawValue)
    json.member("priority", notification.priority)
    json.member("expiration", notification.expiration)
    json.member("collapse_id", notification.collapseID)
    json.member("push", notification.uniqueID)
    json.member("title", alert.title)
    json.member("body", alert.body)
    json.member("payload", notification.json)
    json.member("received_at", notification.receivedAt)
    json.member("app_state", notification.appState.rawValue)
    json.member("duplicates", notification.duplicates)
    json.member("replaced", notification.replaced)
    json.member("channel", android?.channel)
    json.member("tag", android?.tag)
    json.member("shown", notification.isShown)
  }
}

/// The active faults of a server.
struct FaultsAnswer: JSONObject {
  let server: SimulatedServer
  let faults: String

  init(_ server: SimulatedServer, _ simulator: PushSimulator) {
    self.server = server
    faults = simulator.faults(server).faults.description
  }

  /// For the activity log.
  func audited(before: String) -> JSONValue {
    ["before": ["faults": .string(before)], "after": ["faults": .string(faults)]]
  }

  func writeMembers(to json: inout JSONWriter) {
    json.member("environment", server.rawValue)
    json.member("faults", faults)
  }
}
