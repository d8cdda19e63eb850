/// What a server answers.
public struct ServerResponse: Sendable {
  /// 200 to 599.
  public var status: Int
  /// Without `:status`. No `content-length` is added: the end of the stream says it.
  public var fields: [HeaderField]
  /// Sent as one DATA frame where frame size and flow control allow it; none if empty.
  public var body: [UInt8]

  /// Creates an answer.
  public init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
