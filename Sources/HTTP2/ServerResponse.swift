/// What a server answers.
package struct ServerResponse: Sendable {
  /// 200 to 599.
  package var status: Int
  /// Without `:status`. No `content-length` is added: the end of the stream says it.
  package var fields: [HeaderField]
  /// Sent as one DATA frame where frame size and flow control allow it; none if empty.
  package var body: [UInt8]
  package init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
