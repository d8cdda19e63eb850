import JSON

package enum LintMessage: String, MessageSet {
  case backgroundVisible = "lint.background_visible"
  case backgroundPriority = "lint.background_priority"
  case backgroundNotAvailable = "lint.background_without_content_available"
  case backgroundOften = "lint.background_often"
  case misspeltKey = "lint.misspelt_key"
  case keyOutsideAps = "lint.key_outside_aps"
  case keyInsideAps = "lint.key_inside_aps"
  case keyText = "lint.key_text"
  case keyTexts = "lint.key_texts"
  case keyOne = "lint.key_one"
  case keyRange = "lint.key_range"
  case keyNumber = "lint.key_number"
  case keyBadge = "lint.key_badge"
  case keyChoice = "lint.key_choice"
  case keyTextOrObject = "lint.key_text_or_object"
  case memberUnknown = "lint.member_unknown"
  case memberMisspelt = "lint.member_misspelt"
  case keyShadowed = "lint.key_shadowed"
  case jsonAsText = "lint.json_as_text"
  case empty = "lint.empty"
  case androidEmpty = "lint.android_empty"
  case extrasOnly = "lint.extras_only"
  case payloadOverrides = "lint.payload_overrides"
  case nearLimit = "lint.payload_near_limit"
  case imageNotMutable = "lint.image_not_mutable"
  case critical = "lint.critical"
  case passiveSound = "lint.passive_sound"
  case liveActivity = "lint.live_activity"
  case liveActivityStart = "lint.live_activity_start"
  case liveActivityEnd = "lint.live_activity_end"
  case liveActivityEvent = "lint.live_activity_event"
  case liveActivityObject = "lint.live_activity_object"
  case liveActivityDate = "lint.live_activity_date"
  case liveActivityRepeats = "lint.live_activity_repeats"
  case liveActivityPast = "lint.live_activity_past"
  case liveActivityOver = "lint.live_activity_over"
  case liveActivityRunsPast = "lint.live_activity_runs_past"
  case liveActivityPriority = "lint.live_activity_priority"
  case otherType = "lint.other_type"
  case contentChanged = "lint.content_changed"
  case specialNotRaw = "lint.special_without_payload"
  case managementMagic = "lint.management_magic"
  case passContent = "lint.pass_content"
  case aliasForm = "lint.alias_form"
  case scheduledOnce = "lint.scheduled_without_storage"
  case expirationPast = "lint.expiration_past"
  case expirationRepeats = "lint.expiration_repeats"
  case expirationMilliseconds = "lint.expiration_milliseconds"
  case voipLate = "lint.voip_late"
  case sendAtPast = "lint.send_at_past"
  case sendAtTooLate = "lint.send_at_too_late"
  case sendAtTooFar = "lint.send_at_too_far"
  case repeatNever = "lint.repeat_never"
  case repeatStartPast = "lint.repeat_start_past"
  case spreadOutlives = "lint.spread_outlives"
  case credentialEnds = "lint.credential_ends"
  case credentialEndsBetween = "lint.credential_ends_between"
  case ownTokens = "lint.own_tokens"
  case tokenLossy = "lint.token_lossy"
  case tokenLength = "lint.token_length"
  case broadcastProduction = "lint.broadcast_production"
  case onlyExclusions = "lint.only_exclusions"
  case noTag = "lint.no_tag"
  case noTagSimilar = "lint.no_tag_similar"
  case noAlias = "lint.no_alias"
  case noAliasSimilar = "lint.no_alias_similar"
  case androidPriority = "lint.android_priority"
  case otherPackage = "lint.other_package"
  case noCredential = "lint.no_credential"
  case credentialRefused = "lint.credential_refused"
  case credentialTopic = "lint.credential_topic"
  case credentialIsKey = "lint.credential_is_key"
  case credentialIsCertificate = "lint.credential_is_certificate"

  /// Names of an audience that no device of the app has.
  package static let unknownNames: [LintMessage] = [noTag, noTagSimilar, noAlias, noAliasSimilar]

  package var english: String {
    switch self {
    case .backgroundVisible:
      "A background push must not have an alert, badge, or sound. With {keys}, APNs refuses, delays, or drops it."
    case .backgroundPriority: "A background push must have normal priority (5). Apple: “Using priority 10 is an error”."
    case .backgroundNotAvailable: "A background push without content-available does not wake the app and shows nothing."
    case .backgroundOften:
      "iOS throttles background pushes to two or three per hour, and delivers none after a force quit (Apple)."
    case .misspeltKey: "“{key}” is misspelled or misplaced. Use “{right}” inside aps."
    case .keyOutsideAps: "“{key}” is only custom data here. To work as Apple's key, it must be inside aps."
    case .keyInsideAps: "Apple ignores “{key}” inside aps. Put the app's own data next to aps."
    case .keyText: "“{key}” must be a text in quotation marks, not {value}. iOS ignores anything else."
    case .keyTexts: "“{key}” must be a list of texts such as [\"Anna\", \"5\"], not {value}. iOS ignores anything else."
    case .keyOne: "“{key}” must be the number 1, not {value}. Leave it out if it is not meant."
    case .keyRange: "“{key}” must be a number from {low} to {high}, not {value}. iOS ignores anything else."
    case .keyNumber: "“{key}” must be a number, not {value}. iOS ignores anything else."
    case .keyBadge:
      """
      “{key}” must be a whole number from 0 up without quotation marks, not {value}; 0 removes the badge. With anything \
      else, iOS leaves the badge as it is.
      """
    case .keyChoice: "“{key}” must be one of {choices}, not {value}. iOS ignores anything else."
    case .keyTextOrObject:
      "“{key}” must be a text, or an object such as {example}, not {value}. iOS ignores anything else."
    case .memberUnknown: "iOS ignores “{member}” in {parent}. Its members are: {known}."
    case .memberMisspelt: "iOS ignores “{member}” in {parent}. Write “{right}”."
    case .keyShadowed: "The extra data key “{key}” is overwritten by Signalbox's own key with that name."
    case .jsonAsText: "This text is JSON and would be shown to people as is."
    case .empty: "This push is empty: it has no text, badge, sound, or content-available."
    case .androidEmpty: "Android devices would get an empty message. Add a title, a text, extra data, or android."
    case .extrasOnly:
      "Extra data alone shows nothing and does not wake the app. Add text, or content-available for a background push."
    case .payloadOverrides: "The raw payload is sent as is. The notification's own fields are ignored on iOS."
    case .nearLimit: "The payload uses {size} of {limit} bytes."
    case .imageNotMutable: "Without mutable_content, iOS starts no service extension and the image is not shown."
    case .critical: "Critical alerts need an entitlement from Apple. Without it, iOS shows a regular notification."
    case .passiveSound: "Passive notifications are silent. iOS ignores the sound."
    case .liveActivity: "A Live Activity needs “{key}” in aps. Put the full payload in the raw JSON (apns.payload)."
    case .liveActivityStart: "To start a Live Activity, aps also needs “{key}”. Without it, iOS ignores the push."
    case .liveActivityEnd:
      "Without content-state, the ended Live Activity keeps showing its last content. Add its final state."
    case .liveActivityEvent: "The event of a Live Activity must be start, update, or end, not “{value}”."
    case .liveActivityObject: "“{key}” must be a JSON object, not {found}. Otherwise the app cannot decode it."
    case .liveActivityDate: "“{key}” must be a number of seconds since 1970, not “{value}”."
    case .liveActivityRepeats:
      """
      Every run of this schedule has the same timestamp, {date}. iOS ignores an update that is not newer than the last \
      one: send each with a timestamp of its own.
      """
    case .liveActivityPast:
      """
      The timestamp {date} is over when this is sent ({sent}). iOS ignores it if the Live Activity has got a later one: \
      use the time of sending.
      """
    case .liveActivityOver: "“{key}” ({date}) is over when this is sent ({sent}). Choose a later time, or leave it out."
    case .liveActivityRunsPast: "“{key}” ({date}) is over at later runs of this schedule. Leave it out."
    case .liveActivityPriority: "Apple defines priority 10 and 5 for Live Activities, not 1. Choose high or normal."
    case .otherType: "This payload is for the push type {types}, but the push is sent as {type}. Choose the push type."
    case .contentChanged: "A push of the type {type} needs “content-changed”: true in aps. Without it, nothing reloads."
    case .specialNotRaw: "The push type {type} needs its own payload. Put it in the raw JSON (apns.payload)."
    case .managementMagic:
      """
      Device management needs “mdm” with the PushMagic that the device sent when it checked in. Without it, the device \
      ignores the push.
      """
    case .passContent:
      "Wallet shows nothing of a push: it then asks your server for the pass. Send an update of passes without content."
    case .aliasForm:
      "JPush refuses the alias “{alias}” (code {result}): use at most 40 bytes and no “-”. The app's form of it is “{form}”."
    case .scheduledOnce: "With time_to_live 0, a scheduled push is lost on every device that is off at that moment."
    case .expirationPast: "This expiration is before the time of sending, so nothing would be sent. Leave it out."
    case .expirationRepeats:
      "This expiration is over on {date}, so later runs of this schedule send nothing. Use a time to live instead."
    case .expirationMilliseconds: "apns-expiration is in seconds since 1970. “{value}” looks like milliseconds."
    case .voipLate:
      """
      A call reaches a phone that was off when it is long over. Apple advises a time to live of 0 or a few seconds for \
      VoIP pushes.
      """
    case .sendAtPast: "This time is in the past. The push would be sent at once."
    case .sendAtTooLate:
      """
      This time is too far in the past. Sending had to start by {limit}, so nothing would be sent. To send at once, \
      leave the time out.
      """
    case .sendAtTooFar: "This time is more than 100 years ahead. Check the year."
    case .repeatNever: "This schedule never runs, because it ends before its next run."
    case .repeatStartPast: "The start is in the past. Runs before now are skipped."
    case .spreadOutlives:
      """
      Spreading over {minutes} minutes takes longer than the {seconds} seconds until apns-expiration. Devices whose \
      turn comes after that get nothing.
      """
    case .credentialEnds:
      "“{name}”, which sends this push, expires on {date}. Apple refuses it after that. Assign its replacement before then."
    case .credentialEndsBetween:
      """
      “{name}”, which sends this push, expires on {date}: Apple refuses the runs from {first} on. Assign its \
      replacement before then.
      """
    case .ownTokens:
      """
      A push of the type {type} goes to a token that the app gets for this type alone. APNs refuses the tokens of \
      notifications. Enter the right tokens, or choose devices that are registered with them.
      """
    case .tokenLossy:
      """
      This token looks as if it was made from the text {length = …, bytes = 0x… ... …}, which leaves out the \
      middle of the token. Log it in the app with {remedy} instead.
      """
    case .tokenLength: "APNs device tokens currently have 32 bytes, but this one has {count}."
    case .broadcastProduction: "This push goes to every production device of the app."
    case .noTag: "No device of the app has the tag “{tag}”."
    case .noTagSimilar: "No device of the app has the tag “{tag}”. Did you mean “{similar}”?"
    case .noAlias: "No device of the app has the alias “{alias}”."
    case .noAliasSimilar: "No device of the app has the alias “{alias}”. Did you mean “{similar}”?"
    case .androidPriority:
      "With normal priority, a sleeping Android phone shows this only when it wakes, often minutes later."
    case .otherPackage: "FCM delivers this to the Android app {package} only, but this app's package name is {own}."
    case .noCredential:
      """
      {app} has no credential for {service} in {environment}, so devices that {service} reaches get nothing. Assign one \
      on the app's page.
      """
    case .credentialRefused:
      "{service} refused the credential of {app} in {environment} at its last use: {reason}. {remedy}"
    case .credentialTopic:
      """
      The push type {type} needs the topic {topic}, but “{name}” is only for {topics}. Push types that it can send to \
      this app: {types}.
      """
    case .credentialIsKey:
      "Device management needs its own certificate. The key “{name}” cannot send the push type {type}."
    case .credentialIsCertificate:
      "Location pushes need an APNs key (.p8). The certificate “{name}” cannot send the push type {type}."
    case .onlyExclusions: "This audience only excludes devices, so the push goes to all others."
    }
  }
}
