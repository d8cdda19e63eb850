extension Exchange {
  /// Whether a browser says that a page of another site asks; also one of the same domain.
  private var isFromOtherSite: Bool {
    guard let site = head.first(named: "Sec-Fetch-Site") else { return false }
    return site != "same-origin" && site != "none"
  }

  /// Input of one turn: about two milliseconds of work, after which other connections go on.
  private static let codingTurn = 64 * 1024

  /// Puts a text at hand into gzip, if it is worth it and the client takes it.
  ///
  /// Events and streams go as they are: what waits in a compressor would come late. So does what a handler has
  /// negotiated itself (it says `Vary: Accept-Encoding`) or forbids to change (`Cache-Control: no-transform`), and what
  /// has a strong ETag, which names these very bytes. And so does what another site made a browser ask for: the length
  /// of a compressed page, guess by guess, tells what stands in it (BREACH).
  func compressed(_ response: Response) async -> Response {
    guard case .bytes(let plain) = response.body, plain.count >= ContentCoding.leastBytes,
      response.status != .partialContent, !response.status.forbidsBody,
      // What has been negotiated already comes first: a file needs no further look.
      response.headers["Vary"]?.equalsIgnoringCase("Accept-Encoding") != true,
      let type = response.headers["Content-Type"], ContentCoding.isText(type),
      !response.headers.contains("Content-Encoding"), response.headers["ETag"]?.hasPrefix("W/") != false,
      response.headers["Cache-Control"]?.contains("no-transform") != true
    else { return response }
    var response = response
    response.headers.append("Vary", "Accept-Encoding")
    guard ContentCoding.takesGzip(head.first(named: "Accept-Encoding")),
      !isFromOtherSite, let encoder = worker.takeEncoder()
    else {
      return response
    }
    var packed: [UInt8] = []
    packed.reserveCapacity(plain.count / 4)
    var start = 0
    while start < plain.count {
      if start > 0 { await Task.yield() }
      let end = min(start + Self.codingTurn, plain.count)
      encoder.compress(plain[start..<end], isLast: end == plain.count, into: &packed)
      start = end
    }
    worker.giveBack(encoder)
    response.body = .bytes(packed)
    response.headers.append("Content-Encoding", "gzip")
    return response
  }
}
