/// Why a mail or a webhook was not taken. Never holds a password or a key.
package struct MailError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong; the raw values are keys of the texts that people read.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The name is unknown, nobody listens, or no answer came in time.
    case unreachable
    /// No encryption, or a certificate that is not trusted.
    case tls
    /// User name or password.
    case authentication
    /// The signature or the token of a webhook.
    case signature
    /// The server does not take mail from this sender.
    case sender
    /// The server does not take mail for this receiver.
    case recipient
    /// The server refused for another reason.
    case refused
    /// The server asked to come back later, or has trouble of its own.
    case busy
    /// The settings cannot be used as they are.
    case settings
  }

  /// What went wrong.
  package let code: Code
  /// The other side's own words, or the library's; one line, at most 500 characters.
  package let words: String
  /// How long the other side wants to be left alone, in seconds.
  package let retryAfter: Int?
  package init(_ code: Code, _ words: String, retryAfter: Int? = nil) {
    self.code = code
    self.words = Self.line(words)
    self.retryAfter = retryAfter
  }

  /// What and where, in English.
  package var description: String {
    let what =
      switch code {
      case .unreachable: "the server cannot be reached"
      case .tls: "no trusted TLS connection"
      case .authentication: "the username or password was refused"
      case .signature: "the signature or the token in the URL was refused"
      case .sender: "the sender was refused"
      case .recipient: "the recipient was refused"
      case .refused: "refused"
      case .busy: "the server is busy and asks to try again later"
      case .settings: "the settings are not valid"
      }
    return words.isEmpty ? what : "\(what): \(words)"
  }

  /// One line without control characters, at most 500 characters.
  static func line(_ text: String) -> String {
    let plain = String.UnicodeScalarView(
      text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
    let words = String(plain).split(separator: " ").joined(separator: " ")
    return words.count <= 500 ? words : words.prefix(499) + "…"
  }
}
