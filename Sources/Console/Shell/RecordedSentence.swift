import Model

/// Reads back the English sentences that are stored with pushes, with messages, and with refused calls in the activity
/// log, so that pages can show them in another language. The log, the API and the command line have them as they are.
package enum RecordedSentence {
  /// By the code of the translation, with `{name}` for what varies. `LocaleTests` looks for them in the sources.
  static let patterns: [(code: String, english: String)] = engine + audiences + mail + refusals

  /// Why a smoke test's push was not accepted: its audience has no active device.
  private static let audiences = DraftMessage.allCases.filter { DraftMessage.empty.contains($0.code) }
    .map { (code: $0.code, english: $0.english) }

  /// Their sentences for one device, which do not name the number.
  private static let singulars: [(code: String, argument: String, english: String)] =
    DraftMessage.allCases.compactMap { message in
      message.singular.map { (code: message.code, argument: $0.argument, english: $0.english) }
    }

  private static let engine: [(code: String, english: String)] = [
    ("recorded.refused", "The push service refused the credential: {reason}. {remedy}"),
    ("recorded.nobody", "No active device matched the audience when sending began, so the push reached nobody."),
    (
      "recorded.late",
      """
      It was due at {due} and had to start by {limit}. The server started it at {date}, which was too late, so nothing \
      was sent.
      """
    ),
    (
      "recorded.no_credential",
      "The app has no credential for {platform} in {environment}. Assign {credential} on the app's page."
    ),
    (
      "recorded.proxy_password",
      "The password of the credential's proxy cannot be decrypted. Enter it again on the app's page."
    ),
    ("recorded.no_provider", "Signalbox does not send through {provider} yet."),
    (
      "recorded.closed",
      "The private key of {name} cannot be decrypted. See its page for the cause, and upload it again there."
    ),
    (
      "recorded.no_simulator",
      "The app sends to the built-in simulator, which runs only inside a server started with --demo."
    ),
    (SegmentMessage.missing.code, SegmentMessage.missing.english),
    ("recorded.rejected_why", "{name} rejected it: {remark}"),
    ("recorded.rejected", "{name} rejected it."),
    ("recorded.unapproved", "Nobody approved it within {hours} hours: nothing was sent."),
    ("recorded.approved_late", "Its last run had passed before it was approved, so it does not run."),
    ("recorded.endpoint", "The endpoint {endpoint} is neither the service, the simulator, nor host:port."),
  ]

  /// Why a message could not be sent, beside what its receiver answers.
  static let mail: [(code: String, english: String)] = [
    ("recorded.mail_server", "no mail server is set up"),
    ("recorded.mail_address", "“{address}” is not an email address"),
    ("recorded.mail_host", "“{host}” with port {port} is not a valid server"),
    ("recorded.mail_password", "passwords are not sent without encryption; choose STARTTLS or TLS"),
    ("recorded.mail_url", "the URL must start with https:// or point to this machine"),
    ("recorded.mail_link_local", "{place} is a link-local or metadata address, which Signalbox does not connect to"),
    (
      "recorded.mail_target",
      "{place} is not an allowed target. Add it with --allow-target (SIGNALBOX_ALLOW_TARGET), or choose another one"
    ),
    ("recorded.mail_outdated", "its content is out of date"),
  ]

  /// Why a call of the API was refused to a known token.
  private static let refusals: [(code: String, english: String)] =
    [
      ("recorded.token_unknown", "This token is unknown, expired, or revoked."),
      ("recorded.token_address", "This token may not be used from this address ({host})."),
      ("recorded.token_role", "This token has the role {own_role}, but this request requires {needed_role}."),
      ("recorded.token_scopes", "This token lacks the scope {one} or {other}, which this request requires."),
      ("recorded.token_scope", "This token lacks the scope {scope}, which this request requires."),
      ("recorded.token_whole", "This token is limited to some apps, but this request is about the whole installation."),
      ("recorded.token_app", "This token is limited to some apps, and {app} is not one of them."),
      ("recorded.token_no_app", "This token is limited to some apps. Name one of them as app."),
      ("recorded.token_approval", "Only an admin may change production_needs_approval. Nothing was changed."),
    ] + ApprovalMessage.allCases.filter { !$0.isConflict }.map { (code: $0.code, english: $0.english) }

  /// Nil for other sentences.
  static func problem(
    _ text: String, among patterns: [(code: String, english: String)] = RecordedSentence.patterns
  ) -> Problem? {
    for (code, english) in patterns {
      if let found = arguments(text[...], english) { return Problem("", code: code, english, found) }
    }
    for (code, argument, english) in singulars where patterns.contains(where: { $0.code == code }) {
      guard var found = arguments(text[...], english) else { continue }
      found[argument] = "1"
      return Problem("", code: code, english, found, isOne: true)
    }
    return nil
  }

  /// What stands at the places of a pattern; nil if the text is another sentence.
  package static func arguments(_ text: Substring, _ pattern: String) -> [String: String]? {
    var arguments: [String: String] = [:]
    var (rest, name) = (text, "")
    let pieces = pattern.split(omittingEmptySubsequences: false) { $0 == "{" || $0 == "}" }
    // Fixed text and names in turn.
    for (index, piece) in pieces.enumerated() {
      if index % 2 == 1 {
        name = String(piece)
      } else if index == 0 {
        guard rest.hasPrefix(piece) else { return nil }
        rest = rest.dropFirst(piece.count)
      } else if piece.isEmpty {
        arguments[name] = String(rest)
        rest = ""
      } else if index == pieces.count - 1 {
        // The text ends with it; before that, the same characters belong to the value.
        guard rest.hasSuffix(piece) else { return nil }
        arguments[name] = String(rest.dropLast(piece.count))
        rest = ""
      } else {
        guard let found = rest.firstRange(of: piece) else { return nil }
        arguments[name] = String(rest[..<found.lowerBound])
        rest = rest[found.upperBound...]
      }
    }
    return rest.isEmpty ? arguments : nil
  }
}
