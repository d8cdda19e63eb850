import Calendar
package import Foundation

/// A mail as plain text and HTML, for one receiver.
package struct MailMessage: Sendable, Hashable {
  /// Whom it is from.
  package var from: MailAddress
  /// Whom it is to.
  package var to: MailAddress
  /// Any text; line ends in it become blanks.
  package var subject: String
  /// For programs without HTML, and for people who like it.
  package var text: String
  /// The same with tables and colours; nil: text alone.
  package var html: String?
  /// Left side of the `Message-ID`. The same one for each attempt: whoever gets two knows that they are one.
  package var identifier: String
  /// When it was made.
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

  /// As `<2f6c…@example.com>`, in the sender's domain.
  package var messageID: String {
    let domain = from.address.split(separator: "@").last ?? "localhost"
    return "<\(Self.token(identifier))@\(domain)>"
  }

  /// The whole mail as it travels (RFC 5322, RFC 2046 section 5.1.4), every line ended with CRLF.
  package var bytes: [UInt8] {
    var mail = ""
    mail += HeaderText(words: [Self.rfc5322(date)]).line("Date")
    mail += from.field.line("From")
    mail += to.field.line("To")
    mail += HeaderText(words: [messageID]).line("Message-ID")
    mail += HeaderText(text: subject).line("Subject")
    mail += HeaderText(words: [Self.token(language)]).line("Content-Language")
    // RFC 3834 section 5: no holiday notice answers this.
    mail += "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
    guard let html else {
      mail += Self.part(text, "text/plain")
      return Array(mail.utf8)
    }
    // Quoted-printable never writes "=_", and base64 has neither: no line of a part can be the boundary.
    let boundary = "=_\(Self.token(identifier))"
    mail += "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"\r\n\r\n"
    // The last one that a program understands is shown.
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

  /// Only what may stand in a message id and in a boundary, at most 60 characters of it.
  private static func token(_ text: String) -> String {
    let token = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }.prefix(60)
    return token.isEmpty ? "x" : String(token)
  }

  /// As `Fri, 20 Nov 2026 12:00:00 +0000` (RFC 5322 section 3.3).
  static func rfc5322(_ date: Date) -> String {
    HTTPDate.mail(Int(date.timeIntervalSince1970.rounded(.down)))
  }
}
