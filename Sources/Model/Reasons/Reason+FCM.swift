// Firebase, ErrorCode of the FCM v1 API (docs/protocols.md §3.2).

extension Reason {
  static let fcm: [Reason] = [
    Reason(
      "UNREGISTERED", .fcm, 404, .never, .nobody, dead: true,
      cause: "The app was removed, or its token was replaced or expired.",
      remedy: "No action needed: the device is retired until the app registers again."),
    Reason(
      "INVALID_ARGUMENT", .fcm, 400, .never, .appDeveloper,
      cause: "The token is not one of Firebase's, or a field of the message is wrong.",
      remedy: "See the answer in the device's row: it names the field, or the token."),
    Reason(
      "SENDER_ID_MISMATCH", .fcm, 403, .never, .appDeveloper,
      cause: "The token was made for another Firebase project.",
      remedy: "Compare the project of the app's google-services file with the service account's."),
    Reason(
      "QUOTA_EXCEEDED", .fcm, 429, .later, .operations,
      cause: "Too many messages for the project, the device or the topic.",
      remedy: "Set a speed limit on the push; it is tried again later."),
    Reason(
      "UNAVAILABLE", .fcm, 503, .later, .nobody,
      cause: "Firebase is overloaded.", remedy: "No action needed: it is retried later."),
    Reason(
      "INTERNAL", .fcm, 500, .later, .nobody,
      cause: "Something failed at Firebase.", remedy: "No action needed: it is retried later."),
    Reason(
      "THIRD_PARTY_AUTH_ERROR", .fcm, 401, .afterCredential, .operations,
      cause: "The APNs key or certificate that is stored at Firebase is wrong or has expired.",
      remedy: "Upload a valid APNs key in the Firebase console, under Cloud Messaging."),
    Reason(
      "UNSPECIFIED_ERROR", .fcm, nil, .never, .operations,
      cause: "Firebase gave no reason.", remedy: "See the whole answer in the device's row."),
  ]
}
