import Text

/// APNs' request headers that a sender may set (Apple, Sending notification requests to APNs).
package enum APNsHeader {
  /// Bundle ID, with a suffix for some push types.
  package static let topic = "apns-topic"
  /// See ``PushType``.
  package static let pushType = "apns-push-type"
  /// 10, 5 or 1.
  package static let priority = "apns-priority"
  /// Seconds since 1970; 0: one attempt.
  package static let expiration = "apns-expiration"
  /// Later notifications with the same ID replace earlier ones.
  package static let collapseID = "apns-collapse-id"
  /// Of a broadcast; set by us.
  package static let channelID = "apns-channel-id"
  /// In the order in which they are shown and sent.
  package static let all = [topic, pushType, priority, expiration, collapseID]

  /// Headers that differ by device or connection and cannot be set.
  static let ours: Set<String> = [
    "apns-id", "apns-unique-id", "apns-request-id", channelID, "authorization", "host", "content-type",
    "content-length", ":method", ":path", ":scheme", ":authority",
  ]

  /// - Parameter name: in lower case.
  package static func problem(with name: String, value: String) -> Problem? {
    if ours.contains(name) { return Problem("", PayloadMessage.headerOurs) }
    guard all.contains(name) else {
      if let suggestion = Suggestion.closest(to: name, among: all) {
        return Problem("", PayloadMessage.headerUnknownSimilar, ["suggestion": suggestion])
      }
      return Problem("", PayloadMessage.headerUnknown, ["known": all.joined(separator: ", ")])
    }
    guard isFieldValue(value) else { return Problem("", PayloadMessage.headerValue) }
    return switch name {
    case topic: AppName.problem(withTopic: value)
    case pushType where PushType(rawValue: value) == nil:
      Problem(
        "", PayloadMessage.pushType,
        ["choices": PushType.allCases.map(\.rawValue).joined(separator: ", "), "value": value.abbreviated(to: 40)])
    case priority where !["10", "5", "1"].contains(value):
      Problem("", PayloadMessage.priority, ["value": value.abbreviated(to: 40)])
    case expiration where !isSeconds(value):
      Problem("", PayloadMessage.expiration, ["value": value.abbreviated(to: 40)])
    case collapseID where value.utf8.count > PushLimits.collapseID:
      Problem(
        "", PayloadMessage.collapseID,
        ["limit": String(PushLimits.collapseID), "count": String(value.utf8.count)])
    default: nil
    }
  }

  private static func isSeconds(_ value: String) -> Bool { value.utf8.allSatisfy(ASCII.isDigit) && Int64(value) != nil }

  /// RFC 9110 §5.5, without obsolete bytes above 0x7e, and not empty.
  private static func isFieldValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.first.map { $0 != 0x20 } == true
      && value.utf8.last != 0x20
  }
}
