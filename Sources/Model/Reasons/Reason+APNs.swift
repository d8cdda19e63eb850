import JSON

// Apple, Handling notification responses from APNs; the advice follows that page (docs/protocols.md §1.6).

extension Reason {
  /// APNs does not know the broadcast channel, or not in this environment.
  package static let channelNotRegistered = "ChannelNotRegistered"

  static let apns: [Reason] = apnsRequest + apnsToken + apnsCredential + apnsService

  /// The request is wrong: a mistake in a program, ours or the sender's.
  private static let apnsRequest: [Reason] = [
    Reason(
      "BadCollapseId", .apns, 400, .never, .appDeveloper,
      cause: "The collapse ID has more than 64 bytes.", remedy: "Shorten the collapse ID and send again."),
    Reason(
      "BadExpirationDate", .apns, 400, .never, .appDeveloper,
      cause: "The header apns-expiration is not a whole number of seconds since 1970, or the channel stores no "
        + "messages and takes only 0.",
      remedy: "Correct the header under apns.headers, or remove it and set the time to live. To a channel that "
        + "stores no messages, send without a time to live."),
    Reason(
      "BadMessageId", .apns, 400, .never, .operations,
      cause: "The apns-id of the request was not a UUID. Signalbox sets that header itself.",
      remedy: "Report a Signalbox bug and include the request shown on the delivery's page."),
    Reason(
      "BadPriority", .apns, 400, .never, .appDeveloper,
      cause: "The priority is not 10, 5, or 1, or the push type does not allow it. Background pushes allow only 5.",
      remedy: "Set the priority to normal for background pushes and send again."),
    Reason(
      "BadTopic", .apns, 400, .never, .appDeveloper,
      cause: "The topic is not a valid bundle ID with the suffix of the push type.",
      remedy: "Check that the app's bundle ID matches the one in Xcode and that the push type matches the topic's "
        + "suffix."),
    Reason(
      "InvalidPushType", .apns, 400, .never, .appDeveloper,
      cause: "APNs does not support this push type.", remedy: "Choose one of the push types in the send form."),
    Reason(
      "DuplicateHeaders", .apns, 400, .never, .operations,
      cause: "The request contained a header twice.",
      remedy: "Check the push's APNs headers for duplicates. If there are none, report a Signalbox bug."),
    Reason(
      "MissingDeviceToken", .apns, 400, .never, .operations,
      cause: "The request contained no device token.",
      remedy: "Check the device's token. If it is set, report a Signalbox bug."),
    Reason(
      "MissingTopic", .apns, 400, .never, .operations,
      cause: "The request named no topic, and the credential covers several.",
      remedy: "Set the topic under apns.headers, or correct the app's bundle ID."),
    Reason(
      "PayloadEmpty", .apns, 400, .never, .appDeveloper,
      cause: "The request had no payload.", remedy: "Send a notification or a payload."),
    Reason(
      "PayloadTooLarge", .apns, 413, .never, .appDeveloper,
      cause: "The payload has more than 4096 bytes (VoIP and broadcast channels: 5120).",
      remedy: "Shorten the text, or send an ID as extra data and let the app fetch the rest."),
    Reason(
      "BadPath", .apns, 404, .never, .operations,
      cause: "The request path was invalid, for example because the token contains invalid characters.",
      remedy: "Check the device's token and the credential's endpoint. If both are right, report a Signalbox bug."),
    Reason(
      "MethodNotAllowed", .apns, 405, .never, .operations,
      cause: "The request arrived as something other than a POST, so a proxy may have changed it.",
      remedy: "Check for a proxy between this server and the endpoint."),
    Reason(
      "IdleTimeout", .apns, 400, .newConnection, .nobody,
      cause: "APNs closed the connection because it was idle.",
      remedy: "No action needed: it is retried on a new connection."),
  ]

  /// The token is the cause.
  private static let apnsToken: [Reason] = [
    Reason(
      "BadDeviceToken", .apns, 400, .never, .appDeveloper, environment: true,
      cause: "The token belongs to the other environment, or it is invalid. Development builds get development tokens. "
        + "TestFlight and App Store builds get production tokens.",
      remedy: "Check how the app on this device was signed. Move the device to the other environment, or let the app "
        + "register again."),
    Reason(
      "DeviceTokenNotForTopic", .apns, 400, .never, .appDeveloper,
      cause: "The token belongs to a different app than the topic.",
      remedy: "Compare the bundle ID of the build that registered this token with the app's, then register the device "
        + "under the right app. If the push sets the header apns-topic, remove it."),
    Reason(
      "ExpiredToken", .apns, 410, .never, .nobody, dead: true,
      cause: "The token has expired.",
      remedy: "No action needed: the device is retired until the app registers again."),
    Reason(
      "Unregistered", .apns, 410, .never, .nobody, dead: true,
      cause: "The app was removed from the device, or push was turned off for good.",
      remedy: "No action needed: the device is retired until the app registers again."),
    Reason(
      "TooManyRequests", .apns, 429, .perDevice, .appDeveloper,
      cause: "This device was sent too many pushes in a short time.",
      remedy: "Send to it less often, or use a collapse ID so that later pushes replace earlier ones."),
  ]

