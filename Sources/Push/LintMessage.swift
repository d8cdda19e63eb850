/// The linter's sentences.
public enum LintMessage: String, MessageSet {
  case backgroundVisible = "lint.background_visible"
  case backgroundPriority = "lint.background_priority"
  case backgroundNotAvailable = "lint.background_without_content_available"
  case backgroundOften = "lint.background_often"
  case misspeltKey = "lint.misspelt_key"
  case keyOutsideAps = "lint.key_outside_aps"
  case keyInsideAps = "lint.key_inside_aps"
  case keyShadowed = "lint.key_shadowed"
  case jsonAsText = "lint.json_as_text"
  case empty = "lint.empty"
  case extrasOnly = "lint.extras_only"
  case payloadOverrides = "lint.payload_overrides"
  case nearLimit = "lint.payload_near_limit"
  case imageNotMutable = "lint.image_not_mutable"
  case critical = "lint.critical"
  case passiveSound = "lint.passive_sound"
  case liveActivity = "lint.live_activity"
  case specialNotRaw = "lint.special_without_payload"
  case aliasForm = "lint.alias_form"
  case scheduledOnce = "lint.scheduled_without_storage"
  case sendAtPast = "lint.send_at_past"
  case sendAtTooLate = "lint.send_at_too_late"
  case repeatNever = "lint.repeat_never"
  case repeatStartPast = "lint.repeat_start_past"
  case spreadOutlives = "lint.spread_outlives"
  case credentialEnds = "lint.credential_ends"
  case credentialEndsBetween = "lint.credential_ends_between"
  case tokenLossy = "lint.token_lossy"
  case tokenLength = "lint.token_length"
  case broadcastProduction = "lint.broadcast_production"
  case onlyExclusions = "lint.only_exclusions"
  case credentialTopic = "lint.credential_topic"
  case credentialIsKey = "lint.credential_is_key"
  case credentialIsCertificate = "lint.credential_is_certificate"

  /// The English sentence.
  public var english: String {
    switch self {
    case .backgroundVisible:
      "A background push must not have an alert, badge or sound; with {keys} APNs refuses, delays or drops it."
    case .backgroundPriority:
      "A background push must have the priority normal (5); Apple: “Using priority 10 is an error”."
    case .backgroundNotAvailable: "A background push without content_available wakes nobody and shows nothing."
    case .backgroundOften:
      "iOS throttles background pushes: not more than two or three an hour, and none after a force-quit (Apple)."
    case .misspeltKey: "“{key}” is misspelt or misplaced: Apple knows it only as “{right}” inside aps."
    case .keyOutsideAps: "“{key}” here is only data for the app; as Apple's key it must stand inside aps."
    case .keyInsideAps: "Apple ignores “{key}” inside aps: the app's own data stands beside aps."
    case .keyShadowed: "The extra “{key}” is overwritten by Signalbox's own key of that name."
    case .jsonAsText: "This text is JSON, and would be shown to people as it stands."
    case .empty: "There is nothing in this push: no text, badge, sound, or content_available."
    case .extrasOnly:
      "Extras alone show nothing and wake nobody: add a text, or content_available for a background push."
    case .payloadOverrides: "The raw payload is sent as it is: the notification's own fields are not used on iOS."
    case .nearLimit: "The payload has {size} of {limit} bytes."
    case .imageNotMutable: "Without mutable_content no service extension is started, and the image is not shown."
    case .critical: "Critical alerts need an entitlement from Apple; without it iOS shows a usual notification."
    case .passiveSound: "A passive notification makes no sound: iOS ignores the sound."
    case .liveActivity: "A Live Activity needs “{key}” in aps; give the whole payload under apns.payload."
    case .specialNotRaw: "The push type {type} needs a payload of its own; give it under apns.payload."
    case .aliasForm:
      "JPush refuses the alias “{alias}” (code {result}): at most 40 bytes, no “-”. The app's form of it is “{form}”."
    case .scheduledOnce:
      "Sent later with time_to_live 0, it is lost on every device that is off at that minute."
    case .sendAtPast: "This time has passed: it would be sent at once."
    case .sendAtTooLate:
      """
      This time has passed, and so has {limit}, until when it could have begun: nothing would be sent. Leave it out to \
      send at once.
      """
    case .repeatNever: "This would never happen: its end comes before its next time."
    case .repeatStartPast: "Its beginning has passed: what would have been before now is left out."
    case .spreadOutlives:
      """
      Spread over {minutes} minutes, it outlives its time to live of {seconds} seconds: who has not had their turn by \
      then gets nothing.
      """
    case .credentialEnds:
      "“{name}”, which it is sent with, ends on {date}: Apple would refuse it then. Bind its successor before that day."
    case .credentialEndsBetween:
      """
      “{name}”, which it is sent with, ends on {date}: Apple would refuse it from {first} on. Bind its successor before \
      that day.
      """
    case .tokenLossy:
      """
      This token looks as if it was made from the text {length = …, bytes = 0x… ... …}, which has lost its middle. \
      Log it in the app with {remedy} instead.
      """
    case .tokenLength: "An APNs device token has 32 bytes today; this has {count}."
    case .broadcastProduction: "This goes to every device of the app in production."
    case .credentialTopic:
      """
      “{name}” may not send to {topic}, which the push type {type} needs; it is for {topics}. With it this app can be \
      sent: {types}.
      """
    case .credentialIsKey:
      "Device management wants a certificate of its own; the key “{name}” cannot send the push type {type}."
    case .credentialIsCertificate:
      "Location pushes want an APNs key (.p8); the certificate “{name}” cannot send the push type {type}."
    case .onlyExclusions: "This rule names only whom to leave out: it goes to everybody else."
    }
  }
}
