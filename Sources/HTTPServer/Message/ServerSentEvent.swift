/// One event (HTML standard, section 9.2).
package struct ServerSentEvent: Sendable, Equatable {
  /// Sent back by the client as `Last-Event-ID` when it reconnects.
  package var id: String?
  /// The type that the page listens for; `message` if nil.
  package var event: String?
  /// The content; may have several lines.
  package var data: String
  /// Milliseconds after which the client should reconnect.
  package var retry: Int?
  package init(data: String, event: String? = nil, id: String? = nil, retry: Int? = nil) {
    self.data = data
    self.event = event
    self.id = id
    self.retry = retry
  }

  /// As it is sent. Line ends and NUL in id and event, which would begin another field, are left out.
  package var encoded: String {
    var text = ""
    if let id { text += "id: \(Self.oneLine(id))\n" }
    if let event { text += "event: \(Self.oneLine(event))\n" }
    if let retry { text += "retry: \(retry)\n" }
    return text + Self.lines("data: ", data) + "\n"
  }

  private static func oneLine(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0 != "\0" })
  }

  /// Each line of a text behind the same prefix. CR LF, CR and LF all end a line for the client.
  static func lines(_ prefix: String, _ text: String) -> String {
    // "\r\n" is one Character in Swift.
    text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
      .map { prefix + $0 + "\n" }.joined()
  }
}
