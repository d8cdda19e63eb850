/// What is said about a device token that cannot be read.
public enum TokenMessage: String, MessageSet {
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

  /// The English sentence.
  public var english: String {
    switch self {
    case .empty: "A device token is missing here."
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
      "This is a shortened token, as logs and lists show it. Copy the whole token from the device's page or the app."
    case .notHexadecimal:
      "“{character}” at position {position} is not a hexadecimal digit; a device token consists of 0–9 and a–f."
    case .oddLength:
      "A device token has an even number of hexadecimal digits; this has {count}: one was lost or is too many."
    case .tooShort: "A device token has at least {limit} hexadecimal digits; this has {count}."
    case .tooLong: "A device token has at most {limit} hexadecimal digits; this has {count}."
    case .wrongLength: "The text says that the token has {stated} bytes, but shows {count}."
    case .looksLikeFCM: "This is a registration token of Firebase; an iOS device needs its APNs device token here."
    case .looksLikeAPNs: "This is an APNs device token; an Android device needs its Firebase registration token here."
    case .notFCM:
      "“{character}” at position {position} does not belong to a Firebase registration token (letters, digits, : _ -)."
    case .lengthFCM: "A Firebase registration token has {low} to {high} characters; this has {count}."
    }
  }

  /// What an app logs its token with, so that nothing is lost.
  public static let remedy = #"deviceToken.map { String(format: "%02x", $0) }.joined()"#
}
