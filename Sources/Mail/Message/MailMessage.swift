import Calendar
package import Foundation

/// A mail as plain text and HTML for one receiver.
package struct MailMessage: Sendable, Hashable {
  package var from: MailAddress
  package var to: MailAddress
  /// Line ends become blanks.
  package var subject: String
  /// For programs without HTML.
  package var text: String
  /// Nil: text only.
  package var html: String?
  /// The left side of `Message-ID`, the same for each attempt, so that duplicates can be recognised.
  package var identifier: String
  package var date: Date
  /// Language tag of the texts.
  package var language: String
  package init(
    from: MailAddress, to: MailAddress, subject: String, text: String, html: String?, identifier: String, date: Date,
    language: String
  ) {
    self.from = from
    self.to = to
    self.subject = subject
    self.text = text
    self.html = html
    self.identifier = identifier
    self.date = date
    self.language = language
  }

  package var messageID: String {
    let domain = from.address.split(separator: "@").last ?? "localhost"
    return "<\(Self.token(identifier))@\(domain)>"
  }

  /// The encoded mail (RFC 5322, RFC 2046 section 5.1.4) with CRLF line ends.
  package var bytes: [UInt8] {
    var mail = ""
    // As `Fri, 20 Nov 2026 12:00:00 +0000` (RFC 5322 section 3.3).
    mail += HeaderText(words: [HTTPDate.mail(Int(date.timeIntervalSince1970.rounded(.down)))]).line("Date")
    mail += from.field.line("From")
    mail += to.field.line("To")
    mail += HeaderText(words: [messageID]).line("Message-ID")
    mail += HeaderText(text: subject).line("Subject")
    mail += HeaderText(words: [Self.token(language)]).line("Content-Language")
    // Prevents automatic replies (RFC 3834 section 5).
    mail += "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
    guard let html else {
      mail += Self.part(text, "text/plain")
      return Array(mail.utf8)
    }
    // Quoted-printable never writes "=_", and base64 has neither, so no line can equal the boundary.
    let boundary = "=_\(Self.token(identifier))"
    mail += "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"\r\n\r\n"
    // Programs show the last part that they understand.
    mail += "--\(boundary)\r\n\(Self.part(text, "text/plain"))\r\n"
    mail += "--\(boundary)\r\n\(Self.part(html, "text/html"))\r\n"
    mail += "--\(boundary)--\r\n"
    return Array(mail.utf8)
  }

  private static func part(_ text: String, _ type: String) -> String {
    let encoding = TransferEncoding.best(for: text)
    return "Content-Type: \(type); charset=utf-8\r\nContent-Transfer-Encoding: \(encoding.rawValue)\r\n\r\n"
      + encoding.encoded(text) + "\r\n"
  }

  /// The characters allowed in a message ID and a boundary, at most 60.
  private static func token(_ text: String) -> String {
    let token = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }.prefix(60)
    return token.isEmpty ? "x" : String(token)
  }
}

/// A sender or receiver: a checked address, and a display name.
package struct MailAddress: Sendable, Hashable {
  package let address: String
  /// The display name; may be empty.
  package let name: String

  /// The longest address of SMTP (RFC 5321 section 4.5.3.1.3, without the angle brackets).
  package static let limit = 254

  /// Accepts the dot-atom form of RFC 5322 section 3.4.1, as public mail services use it.
  ///
  /// - Returns: nil for anything else. Names outside ASCII need their `xn--` form.
  package init?(_ address: String, name: String = "") {
    let parts = address.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, address.utf8.count <= Self.limit, parts[0].utf8.count <= 64,
      Self.isDotted(parts[0], extra: "!#$%&'*+-/=?^_`{|}~"), Self.isDotted(parts[1], extra: "-")
    else { return nil }
    self.address = address
    self.name = name
  }

  private static func isDotted(_ text: Substring, extra: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
      !atom.isEmpty && atom.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || extra.contains($0)) }
    }
  }

  /// As in a header field: `Signalbox <ops@example.com>`.
  var field: HeaderText {
    guard !name.isEmpty else { return HeaderText(words: [address]) }
    return HeaderText(phrase: name).followed(by: "<\(address)>")
  }
}
