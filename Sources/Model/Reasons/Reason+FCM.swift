// Firebase, ErrorCode of the FCM v1 API; Google's common errors; OAuth's (RFC 6749 §5.2). See docs/protocols.md §3.2.

extension Reason {
  static let fcm: [Reason] = fcmMessage + fcmCredential + fcmService

  /// The token or the message is the cause.
  private static let fcmMessage: [Reason] = [
    Reason(
      "UNREGISTERED", .fcm, 404, .never, .nobody, dead: true,
      cause: "The app was removed, or its token was replaced or expired.",
      remedy: "No action needed: the device is retired until the app registers again."),
    Reason(
      "INVALID_ARGUMENT", .fcm, 400, .never, .appDeveloper,
      cause: "The token is not a Firebase token.",
      remedy: "Check what the app registers: it must be the complete FCM registration token. The device is parked "
        + "until it registers again."),
    // The type of the detail that Google's answer carries: the same status is about the token or about a field.
    Reason(
      "BadRequest", .fcm, 400, .never, .appDeveloper,
      cause: "FCM refuses the message: a field is wrong, or it is too large. The text in parentheses names the field "
        + "or is FCM's explanation.",
      remedy: "Correct the field, most likely under android, and send again."),
    Reason(
      "SENDER_ID_MISMATCH", .fcm, 403, .never, .appDeveloper,
      cause: "The token was made for another Firebase project.",
      remedy: "Compare the project in the app's google-services.json with the service account's."),
    Reason(
      "TOO_MANY_TOPICS", .fcm, 200, .never, .appDeveloper,
      cause: "The installation is subscribed to 2000 topics, the most that FCM allows.",
      remedy: "Unsubscribe it from topics that are no longer used."),
  ]

  /// The service account is the cause.
  private static let fcmCredential: [Reason] = [
    Reason(
      "THIRD_PARTY_AUTH_ERROR", .fcm, 401, .afterCredential, .operations,
      cause: "The APNs key or certificate that is stored at Firebase is wrong or has expired.",
      remedy: "Upload a valid APNs key in the Firebase console, under Cloud Messaging."),
    Reason(
      "UNAUTHENTICATED", .fcm, 401, .afterCredential, .operations,
      cause: "FCM refused the access token, and a new one too.",
      remedy: "Check this server's clock and the token URI of the service account, then create a new key in the "
        + "Firebase console."),
    Reason(
      "PERMISSION_DENIED", .fcm, 403, .afterCredential, .operations,
      cause: "The service account may not send for its project, or the Firebase Cloud Messaging API is turned off "
        + "there.",
      remedy: "In the Google Cloud console, turn the API on and give the account the role Firebase Cloud Messaging "
        + "API Admin."),
    Reason(
      "NOT_FOUND", .fcm, 404, .never, .operations,
      cause: "FCM does not know this project, or the endpoint is not FCM's.",
      remedy: "Check the project ID of the service account and the credential's endpoint."),
    Reason(
      "invalid_grant", .fcm, 400, .afterCredential, .operations,
      cause: "Google issues no access token: the key was deleted, the account was disabled, or this server's clock is "
        + "wrong.",
      remedy: "Check the clock, then create a new key: Firebase console, Project settings, Service accounts."),
    Reason(
      "invalid_client", .fcm, 401, .afterCredential, .operations,
      cause: "Google does not know the service account.",
      remedy: "Create a new key: Firebase console, Project settings, Service accounts."),
    Reason(
      "unauthorized_client", .fcm, 401, .afterCredential, .operations,
      cause: "The service account may not ask for access tokens.",
      remedy: "Use a service account of the Firebase project: Firebase console, Project settings, Service accounts."),
    Reason(
      "invalid_scope", .fcm, 400, .afterCredential, .operations,
      cause: "The token service does not issue access tokens for Firebase messaging.",
      remedy: "Check the token URI of the service account file."),
    Reason(
      "access_denied", .fcm, 403, .afterCredential, .operations,
      cause: "The service account is not allowed to send.",
      remedy: "Check the account and its roles in the Google Cloud console."),
  ]

  /// Firebase's limits and problems.
  private static let fcmService: [Reason] = [
    Reason(
      "QUOTA_EXCEEDED", .fcm, 429, .later, .operations,
      cause: "Too many messages for the project or the device.",
      remedy: "It is retried after a minute or more. If it happens often, set a speed limit on the push."),
    Reason(
      "UNAVAILABLE", .fcm, 503, .later, .nobody,
      cause: "Firebase is overloaded.", remedy: "No action needed: it is retried later."),
    Reason(
      "INTERNAL", .fcm, 500, .later, .nobody,
      cause: "Firebase had an internal error.", remedy: "No action needed: it is retried later."),
    Reason(
      "UNSPECIFIED_ERROR", .fcm, nil, .never, .operations,
      cause: "Firebase gave no reason.", remedy: "Send again. If the error persists, contact Firebase support."),
  ]
}

/// FCM's codes with special handling; all are in ``Reason/fcm``.
package enum FCMCode: String, Sendable, CaseIterable {
  case invalidArgument = "INVALID_ARGUMENT"
  /// Ours for INVALID_ARGUMENT about a field of the message: the type of its detail.
  case badRequest = "BadRequest"
  case unregistered = "UNREGISTERED"
  case senderMismatch = "SENDER_ID_MISMATCH"
  case quotaExceeded = "QUOTA_EXCEEDED"
  case unavailable = "UNAVAILABLE"
  case `internal` = "INTERNAL"
  case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
  case unauthenticated = "UNAUTHENTICATED"
  case permissionDenied = "PERMISSION_DENIED"
  case notFound = "NOT_FOUND"
}
