import Foundation

/// The ID of a broadcast channel of APNs, as Apple gives it: Base64 (docs/protocols.md §1.8).
package enum ChannelID {
  /// Characters; Apple's have 24.
  static let limit = 200

  /// Why a text is no channel ID; nil if it is one. APNs would answer BadChannelId.
  package static func problem(with text: String) -> Problem? {
    let isBase64 = text.utf8.count <= limit && Data(base64Encoded: text)?.isEmpty == false
    return isBase64 ? nil : Problem("", ChannelMessage.badID)
  }
}

/// Whether APNs keeps a channel's latest message for devices that are offline (Apple, Sending channel management
/// requests to APNs).
package enum ChannelPolicy: Int, Sendable, CaseIterable {
  /// Only an expiration of 0 is allowed.
  case storesNothing = 0
  /// The latest message, for up to 8 hours.
  case storesLatest = 1

  /// As the API and the command line name it.
  package enum Word: String, Sendable, CaseIterable {
    case none, latest

    package var policy: ChannelPolicy { self == .none ? .storesNothing : .storesLatest }
  }

  package var word: Word { self == .storesNothing ? .none : .latest }
}

/// What is known of the channel that a push names.
package enum KnownChannel: Sendable, Hashable {
  /// Nil: its policy is not known.
  case exists(ChannelPolicy?)
  /// Apple's list has it no more.
  case gone
  /// The app has it in its other environment.
  case elsewhere
  case unknown
}

/// Messages about channels and pushes to them.
package enum ChannelMessage: String, MessageSet {
  case badID = "channel.bad_id"
  case alone = "channel.alone"
  case pushType = "channel.push_type"
  case start = "channel.start"
  case header = "channel.header"
  case platforms = "channel.platforms"
  case storesNothing = "channel.stores_nothing"
  case elsewhere = "channel.elsewhere"
  case gone = "channel.gone"
  case unknown = "channel.unknown"

  package var english: String {
    switch self {
    case .badID: "This is not the ID of a channel. Copy it exactly as Apple returned it (Base64)."
    case .alone: "A push goes to one channel or to devices, not to both."
    case .pushType: "Only Live Activities can be sent to a channel. Choose the push type liveactivity."
    case .start: "A push to a channel cannot start a Live Activity. Use the event update or end."
    case .header: "APNs does not take this for a channel. Leave it out."
    case .platforms: "Only Apple's devices subscribe to a channel. Choose iOS."
    case .storesNothing:
      "This channel stores no messages, so it takes no time to live but 0 (APNs: BadExpirationDate). Leave it out."
    case .elsewhere:
      """
      This is a channel of the app's other environment. APNs keeps channels of development and production apart \
      (ChannelNotRegistered).
      """
    case .gone:
      "Apple's list of channels does not have this one any more. APNs may refuse the push (ChannelNotRegistered)."
    case .unknown:
      "This channel is not in the app's list here. Check its ID, or compare the list with Apple's on the app's page."
    }
  }
}
