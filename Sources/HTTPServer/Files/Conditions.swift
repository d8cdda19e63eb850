import Calendar

/// What a request demands of the state of a file (RFC 9110 section 13).
enum Conditions {
  enum Verdict: Equatable {
    case hold
    /// The client has it already.
    case notModified
    /// The client wants only what it knows, and that is not there any more.
    case failed
  }

  /// Judges in the order of section 13.2.2.
  ///
  /// - Parameters:
  ///   - etag: of the file as it would be sent.
  ///   - modified: seconds since 1970.
  static func judge(_ request: Request, etag: String, modified: Int) -> Verdict {
    if let tags = tags(request, "If-Match") {
      guard tags.contains(where: { $0 == "*" || $0 == etag }) else { return .failed }
    } else if let date = request.header("If-Unmodified-Since").flatMap(HTTPDate.parse), modified > date {
      return .failed
    }
    if let tags = tags(request, "If-None-Match") {
      // Weak comparison: a proxy that compressed the file has put W/ before the tag.
      return tags.contains { $0 == "*" || $0 == etag || $0 == "W/\(etag)" } ? .notModified : .hold
    }
    guard let since = request.header("If-Modified-Since").flatMap(HTTPDate.parse) else { return .hold }
    return modified <= since ? .notModified : .hold
  }

  /// The tags of a field; nil if it is not there.
  private static func tags(_ request: Request, _ name: String) -> [String]? {
    guard request.header(name) != nil else { return nil }
    return request.headers.values(of: name).joined(separator: ",").split(separator: ",").map {
      String($0.trimmedOfSpace)
    }
  }
}
