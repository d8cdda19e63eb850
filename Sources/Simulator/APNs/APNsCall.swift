/// One request as the simulated APNs sees it, free of I/O.
struct APNsCall: Sendable {
  /// `:method`.
  var method: String
  /// `:path`, with the query if there is one.
  var path: String
  /// Names in lower case, repeats kept. Pseudo-fields may be among them and are passed over.
  var headers: [(name: String, value: String)]
  /// The payload, perhaps cut off at the server's limit, which is above what APNs takes (5120 bytes).
  var body: [UInt8]
  /// How long the payload was.
  var bodyByteCount: Int

  /// A call whose body is whole.
  init(method: String = "POST", path: String, headers: [(name: String, value: String)], body: [UInt8]) {
    self.init(method: method, path: path, headers: headers, body: body, bodyByteCount: body.count)
  }

  /// A call whose body may be cut off.
  init(method: String, path: String, headers: [(name: String, value: String)], body: [UInt8], bodyByteCount: Int) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    self.bodyByteCount = bodyByteCount
  }
}
