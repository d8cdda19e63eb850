import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Simulator
import Store

struct PhoneAnswer: JSONWritable {
  let phone: SimulatedPhone

  func write(to json: inout JSONWriter) {
    var uninstalled: Date?
    if case .uninstalled(let since) = phone.state { uninstalled = since }
    json.object { json in
      json.member("id", phone.id)
      json.member("name", phone.name)
      json.member("model", phone.model)
      json.member("platform", phone.platform.rawValue)
      json.member("environment", phone.environment.rawValue)
      json.member("app", phone.topic)
      json.member("token", phone.tokenHex)
      json.member("uninstalled_at", uninstalled)
      json.member("app_state", phone.appState.rawValue)
      json.member("power", phone.power.rawValue)
      json.member("received", phone.received.count)
      json.member("waiting", phone.waiting.count)
    }
  }
}

struct ArrivalAnswer: JSONWritable {
  let arrival: PhoneBook.Arrival

  func write(to json: inout JSONWriter) {
    let (phone, notification) = (arrival.phone, arrival.notification)
    let alert = notification.alert
    json.object { json in
      json.member("id", notification.id)
      json.member("phone", phone.id)
      json.member("token", phone.tokenHex)
      json.member("environment", phone.environment.rawValue)
      json.member("topic", notification.topic)
      json.member("apns_id", notification.apnsID)
      json.member("push_type", notification.pushType.rawValue)
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
    }
  }
}

/// The active faults of an environment.
struct FaultsAnswer: JSONWritable {
  let environment: Environment
  let faults: String

  init(_ environment: Environment, _ simulator: APNsSimulator) {
    self.environment = environment
    faults = simulator.faults(environment).faults.description
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("environment", environment.rawValue)
      json.member("faults", faults)
    }
  }
}
