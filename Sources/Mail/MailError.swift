/// Why a mail or a webhook was not accepted. Never contains a password or a key.
package struct MailError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The raw values are keys of translated texts.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// Unknown host, no listener, or a time-out.
    case unreachable
    /// No encryption, or an untrusted certificate.
    case tls
    /// Wrong user name or password.
    case authentication
    /// A webhook's wrong signature or token.
    case signature
    /// A robot takes only messages with its keyword.
    case keyword
    /// A robot takes no messages from our address.
    case address
    /// A robot's keyword, signature or list of addresses; which one is unknown.
    case robot
    /// Without encryption, to a server that expects TLS from the first byte.
    case speaksTLS = "speaks_tls"
    /// TLS from the first byte, to a server that does not speak it there.
    case speaksPlain = "speaks_plain"
    /// The server does not accept mail from this sender.
    case sender
    /// The server does not accept mail for this receiver.
    case recipient
    /// Another refusal.
    case refused
    /// A temporary refusal.
    case busy
    /// Unusable settings.
    case settings

    /// As a part of a sentence.
    package var english: String {
      switch self {
      case .unreachable: "the server cannot be reached"
      case .tls: "no trusted TLS connection"
      case .authentication: "the username or password was refused"
      case .signature: "the signature or the token in the URL was refused"
      case .keyword:
        "the robot’s keyword is missing; every message contains the word Signalbox: enter it there as a keyword"
      case .address: "this server’s IP address is not on the robot’s list"
      case .robot:
        "a security setting of the robot was not met: its keyword (Signalbox is in every message), its signature, or its "
          + "list of IP addresses"
      case .speaksTLS:
        "the server was reached but does not greet in plain text, because it expects TLS from the start: choose TLS"
      case .speaksPlain: "the server was reached but does not speak TLS from the start on this port"
      case .sender: "the sender was refused"
      case .recipient: "the recipient was refused"
      case .refused: "refused"
      case .busy: "the server cannot accept it right now"
      case .settings: "the settings are not valid"
      }
    }
  }

  package let code: Code
  /// The message of the other side or the library; one line, at most 500 characters.
  package let words: String
  /// The other side's requested pause in seconds.
  package let retryAfter: Int?
  package init(_ code: Code, _ words: String, retryAfter: Int? = nil) {
    self.code = code
    self.words = Self.line(words)
    self.retryAfter = retryAfter
  }

  /// In English.
  package var description: String { words.isEmpty ? code.english : "\(code.english): \(words)" }

  /// One line without control characters, at most 500 characters.
  static func line(_ text: String) -> String {
    let plain = String.UnicodeScalarView(
      text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
    let words = String(plain).split(separator: " ").joined(separator: " ")
    return words.count <= 500 ? words : words.prefix(499) + "…"
  }
}
