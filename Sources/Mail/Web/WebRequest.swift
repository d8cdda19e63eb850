/// One POST to a webhook.
public struct WebRequest: Sendable, Hashable {
  /// Where to.
  public var url: String
  /// Header fields, beside those that every request has.
  public var headers: [(name: String, value: String)] = []
  /// JSON.
  public var body: [UInt8]

  /// Creates a request.
  public init(url: String, headers: [(name: String, value: String)] = [], body: [UInt8]) {
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Equal when every byte is.
  public static func == (one: WebRequest, other: WebRequest) -> Bool {
    one.url == other.url && one.body == other.body
      && one.headers.map { "\($0.name): \($0.value)" } == other.headers.map { "\($0.name): \($0.value)" }
  }

  /// Fits ``==(_:_:)``.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}

/// What a webhook answered.
public struct WebAnswer: Sendable, Hashable {
  /// HTTP status.
  public var status: Int
  /// At most ``WebTransport/bodyLimit`` bytes.
  public var body: [UInt8]
  /// Seconds of a `Retry-After` that is a number.
  public var retryAfter: Int?

  /// Creates an answer.
  public init(status: Int, body: [UInt8], retryAfter: Int? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }

  /// Status and the beginning of the body, on one line.
  public var words: String {
    MailError.line("\(status) \(String(decoding: body.prefix(600), as: UTF8.self))")
  }
}
