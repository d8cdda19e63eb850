// Apple, Handling notification responses from APNs; the advice follows that page (docs/protocols.md §1.6).

extension Reason {
  static let apns: [Reason] = apnsRequest + apnsToken + apnsCredential + apnsService

  /// The request itself is wrong: a slip in a program, ours or the sender's.
  private static let apnsRequest: [Reason] = [
    Reason(
      "BadCollapseId", .apns, 400, .never, .appDeveloper,
      cause: "The collapse id has more than 64 bytes.", remedy: "Shorten the collapse id and send again."),
    Reason(
      "BadExpirationDate", .apns, 400, .never, .appDeveloper,
      cause: "The header apns-expiration is not a whole number of seconds since 1970.",
      remedy: "Correct the header under apns.headers, or leave it out and set the time to live."),
    Reason(
      "BadMessageId", .apns, 400, .never, .operations,
      cause: "The apns-id of the request was no UUID; Signalbox writes that header itself.",
      remedy: "Report this as a fault of Signalbox, with the request that the device's row shows."),
    Reason(
      "BadPriority", .apns, 400, .never, .appDeveloper,
      cause: "The priority is not 10, 5 or 1, or does not suit the push type: background allows 5 only.",
      remedy: "Set the priority to normal for a background push, and send again."),
    Reason(
      "BadTopic", .apns, 400, .never, .appDeveloper,
      cause: "The topic is not a valid bundle id with the suffix of the push type.",
      remedy: "Compare the app's bundle id with the one in Xcode, and the push type with the topic's suffix."),
    Reason(
      "InvalidPushType", .apns, 400, .never, .appDeveloper,
      cause: "APNs does not know the push type.", remedy: "Choose one of the push types that the send form offers."),
    Reason(
      "DuplicateHeaders", .apns, 400, .never, .operations,
      cause: "A header stood twice in the request.",
      remedy: "Look at the headers of the push's raw part; if none stands twice, report a fault of Signalbox."),
    Reason(
      "MissingDeviceToken", .apns, 400, .never, .operations,
      cause: "The request named no device token.",
      remedy: "Look at the device's token; if it is there, report a fault of Signalbox."),
    Reason(
      "MissingTopic", .apns, 400, .never, .operations,
      cause: "The request named no topic, and the credential covers more than one.",
      remedy: "Give the topic under apns.headers, or correct the app's bundle id."),
    Reason(
      "PayloadEmpty", .apns, 400, .never, .appDeveloper,
      cause: "The request had no payload.", remedy: "Send a notification or a payload."),
    Reason(
      "PayloadTooLarge", .apns, 413, .never, .appDeveloper,
      cause: "The payload has more than 4096 bytes (VoIP: 5120).",
      remedy: "Shorten the text, or send an id in the extras and let the app fetch the rest."),
    Reason(
      "BadPath", .apns, 404, .never, .operations,
      cause: "The address of the request was wrong, for example because the token holds strange characters.",
      remedy: "Look at the device's token and at the credential's endpoint, then report a fault of Signalbox."),
    Reason(
      "MethodNotAllowed", .apns, 405, .never, .operations,
      cause: "The request was not a POST; something between Signalbox and Apple changed it.",
      remedy: "Look for a proxy between this server and the endpoint."),
    Reason(
      "IdleTimeout", .apns, 400, .newConnection, .nobody,
      cause: "The connection had been idle, and APNs closed it.",
      remedy: "Nothing: it is sent again on a new connection."),
  ]

  /// The token is at fault.
  private static let apnsToken: [Reason] = [
    Reason(
      "BadDeviceToken", .apns, 400, .never, .appDeveloper, environment: true,
      cause: "The token does not belong to this environment: development builds get tokens of the one, TestFlight and "
        + "App Store builds of the other. Or it is no token at all.",
      remedy: "Look how the app on this device was signed. Move the device to the other environment, or let the app "
        + "register again."),
    Reason(
      "DeviceTokenNotForTopic", .apns, 400, .never, .appDeveloper,
      cause: "The token belongs to another app than the topic names.",
      remedy: "Compare the bundle id of the build that registered this token with the app's, and move the device."),
    Reason(
      "ExpiredToken", .apns, 410, .never, .nobody, dead: true,
      cause: "The token has expired.", remedy: "Nothing: the device is retired until the app registers again."),
    Reason(
      "Unregistered", .apns, 410, .never, .nobody, dead: true,
      cause: "The app was removed from the device, or push was turned off for good.",
      remedy: "Nothing: the device is retired until the app registers again."),
    Reason(
      "TooManyRequests", .apns, 429, .perDevice, .appDeveloper,
      cause: "This one device was sent too many pushes in a short time.",
      remedy: "Send it less often, or let later pushes replace earlier ones with a collapse id."),
  ]