  /// The certificate or the key is the cause.
  private static let apnsCredential: [Reason] = [
    Reason(
      "TopicDisallowed", .apns, 400, .afterCredential, .operations,
      cause: "The key or certificate is not allowed to send to this topic.",
      remedy: "Check the credential's topics. Use one for this bundle ID and push type, or correct the bundle ID."),
    Reason(
      "BadCertificate", .apns, 403, .afterCredential, .operations,
      cause: "Apple refused the certificate: it is expired, revoked, or not a push certificate.",
      remedy: "Create a new push certificate for this app and upload it as the replacement."),
    Reason(
      "BadCertificateEnvironment", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The certificate is for the other environment.",
      remedy: "Use a certificate for this environment or for both (“Apple Push Services”)."),
    Reason(
      "ExpiredProviderToken", .apns, 403, .resignOnce, .operations,
      cause: "The authentication token was more than an hour old by Apple's clock.",
      remedy: "A new token is signed and the push retried once. If that fails too, correct this server's clock."),
    Reason(
      "Forbidden", .apns, 403, .never, .operations,
      cause: "Apple does not allow this action with this credential.",
      remedy: "Check the key's permissions in the Apple developer account."),
    Reason(
      "InvalidProviderToken", .apns, 403, .afterCredential, .operations,
      cause: "Apple could not verify the signature: the key ID, team ID, and key do not match, or the key was revoked.",
      remedy: "Check the key ID and team ID in the Apple developer account, and upload the .p8 file again."),
    Reason(
      "MissingProviderToken", .apns, 403, .afterCredential, .operations,
      cause: "The request carried neither a certificate nor an authentication token.",
      remedy: "Assign a credential to the app for this environment."),
    Reason(
      "UnrelatedKeyIdInToken", .apns, 403, .newConnection, .nobody,
      cause: "The connection was already in use with a different key.",
      remedy: "No action needed: it is retried on a new connection."),
    Reason(
      "BadEnvironmentKeyIdInToken", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The key is restricted to the other environment.",
      remedy: "Use a key for this environment or for both."),
    // Apple's page says KeyId, Apple's service sends Key (seen in APNSwift and in logs).
    Reason(
      "BadEnvironmentKeyInToken", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The key is restricted to the other environment.",
      remedy: "Use a key for this environment or for both."),
    Reason(
      "TooManyProviderTokenUpdates", .apns, 429, .later, .operations,
      cause: "The authentication token was renewed more than once in 20 minutes.",
      remedy: "Check whether another server uses the same key on this connection. Sending continues with the old "
        + "token."),
  ]

  /// Apple's service has a problem.
  private static let apnsService: [Reason] = [
    Reason(
      "InternalServerError", .apns, 500, .later, .nobody,
      cause: "Apple's server had an internal error.",
      remedy: "No action needed: it is retried after 15 minutes."),
    Reason(
      "ServiceUnavailable", .apns, 503, .later, .nobody,
      cause: "Apple's service is not available.",
      remedy: "No action needed: it is retried after 15 minutes."),
    Reason(
      "Shutdown", .apns, 503, .newConnection, .nobody,
      cause: "Apple's server is shutting down.", remedy: "No action needed: it is retried on a new connection."),
  ]

  /// Answers about channels only (Apple, Handling error responses from APNs, broadcast; docs/protocols.md §1.8).
  static let broadcast: [Reason] = [
    Reason(
      "FeatureNotEnabled", .apns, 400, .afterCredential, .operations,
      cause: "Broadcast is not enabled for this bundle ID.",
      remedy: "Turn on the broadcast capability for the app in the Apple developer account."),
    Reason(
      "MissingChannelId", .apns, 400, .never, .appDeveloper,
      cause: "The request named no channel.", remedy: "Set the channel."),
    Reason(
      "BadChannelId", .apns, 400, .never, .appDeveloper,
      cause: "The channel ID is not valid Base64.", remedy: "Copy the channel ID exactly as Apple returned it."),
    Reason(
      channelNotRegistered, .apns, 400, .never, .appDeveloper, environment: true,
      cause: "The channel does not exist in this environment. Channels are not shared between environments.",
      remedy: "Create the channel in this environment, or send to the other environment."),
    Reason(
      "BadRequestParams", .apns, 400, .never, .operations,
      cause: "APNs could not read the parameters of the request.",
      remedy: "Compare the request with Apple's documentation."),
    Reason(
      "BadRequestPayload", .apns, 400, .never, .appDeveloper,
      cause: "APNs could not read the payload.", remedy: "Compare the payload with Apple's documentation."),
    Reason(
      "MissingPushType", .apns, 400, .never, .operations,
      cause: "The request named no push type.", remedy: "Set the push type to liveactivity."),
    Reason(
      "CannotCreateChannelConfig", .apns, 400, .never, .operations,
      cause: "The app has reached Apple's limit of 10,000 channels per environment.",
      remedy: "Delete channels you no longer use."),
    Reason(
      "TopicMismatch", .apns, 403, .afterCredential, .operations,
      cause: "The credential belongs to another bundle ID.", remedy: "Use this app's credential."),
  ]
}

/// APNs' reasons with special handling; all are in ``Reason/apns``.
package enum APNsCode: String, Sendable, CaseIterable {
  case badCertificate = "BadCertificate"
  case badDeviceToken = "BadDeviceToken"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case expiredProviderToken = "ExpiredProviderToken"
  case expiredToken = "ExpiredToken"
  case idleTimeout = "IdleTimeout"
  case invalidProviderToken = "InvalidProviderToken"
  case missingTopic = "MissingTopic"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case topicDisallowed = "TopicDisallowed"
  case unregistered = "Unregistered"

  /// Whether the sender may not use the topic.
  package var isAboutTopic: Bool { [.badTopic, .missingTopic, .topicDisallowed].contains(self) }
}
