import Foundation
import JSON
import Model
import Testing

@testable import Simulator

extension PhoneBook {
  /// Lets a phone get a push, as the simulated APNs does when it has taken one.
  func receive(
    _ phone: SimulatedPhone, _ payload: JSONValue, id: String = "A1", collapseID: String? = nil,
    pushType: PushType = .alert
  ) throws {
    let push = AcceptedPush(
      token: SimulatedPhone.token(phone.token, for: pushType), apnsID: id, topic: phone.topic, pushType: pushType,
      priority: 10,
      expiration: ConsoleScene.noon.addingTimeInterval(3600), collapseID: collapseID, payload: payload,
      rawPayload: Array(payload.data()), uniqueID: payload[APNsPayload.idKey]?.string, usedProviderToken: true)
    guard case .success = deliver(push, environment: phone.environment, now: ConsoleScene.noon) else {
      Issue.record("\(phone.name) did not take the push")
      return
    }
  }
}
