/// Which answers are worth compressing, and which clients accept it (RFC 9110 sections 8.4 and 12.5.3).
enum ContentCoding {
  /// Shorter bodies fit into one or two packets anyway.
  static let leastBytes = 1024

  /// Whether `Accept-Encoding` names gzip, or everything, without a weight of 0. A missing field means no: the client
  /// may be a script that writes the bytes to a file.
  static func takesGzip(_ field: String?) -> Bool {
    guard let field else { return false }
    var everything = false
    for element in field.split(separator: ",") {
      let parts = element.split(separator: ";").map(\.trimmedOfSpace)
      guard let name = parts.first else { continue }
      let isTaken = !parts.dropFirst().contains { isZero($0) }
      if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") { return isTaken }
      if name == "*" { everything = isTaken }
    }
    return everything
  }

  /// `q=0`, `q=0.000`.
  private static func isZero(_ parameter: Substring) -> Bool {
    let parts = parameter.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, parts[0].trimmedOfSpace.equalsIgnoringCase("q") else { return false }
    return Double(parts[1].trimmedOfSpace) == 0
  }

  private static let texts = ["application/json", "application/xml", "application/yaml", "application/x-ndjson"]

  /// Whether a media type is text, which compresses well. Pictures and archives are compressed already.
  static func isText(_ type: String) -> Bool {
    // The most common type, without parsing.
    if type == "application/json" { return true }
    let type = type.prefix { $0 != ";" }.trimmedOfSpace
    return type.prefix(5).equalsIgnoringCase("text/") || type.suffix(5).equalsIgnoringCase("+json")
      || type.suffix(4).equalsIgnoringCase("+xml") || texts.contains { type.equalsIgnoringCase($0) }
  }
}

extension Exchange {
  /// Whether the browser says that a page of another site asks, even one of the same domain.
  private var isFromOtherSite: Bool {
    guard let site = head.first(named: "Sec-Fetch-Site") else { return false }
    return site != "same-origin" && site != "none"
  }

  /// Input of one turn: about two milliseconds of work, after which other connections continue.
  private static let codingTurn = 64 * 1024

  /// Compresses a body at hand with gzip, if it is worth it and the client accepts it. Left as they are: events and
  /// streams, which a compressor would delay; answers whose handler negotiated (`Vary: Accept-Encoding`) or forbids
  /// changes (`Cache-Control: no-transform`); bodies with a strong ETag, which names these very bytes; and answers to
  /// requests that another site caused, because their compressed length reveals content guess by guess (BREACH).
  func compressed(_ response: Response) async -> Response {
    guard case .bytes(let plain) = response.body, plain.count >= ContentCoding.leastBytes,
      response.status != .partialContent, !response.status.forbidsBody,
      // Negotiated answers first: a file needs no further checks.
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
