import CNGHTTP2
import OpenSSL
import Reactor

/// HTTP/1.1 over TLS, where ``ServerSettings/speaksHTTP1`` allows it: one request after the other.
extension ServerConnection {
  /// The state of a connection that speaks HTTP/1.1.
  struct Plain {
    var reader: PlainReader
    /// The request that is being answered; nil: none.
    var answering: Int32?
    var lastID: Int32 = -1
    /// The connection ends as soon as nothing waits to be sent.
    var isOver = false

    /// Bytes of further requests that a client may send before it has its answer, as many as HTTP/2 lets it send.
    static let mostAhead = 1 << 20
  }

  func beginPlain() {
    plain = Plain(reader: PlainReader(settings))
    if let session { nghttp2_session_del(session) }
    session = nil
    isAnnounced = true
    handshakeTimer?.cancel()
    // Nothing has come in yet, and the client is not idle for that.
    heardAt = loop.now()
    watchIdleness()
    server.handler.opened(self)
  }

  /// - Returns: whether to read on.
  func receivePlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    heardAt = loop.now()
    guard plain?.isOver == false else { return true }
    plain?.reader.append(bytes)
    servePlain()
    if let plain, plain.answering != nil, plain.reader.waiting > Plain.mostAhead {
      fail(HTTP2Error(.protocolViolation, "The client sent \(plain.reader.waiting) bytes before its answer."))
    }
    return !isClosed
  }

  private func servePlain() {
    guard !isClosed, let state = plain, state.answering == nil, !state.isOver else { return }
    let id = state.lastID + 2
    do throws(PlainReader.Refusal) {
      guard let request = try plain?.reader.next() else {
        if plain?.reader.awaitsContinue == true {
          plain?.reader.awaitsContinue = false
          write("HTTP/1.1 100 Continue\r\n\r\n")
        }
        return
      }
      plain?.answering = id
      plain?.lastID = id
      if request.isLast { plain?.isOver = true }
      let stream = ServerStream(id: id)
      stream.isHead = request.fields[":method"] == "HEAD"
      streams[id] = stream
      server.handler.serve(
        ServerRequest(
          connection: self, streamID: id, fields: request.fields, body: request.body,
          bodyByteCount: request.bodyByteCount), ServerResponder(connection: self, streamID: id))
    } catch {
      plain?.answering = id
      plain?.isOver = true
      respondPlain(ServerResponse(status: error.status), on: id)
    }
  }

  func respondPlain(_ response: ServerResponse, on id: Int32) {
    guard !isClosed, plain?.answering == id else { return }
    plain?.answering = nil
    let isHead = streams.removeValue(forKey: id)?.isHead == true
    var head = "HTTP/1.1 \(response.status) \r\ncontent-length: \(response.body.count)\r\n"
    for field in response.fields { head += "\(field.name): \(field.value)\r\n" }
    if plain?.isOver == true { head += "connection: close\r\n" }
    // The length is that of the body which GET would get.
    write(head + "\r\n", isHead ? [] : response.body)
    // Not at once: the answer may have been given while the request was handed over.
    loop.execute { [self] in servePlain() }
  }

  private func write(_ text: String, _ body: [UInt8] = []) {
    (Array(text.utf8) + body).withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { transport?.append(start, bytes.count) }
    }
    transport?.flush()
    closeIfOver()
  }

  /// HTTP/1.1 has no GOAWAY: the connection ends after the present answer.
  func endPlain() {
    plain?.isOver = true
    closeIfOver()
  }
}
