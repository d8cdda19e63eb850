package import Foundation
import JSON
package import Model

/// A push that reached a simulated phone, or waits for it to be switched on.
package struct ReceivedNotification: Sendable, Hashable, Identifiable {
  /// Counts up within one phone book, over all phones. One that waited for an Android phone gets a new ID on arrival,
  /// because later ones may have arrived before it.
  package internal(set) var id: Int64
  /// As the sender gave it, or made by the simulator; of a message from FCM, FCM's name of it.
  package let apnsID: String
  package let topic: String
  /// As sent, or derived from topic and payload; nil for a message from FCM, which has none.
  package let pushType: PushType?
  /// 10, 5 or 1; of a message from FCM 10 for high, 5 for normal.
  package let priority: Int
  /// The body of the request; of a message from FCM the message, with names in snake_case.
  package let payload: String
  /// When it reached the phone; for a waiting one, when the service accepted it.
  package var receivedAt: Date
  /// The end of the service's storage for a phone that is off; nil: 30 days.
  package let expiration: Date?
  /// `apns-collapse-id`: the next one with the same ID replaces it. FCM's `collapse_key` does so only while it waits.
  package let collapseID: String?
  /// The broadcast channel that it came over; nil: it was sent to the phone's token.
  package let channel: String?
  /// The tag in an Android phone's shade, where the next one with the same tag replaces it.
  package internal(set) var tag: String?
  /// Whether Android did not show it because its channel is off.
  package internal(set) var isMuted: Bool
  /// Whether the app's notifications were off when it arrived.
  package internal(set) var isDenied = false
  /// The push's ID from the console (``APNsPayload/idKey``), by which an app drops duplicates; nil if the payload has
  /// none.
  package let uniqueID: String?
  /// The app's state on arrival, which decides which of its methods are called.
  package var appState: SimulatedPhone.AppState
  /// When the person tapped it.
  package var tapped: Date?
  /// How often the same `apns-id` arrived again: a sender's repetitions after an unknown outcome.
  package var duplicates: Int
  /// How many earlier ones with the same collapse ID or tag it replaced.
  package var replaced: Int

  package init(
    id: Int64, apnsID: String, topic: String, pushType: PushType?, priority: Int, payload: String, receivedAt: Date,
    expiration: Date? = nil, collapseID: String? = nil, uniqueID: String? = nil,
    appState: SimulatedPhone.AppState = .background, tapped: Date? = nil, duplicates: Int = 0, replaced: Int = 0,
    tag: String? = nil, isMuted: Bool = false, channel: String? = nil
  ) {
    (self.id, self.apnsID, self.topic, self.pushType) = (id, apnsID, topic, pushType)
    (self.priority, self.payload, self.receivedAt, self.expiration) = (priority, payload, receivedAt, expiration)
    (self.collapseID, self.uniqueID, self.appState, self.tapped) = (collapseID, uniqueID, appState, tapped)
    (self.duplicates, self.replaced, self.tag, self.isMuted) = (duplicates, replaced, tag, isMuted)
    self.channel = channel
  }

  /// The app's methods that were called, and that a tap will call.
  ///
  /// - Parameter backgroundMode: whether the app has the background mode "remote notifications".
  /// - Throws: the error of an invalid payload, which APNs would not have accepted.
  package func callbacks(
    _ generation: CallbackTable.Generation = .from10, backgroundMode: Bool
  ) throws(Problem) -> CallbackTable.Cell {
    var facts = APNsPayload.Facts(payload: try JSONValue(checking: Array(payload.utf8)))
    if isDenied { facts = facts.denied }
    return CallbackTable(facts).cell(generation, appState.callbackState, backgroundMode: backgroundMode)
  }
}

extension SimulatedPhone.AppState {
  package var callbackState: CallbackTable.State {
    switch self {
    case .foreground: .foreground
    case .background: .background
    case .notRunning: .notRunning
    }
  }
}
