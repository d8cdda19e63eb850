/// One POST to a webhook.
package struct WebRequest: Sendable, Hashable {
  /// Where to.
  package var url: String
  /// Header fields, beside those that every request has.
  package var headers: [(name: String, value: String)] = []
  /// JSON.
  package var body: [UInt8]
  package init(url: String, headers: [(name: String, value: String)] = [], body: [UInt8]) {
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Equal when every byte is.
  package static func == (one: WebRequest, other: WebRequest) -> Bool {
    one.url == other.url && one.body == other.body
      && one.headers.map { "\($0.name): \($0.value)" } == other.headers.map { "\($0.name): \($0.value)" }
  }

  /// Fits ``==(_:_:)``.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}

/// What a webhook answered.
package struct WebAnswer: Sendable, Hashable {
  /// HTTP status.
  package var status: Int
  /// At most ``WebTransport/bodyLimit`` bytes.
  package var body: [UInt8]
  /// Seconds of a `Retry-After` that is a number.
  package var retryAfter: Int?
  package init(status: Int, body: [UInt8], retryAfter: Int? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }

  /// Status and the beginning of the body, on one line.
  package var words: String {
    MailError.line("\(status) \(String(decoding: body.prefix(600), as: UTF8.self))")
  }
}
