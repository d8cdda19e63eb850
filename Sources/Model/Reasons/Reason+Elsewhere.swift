// Codes that people meet elsewhere and look up here: Google's interfaces before HTTP v1 (docs/protocols.md §3.5), and what
// JPush's SDK reports inside an app (§4.7). No delivery of ours ends with one, so they are not in ``table``.

extension Reason {
  package static let elsewhere: [Reason] = legacy + jpushSDK

  /// Of GCM and legacy FCM. `InternalServerError` is one of APNs too, with the same meaning.
  private static let legacy: [Reason] = [
    Reason(
      "NotRegistered", .fcm, nil, .never, .nobody,
      cause: "GCM and legacy FCM: the app was removed, or its token was replaced. HTTP v1 says UNREGISTERED.",
      remedy: "Delete the token. If it is new, check the app's provisioning profile and environment first."),
    Reason(
      "InvalidRegistration", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: the token is not one of theirs. HTTP v1 says INVALID_ARGUMENT.",
      remedy: "Check what the app registers: it must be the complete token, without added characters."),
    Reason(
      "MissingRegistration", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: the request had no token.",
      remedy: "Check the server's fields “to” and “registration_ids”."),
    Reason(
      "InvalidPackageName", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: the token belongs to an app with another package name than "
        + "“restricted_package_name”.",
      remedy: "Correct the package name, or leave the field out."),
    Reason(
      "MismatchSenderId", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: the token was made for another project. HTTP v1 says SENDER_ID_MISMATCH.",
      remedy: "Compare the sender ID in the app with the project whose key the server uses."),
    Reason(
      "InvalidParameters", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: a field of the request has a wrong name or type.",
      remedy: "Compare the request with Google's description of the protocol."),
    Reason(
      "MessageTooBig", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: the message is too large: more than 4096 bytes, or 2048 for a topic.",
      remedy: "Shorten the text or the data."),
    Reason(
      "InvalidDataKey", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: a key of the data is reserved: “from”, “message_type”, or one that begins with "
        + "“google” or “gcm”.",
      remedy: "Rename the key."),
    Reason(
      "InvalidTtl", .fcm, nil, .never, .appDeveloper,
      cause: "GCM and legacy FCM: “time_to_live” is not a number of seconds from 0 to 2419200 (4 weeks).",
      remedy: "Correct the number."),
    Reason(
      "Unavailable", .fcm, nil, .later, .nobody,
      cause: "GCM and legacy FCM: the server did not process the request in time. HTTP v1 says UNAVAILABLE.",
      remedy: "Send again after the time in Retry-After, with growing pauses."),
    Reason(
      "DeviceMessageRateExceeded", .fcm, nil, .later, .appDeveloper,
      cause: "GCM and legacy FCM: too many messages to one device. HTTP v1 says QUOTA_EXCEEDED.",
      remedy: "Send fewer messages to this device, and pause before the next one."),
    Reason(
      "TopicsMessageRateExceeded", .fcm, nil, .later, .appDeveloper,
      cause: "GCM and legacy FCM: too many messages to the subscribers of one topic. HTTP v1 says QUOTA_EXCEEDED.",
      remedy: "Send fewer messages to this topic, and pause before the next one."),
    Reason(
      "InvalidApnsCredential", .fcm, nil, .afterCredential, .operations,
      cause: "GCM and legacy FCM: the APNs key or certificate that is stored at Firebase is wrong or has expired. "
        + "HTTP v1 says THIRD_PARTY_AUTH_ERROR.",
      remedy: "Upload a valid APNs key in the Firebase console, under Cloud Messaging."),
  ]

  /// Of the JPush SDK for iOS and Android.
  private static let jpushSDK: [Reason] = [
    inApp(6001, "the call set neither an alias nor tags.", "Set at least one of the two."),
    inApp(6002, "the call got no answer in time.", "Call again after a pause.", .later),
    inApp(
      6003, "the alias has a character that JPush refuses, such as “-”.",
      "Use letters, digits, “_”, Han characters and @!#$&*+=.| only, as in usr_e6882cab_cedf."),
    inApp(6004, "the alias is longer than 40 bytes.", "Shorten it. The length is checked before the characters."),
    inApp(
      6005, "a tag has a character that JPush refuses, such as “-”.",
      "Use letters, digits, “_”, Han characters and @!#$&*+=.| only."),
    inApp(6006, "a tag is longer than 40 bytes.", "Shorten it. A Han character has 3 bytes."),
    inApp(6007, "the call sets more than 1000 tags.", "Set fewer tags."),
    inApp(
      6008, "the tags of one call are too long in total: the limit is 5 kB, or 7 kB with the old interface.",
      "Set fewer tags."),
    inApp(
      6009, "an error that the SDK does not know.",
      "Call again. If the error persists, send the SDK's log to JPush support."),
    inApp(
      6011, "aliases or tags were set too often: at most 10 times in 10 seconds.",
      "Set them when they change, not at every start of the app.", .later),
    inApp(6012, "the app has stopped JPush on this device.", "Call resumePush first."),
    inApp(6013, "the device's clock is wrong.", "Correct the clock, and call again."),
    inApp(6014, "the service is busy.", "Call again after a pause.", .later),
    inApp(6015, "JPush has blocked the device.", "Contact JPush support."),
    inApp(
      6016, "the device's user is not valid.", "Install the app again. If the error persists, contact JPush support."),
    inApp(6017, "the request is not valid.", "Compare the call with JPush's documentation of this SDK."),
    inApp(6018, "the device has more than 1000 tags.", "Remove tags that are no longer used."),
    inApp(6019, "the query failed, or took too long.", "Query again from its first page.", .later),
    inApp(6020, "the call failed, or tags and aliases are paused.", "Call again after a pause.", .later),
    inApp(6021, "another call that sets tags is not finished.", "Wait for its callback before the next call.", .later),
    inApp(
      6022, "another call that sets the alias is not finished.",
      "Wait for its callback, at most 20 seconds, before the next call.", .later),
    inApp(6023, "the mobile number is not valid.", "Begin with + or a digit; then use digits and - only."),
    inApp(6024, "JPush's server had an internal error.", "Call again after a pause.", .later),
    inApp(6025, "the mobile number is longer than 20 characters.", "Shorten it."),
    inApp(6026, "the call is larger than 8128 bytes (Android).", "Set fewer tags."),
    inApp(
      6027, "the alias already has 10 devices, which is JPush's limit.",
      "Remove the alias from a device that is no longer used, or send by tag."),
  ]

  private static func inApp(_ code: Int, _ cause: String, _ remedy: String, _ retry: Retry = .never) -> Reason {
    Reason(
      "JPush \(code)", .jpush, nil, retry, .appDeveloper, cause: "The JPush SDK in the app reports: \(cause)",
      remedy: remedy)
  }
}