  /// The certificate or the key is at fault.
  private static let apnsCredential: [Reason] = [
    Reason(
      "TopicDisallowed", .apns, 400, .afterCredential, .operations,
      cause: "The key or certificate may not push to this topic.",
      remedy:
        "Look at the topics in the credential: use one for this bundle id and push type, or correct the bundle id."
    ),
    Reason(
      "BadCertificate", .apns, 403, .afterCredential, .operations,
      cause: "Apple does not accept the certificate: expired, revoked, or no push certificate.",
      remedy: "Create a new push certificate for this app and upload it in place of this one."),
    Reason(
      "BadCertificateEnvironment", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The certificate is for the other environment.",
      remedy: "Use a certificate for this environment, or one for both (“Apple Push Services”)."),
    Reason(
      "ExpiredProviderToken", .apns, 403, .resignOnce, .operations,
      cause: "The signed token was older than an hour by Apple's clock.",
      remedy: "It is signed anew and sent once more; if that fails too, set this server's clock right."),
    Reason(
      "Forbidden", .apns, 403, .never, .operations,
      cause: "Apple does not allow this action with this credential.",
      remedy: "Look at the key's rights in the Apple developer account."),
    Reason(
      "InvalidProviderToken", .apns, 403, .afterCredential, .operations,
      cause:
        "Apple cannot verify the signature: key id, team id and key do not belong together, or the key was revoked.",
      remedy: "Compare key id and team id with the Apple developer account, and upload the .p8 file again."),
    Reason(
      "MissingProviderToken", .apns, 403, .afterCredential, .operations,
      cause: "The request carried neither a certificate nor a signed token.",
      remedy: "Give the app a credential for this environment."),
    Reason(
      "UnrelatedKeyIdInToken", .apns, 403, .newConnection, .nobody,
      cause: "The connection had been used with another key.",
      remedy: "Nothing: it is sent again on a new connection."),
    Reason(
      "BadEnvironmentKeyIdInToken", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The key is restricted to the other environment.",
      remedy: "Use a key for this environment, or one for both."),
    // Apple's page says KeyId, Apple's service sends Key (seen in APNSwift and in logs).
    Reason(
      "BadEnvironmentKeyInToken", .apns, 403, .afterCredential, .operations, environment: true,
      cause: "The key is restricted to the other environment.",
      remedy: "Use a key for this environment, or one for both."),
    Reason(
      "TooManyProviderTokenUpdates", .apns, 429, .later, .operations,
      cause: "The signed token was renewed more than once in 20 minutes.",
      remedy: "Look whether another server uses the same key on this connection; sending goes on with the old token."),
  ]

  /// Apple's service has trouble.
  private static let apnsService: [Reason] = [
    Reason(
      "InternalServerError", .apns, 500, .later, .nobody,
      cause: "Something failed at Apple.",
      remedy: "Nothing: it is tried again after 15 minutes."),
    Reason(
      "ServiceUnavailable", .apns, 503, .later, .nobody,
      cause: "Apple's service is not available.",
      remedy: "Nothing: it is tried again after 15 minutes."),
    Reason(
      "Shutdown", .apns, 503, .newConnection, .nobody,
      cause: "This server of Apple's is shutting down.", remedy: "Nothing: it is sent again on a new connection."),
  ]

  /// What only channels answer (Apple, Handling error responses from APNs, broadcast; docs/protocols.md §1.8).
  static let broadcast: [Reason] = [
    Reason(
      "FeatureNotEnabled", .apns, 400, .afterCredential, .operations,
      cause: "Broadcast is not enabled for this bundle id.",
      remedy: "Turn on the broadcast capability for the app in the Apple developer account."),
    Reason(
      "MissingChannelId", .apns, 400, .never, .appDeveloper,
      cause: "The request named no channel.", remedy: "Name the channel."),
    Reason(
      "BadChannelId", .apns, 400, .never, .appDeveloper,
      cause: "The channel id is not valid Base64 of a channel.", remedy: "Copy the channel id as Apple gave it."),
    Reason(
      "ChannelNotRegistered", .apns, 400, .never, .appDeveloper, environment: true,
      cause: "The channel does not exist in this environment; channels are not shared between environments.",
      remedy: "Create the channel in this environment, or send to the other."),
    Reason(
      "BadRequestParams", .apns, 400, .never, .operations,
      cause: "APNs could not read the parameters of the request.", remedy: "Compare the request with Apple's page."),
    Reason(
      "BadRequestPayload", .apns, 400, .never, .appDeveloper,
      cause: "APNs could not read the payload.", remedy: "Compare the payload with Apple's page."),
    Reason(
      "MissingPushType", .apns, 400, .never, .operations,
      cause: "The request named no push type.", remedy: "Choose the push type liveactivity."),
    Reason(
      "CannotCreateChannelConfig", .apns, 400, .never, .operations,
      cause: "The app already has as many channels as Apple allows (10,000 per environment).",
      remedy: "Delete channels that are no longer used."),
    Reason(
      "TopicMismatch", .apns, 403, .afterCredential, .operations,
      cause: "The credential belongs to another bundle id.", remedy: "Use the credential of this app."),
  ]
}
