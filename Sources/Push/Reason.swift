/// Why a push was not accepted: what a provider's code means, who must act, and what to do.
///
/// Codes, statuses and retry advice: Apple, "Handling notification responses from APNs" and "Handling error responses
/// from APNs" (broadcast). Codes in lower case are our own.
public struct Reason: Sendable, Hashable {
  /// As the provider writes it.
  public let code: String
  /// The HTTP status that carries it; nil for our own.
  public let status: Int?
  /// What may be done about it without a person.
  public let retry: Retry
  /// Who must act.
  public let actor: Actor
  /// What happened and why, in a sentence.
  public let cause: String
  /// What to do now, in a sentence.
  public let remedy: String
  /// Whether the device token is gone for good.
  public let isDeadToken: Bool
  /// Whether a token of the other environment is the likely cause.
  public let suspectsEnvironment: Bool

  /// Classes of retrying.
  public enum Retry: String, Sendable, CaseIterable {
    /// The same request would be refused again.
    case never
    /// For this device only, with growing pauses.
    case device
    /// After 15 minutes, with growing pauses (Apple).
    case later
    /// At once, on a new connection.
    case newConnection = "new_connection"
    /// Once, with a newly signed provider token.
    case resign
    /// Nothing more is sent with this credential until a person has acted.
    case stopCredential = "stop_credential"
  }

  /// Who can do something about it.
  public enum Actor: String, Sendable, CaseIterable {
    case appDeveloper = "app_developer"
    case operations = "ops"
    case sender
    case nobody
  }

  /// The row of a code; unknown codes give a row that says so.
  public static func find(_ code: String, status: Int? = nil) -> Reason {
    table[code]
      ?? Reason(
        code, status, status.map { $0 >= 500 } == true ? .later : .never, .operations,
        "The provider answered with a code that Signalbox does not know.",
        "Look the code up in the provider's documentation; the exact answer is kept with the device.")
  }

  /// Whether the token is gone for good: app removed or token expired.
  public static func isDeadToken(_ code: String) -> Bool { table[code]?.isDeadToken == true }

  /// Every known code, sorted.
  public static var all: [Reason] { table.values.sorted { $0.code < $1.code } }

  private init(
    _ code: String, _ status: Int?, _ retry: Retry, _ actor: Actor, _ cause: String, _ remedy: String,
    dead: Bool = false, environment: Bool = false
  ) {
    self.code = code
    self.status = status
    self.retry = retry
    self.actor = actor
    self.cause = cause
    self.remedy = remedy
    isDeadToken = dead
    suspectsEnvironment = environment
  }

  private static let table = Dictionary(uniqueKeysWithValues: (apns + broadcast + own).map { ($0.code, $0) })

  private static let apns = [
    Reason(
      "BadCollapseId", 400, .never, .sender, "The collapse id is longer than 64 bytes.",
      "Shorten the collapse id and send again."),
    Reason(
      "BadDeviceToken", 400, .never, .appDeveloper,
      "Apple does not know this token in this environment: it is of the other environment, or was never a token.",
      "See from which kind of build the token came, register it for that environment, and send there.",
      environment: true),
    Reason(
      "BadExpirationDate", 400, .never, .sender, "The expiration is not a time in seconds since 1970.",
      "Correct apns-expiration and send again."),
    Reason(
      "BadMessageId", 400, .never, .sender, "The apns-id is not a UUID in its canonical form.",
      "Report this: Signalbox makes the apns-id itself."),
    Reason(
      "BadPriority", 400, .never, .sender, "The priority is not 10, 5 or 1, or not allowed for this push type.",
      "Choose priority normal for a background push."),
    Reason(
      "BadTopic", 400, .never, .appDeveloper, "The topic is not a valid bundle id with the push type's suffix.",
      "Compare the app's bundle id here with the one in Xcode, letter by letter."),
    Reason(
      "DeviceTokenNotForTopic", 400, .never, .appDeveloper,
      "The token belongs to another app than the topic says.",
      "Remove the device here and register it under the app that it came from."),
    Reason(
      "DuplicateHeaders", 400, .never, .sender, "A header was sent twice.",
      "Remove the header override that repeats one that Signalbox sets."),
    Reason(
      "IdleTimeout", 400, .newConnection, .nobody, "Apple closed the connection because it was idle.",
      "Nothing: Signalbox connects again and repeats the push."),
    Reason(
      "InvalidPushType", 400, .never, .sender,
      "The push type is not one that Apple knows, or does not suit the payload.",
      "Choose the push type that suits the payload: alert if there is something to see, background if not."),
    Reason(
      "MissingDeviceToken", 400, .never, .sender, "The request named no device token.",
      "Report this: Signalbox puts the token into the address itself."),
    Reason(
      "MissingTopic", 400, .never, .operations, "The certificate has several topics and the request named none.",
      "Set the app's bundle id; Signalbox sends it as the topic."),
    Reason(
      "PayloadEmpty", 400, .never, .sender, "The payload was empty.", "Write a text, or a raw payload with aps."),
    Reason(
      "TopicDisallowed", 400, .never, .operations, "The key or certificate may not push to this topic.",
      "Use the certificate of this app, or a key whose scope contains the bundle id."),
    Reason(
      "BadCertificate", 403, .stopCredential, .operations, "Apple refuses the certificate: expired, revoked or broken.",
      "Create a new push certificate for the same bundle id and upload it."),
    Reason(
      "BadCertificateEnvironment", 403, .stopCredential, .operations,
      "The certificate is for the other environment.",
      "Use this certificate for the environment that it was made for, or upload one for this."),
    Reason(
      "ExpiredProviderToken", 403, .resign, .operations, "The signed provider token is older than one hour.",
      "Compare this machine's clock with the real time; Signalbox signs anew and tries once more."),
    Reason(
      "Forbidden", 403, .never, .operations, "Apple does not allow this action.",
      "See in the developer account whether the key or certificate still has the right to push."),
    Reason(
      "InvalidProviderToken", 403, .stopCredential, .operations,
      "Apple does not accept the signed token: key id, team id or key do not belong together, or the key was revoked.",
      "Compare key id and team id with the developer account, and upload the .p8 again."),
    Reason(
      "MissingProviderToken", 403, .stopCredential, .operations,
      "The connection had neither a certificate nor a provider token.",
      "Choose a key or a certificate with its private key for this app and environment."),
    Reason(
      "UnrelatedKeyIdInToken", 403, .newConnection, .operations,
      "The key differs from the one with which this connection began.",
      "Nothing: Signalbox opens a connection of its own for each key."),
    Reason(
      "BadEnvironmentKeyIdInToken", 403, .stopCredential, .operations, "The key is for the other environment.",
      "Choose a key for this environment, or one for both."),
    Reason(
      "BadEnvironmentKeyInToken", 403, .stopCredential, .operations, "The key is for the other environment.",
      "Choose a key for this environment, or one for both."),
    Reason(
      "BadPath", 404, .never, .operations, "The address of the request is wrong.",
      "See that the endpoint is Apple's or a server that speaks APNs."),
    Reason(
      "MethodNotAllowed", 405, .never, .operations, "The request was not a POST.",
      "See that no proxy stands between Signalbox and Apple."),
    Reason(
      "ExpiredToken", 410, .never, .nobody, "The device token has expired.",
      "Nothing: the app registers a new one at its next start.", dead: true),
    Reason(
      "Unregistered", 410, .never, .nobody, "The app was removed from the device, or its user switched pushes off.",
      "Nothing: the token is retired here, and freed if the app registers again.", dead: true),
    Reason(
      "PayloadTooLarge", 413, .never, .sender, "The payload has more than 4096 bytes (5120 for VoIP).",
      "Shorten the text or the extras."),
    Reason(
      "TooManyProviderTokenUpdates", 429, .later, .operations,
      "Provider tokens were signed more often than once in 20 minutes on one connection.",
      "See that no second server signs with the same key over the same connection; wait 20 minutes."),
    Reason(
      "TooManyRequests", 429, .device, .sender, "Too many pushes were sent to this device in a short time.",
      "Send less often to one device; the push may be repeated later."),
    Reason(
      "InternalServerError", 500, .later, .nobody, "Apple's server had an error.", "Nothing: it may be repeated later."),
    Reason(
      "ServiceUnavailable", 503, .later, .nobody, "Apple's service is not available.",
      "Nothing: it may be repeated later. See Apple's system status page if it lasts."),
    Reason(
      "Shutdown", 503, .newConnection, .nobody, "Apple's server is shutting down.",
      "Nothing: Signalbox connects to another one."),
  ]

