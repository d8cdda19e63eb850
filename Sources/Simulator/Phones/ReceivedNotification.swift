package import Foundation
import JSON
package import Model

/// A push that reached a simulated phone, or waits for it to be switched on.
package struct ReceivedNotification: Sendable, Hashable, Identifiable {
  /// Counts up within one phone book, over all phones.
  package let id: Int64
  /// As the sender gave it, byte for byte, or as the simulator made it up.
  package let apnsID: String
  /// `apns-topic`.
  package let topic: String
  /// As sent, or as topic and payload suggest.
  package let pushType: PushType
  /// 10, 5 or 1.
  package let priority: Int
  /// The body of the request: JSON as it was sent.
  package let payload: String
  /// When it reached the phone; for one that waits, when APNs took it.
  package var receivedAt: Date
  /// Until when APNs keeps it for a phone that is off; nil: 30 days.
  package let expiration: Date?
  /// `apns-collapse-id`: the next with the same takes its place.
  package let collapseID: String?
  /// The push's id from the console (``APNsPayload/idKey``), by which an app drops repeats; nil if the payload has none.
  package let uniqueID: String?
  /// What the app was doing when it came: decides which of its methods iOS calls.
  package var appState: SimulatedPhone.AppState
  /// When the person tapped it.
  package var tapped: Date?
  /// How often the same `apns-id` came again: a sender that repeats after an unknown outcome shows here.
  package var duplicates: Int
  /// How many earlier ones with the same collapse id it took the place of.
  package var replaced: Int

  /// Takes what was kept.
  package init(
    id: Int64, apnsID: String, topic: String, pushType: PushType, priority: Int, payload: String, receivedAt: Date,
    expiration: Date? = nil, collapseID: String? = nil, uniqueID: String? = nil,
    appState: SimulatedPhone.AppState = .background, tapped: Date? = nil, duplicates: Int = 0, replaced: Int = 0
  ) {
    self.id = id
    self.apnsID = apnsID
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.payload = payload
    self.receivedAt = receivedAt
    self.expiration = expiration
    self.collapseID = collapseID
    self.uniqueID = uniqueID
    self.appState = appState
    self.tapped = tapped
    self.duplicates = duplicates
    self.replaced = replaced
  }

  /// Which of the app's methods were called, and will be called by a tap, in the state that the app was in.
  ///
  /// - Parameter backgroundMode: whether the app has the background mode "remote notifications".
  /// - Throws: what is wrong with the payload; one that APNs took is JSON.
  package func callbacks(
    _ generation: CallbackTable.Generation = .from10, backgroundMode: Bool
  ) throws(Problem) -> CallbackTable.Cell {
    let facts = APNsPayload.Facts(payload: try JSONValue(checking: Array(payload.utf8)))
    return CallbackTable(facts).cell(generation, appState.callbackState, backgroundMode: backgroundMode)
  }
}

extension SimulatedPhone.AppState {
  /// The same in the words of the callback table.
  package var callbackState: CallbackTable.State {
    switch self {
    case .foreground: .foreground
    case .background: .background
    case .notRunning: .notRunning
    }
  }
}
