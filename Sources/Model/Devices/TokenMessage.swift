import Text

package enum TokenMessage: String, MessageSet {
  case empty = "token.empty"
  case lossy = "token.lossy"
  case noBytes = "token.no_bytes"
  case abbreviated = "token.abbreviated"
  case notHexadecimal = "token.not_hexadecimal"
  case oddLength = "token.odd_length"
  case tooShort = "token.too_short"
  case tooLong = "token.too_long"
  case wrongLength = "token.wrong_length"
  case looksLikeFCM = "token.looks_like_fcm"
  case looksLikeAPNs = "token.looks_like_apns"
  case notFCM = "token.not_fcm"
  case lengthFCM = "token.length_fcm"
  case notJPush = "token.not_jpush"
  case looksLikeJPush = "token.looks_like_jpush"
  case several = "token.several"
  case expo = "token.expo"
  case webPush = "token.web_push"
  case windows = "token.windows"
  case amazonEndpoint = "token.amazon_endpoint"
  case maker = "token.maker"
  case topic = "token.topic"
  case uuid = "token.uuid"

  package var english: String {
    switch self {
    case .empty: "Enter a device token."
    case .lossy:
      """
      This text has lost part of the token: since iOS 13 the description of Data leaves out the middle (“...”). \
      Log it in the app with {remedy} instead.
      """
    case .noBytes:
      """
      This is what Swift prints for a Data value (“32 bytes”): it does not contain the token. \
      Log it in the app with {remedy} instead.
      """
    case .abbreviated:
      "This token is shortened, as in logs and lists. Copy the full token from the device's page or the app."
    case .notHexadecimal:
      "“{character}” at position {position} is not a hexadecimal digit. A device token consists of 0–9 and a–f."
    case .oddLength:
      "A device token must have an even number of hexadecimal digits, but this one has {count}: one is missing or extra."
    case .tooShort: "A device token must have at least {limit} hexadecimal digits, but this one has {count}."
    case .tooLong: "A device token must have at most {limit} hexadecimal digits, but this one has {count}."
    case .wrongLength: "The text says the token has {stated} bytes but shows {count}."
    case .looksLikeFCM:
      "This is a Firebase registration token. APNs needs the device token; choose FCM to send by this token."
    case .looksLikeAPNs: "This is an APNs device token. An Android device needs its Firebase registration token."
    case .notFCM:
      "“{character}” at position {position} is not allowed in a Firebase registration token (letters, digits, : _ -)."
    case .lengthFCM: "A Firebase registration token must have {low} to {high} characters, but this one has {count}."
    case .notJPush:
      "A JPush registration ID has at most {limit} characters. This looks like the token of another push service."
    case .looksLikeJPush:
      "This looks like a registration ID of JPush. Set the provider to jpush, or enter it as the registration ID."
    case .several: "This text contains {count} tokens. Enter each one on its own."
    case .expo:
      """
      This is a token of Expo's push service, which Apple and Google do not know. The app gets its own token from \
      getDevicePushTokenAsync instead of getExpoPushTokenAsync.
      """
    case .webPush: "This is the address of a browser's subscription (Web Push). Signalbox sends to apps only."
    case .windows: "This is the address of a Windows app (WNS). Signalbox sends to iOS and Android only."
    case .amazonEndpoint:
      "This is the name of an endpoint at Amazon SNS. The device's own token is the endpoint's attribute Token."
    case .maker:
      """
      This is a token of {maker}'s push service, which Signalbox does not send through. Register the device with its \
      Firebase registration token, or with its registration ID of JPush.
      """
    case .topic: "This is a topic, not a token. Choose the topic as the audience, without /topics/."
    case .uuid:
      """
      This is a UUID, such as OneSignal and others give a device, not a push token. Register the device with the token \
      that the app gets from Apple or Firebase.
      """
    }
  }

  /// Swift code with which an app logs its complete token.
  package static let remedy = #"deviceToken.map { String(format: "%02x", $0) }.joined()"#
}

/// The ID that a push service, or Signalbox, gave one installation of an app.
package enum RegistrationID {
  /// Characters. JPush's have 11 or 19 hexadecimal digits (`13165ffa4e0b5fb6ba3`; docs/protocols.md §2).
  package static let limit = 64

  package static func problem(with id: String) -> Problem? {
    let fits = (1...limit).contains(id.utf8.count) && id.utf8.allSatisfy { ASCII.isAlphanumeric($0) }
    return fits ? nil : Problem("", NameMessage.registrationID, ["limit": String(limit)])
  }

  /// Whether a text has the form of JPush's own.
  package static func isJPush(_ text: String) -> Bool {
    (text.utf8.count == 11 || text.utf8.count == 19) && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) }
  }
}