  private static let broadcast = [
    Reason(
      "FeatureNotEnabled", 400, .never, .operations, "Broadcast is not enabled for this app.",
      "Enable the broadcast capability for the bundle id in the developer account."),
    Reason(
      "MissingChannelId", 400, .never, .sender, "The request named no channel.", "Give the channel's id."),
    Reason(
      "BadChannelId", 400, .never, .sender, "The channel id is not well formed.", "Copy the channel's id again."),
    Reason(
      "ChannelNotRegistered", 400, .never, .sender, "There is no such channel in this environment.",
      "Create the channel, or send in the environment that it belongs to."),
    Reason(
      "BadRequestParams", 400, .never, .sender, "A parameter of the request is wrong.",
      "Compare the request with Apple's description of channels."),
    Reason(
      "BadRequestPayload", 400, .never, .sender, "The body of the request is wrong.",
      "Compare the body with Apple's description of channels."),
    Reason(
      "MissingPushType", 400, .never, .sender, "The request named no push type.", "Set the push type liveactivity."),
    Reason(
      "CannotCreateChannelConfig", 400, .never, .operations, "The app has as many channels as it may have.",
      "Delete channels that are not used any more."),
    Reason(
      "TopicMismatch", 403, .stopCredential, .operations, "The certificate is for another app.",
      "Use the certificate of this app."),
  ]

  private static let own = [
    Reason(
      "no_credential", nil, .never, .operations, "The app has no key or certificate for this environment.",
      "Upload one and choose it on the app's page."),
    Reason(
      "no_provider", nil, .never, .operations, "No provider for the device's platform is set up.",
      "Send to iOS devices; providers for Android come with a later version."),
    Reason(
      "credential_refused", nil, .never, .operations,
      "The provider refused the key or certificate, so nothing more was sent with it.",
      "See the first failed device for the provider's reason."),
    Reason("cancelled", nil, .never, .nobody, "The push was stopped before this device's turn.", "Nothing."),
    Reason(
      "connection_failed", nil, .never, .operations, "No connection to the provider could be made.",
      "See network, firewall and clock; `signalbox doctor` tries each provider."),
    Reason(
      "connection_lost", nil, .never, .nobody,
      "The connection broke before the answer came: the push may or may not have arrived.",
      "Send again if that is safe: it carries the same apns-id, by which the app can drop a repeat."),
    Reason(
      "timed_out", nil, .never, .nobody,
      "No answer came in time: the push may or may not have arrived.",
      "Send again if that is safe: it carries the same apns-id, by which the app can drop a repeat."),
    Reason(
      "interrupted", nil, .never, .nobody, "Signalbox was stopped before the answer came.",
      "Nothing: the push was taken up again at the next start."),
  ]
}
