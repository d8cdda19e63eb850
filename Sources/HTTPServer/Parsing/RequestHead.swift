import Glibc

/// The head of a request as received: one copy of its bytes, and the positions of its parts.
final class RequestHead: Sendable {
  /// The position of one field.
  struct Field: Sendable {
    let name: UInt32
    let nameCount: UInt32
    let value: UInt32
    let valueCount: UInt32
  }

  /// How the end of the body is found (RFC 9112 section 6.3).
  enum Framing: Sendable, Equatable {
    case none
    case length(Int)
    case chunked
  }

  /// The bytes from the request line to the empty line.
  let bytes: [UInt8]
  let fields: [Field]
  private let names: NameSet
  let method: Method
  /// The whole target as sent.
  let target: Range<Int>
  /// The path in the target; empty for `*` and for CONNECT.
  let path: Range<Int>
  /// The text after `?`.
  let query: Range<Int>?
  let segments: [String]
  /// An error in the path or the query. The rest of the request is still read, so that the router can choose the
  /// kind of answer by the path.
  let problem: RequestError?
  /// 0 for HTTP/1.0, 1 for 1.1 and later.
  let minorVersion: UInt8
  let framing: Framing
  /// Whether the client allows the connection to stay open.
  let keepsAlive: Bool
  let expectsContinue: Bool
  /// Host and port as the client named them; from the target if it is absolute.
  let host: Range<Int>?
  /// Whether the target is an https address.
  let isHTTPS: Bool

  init(
    bytes: [UInt8], fields: [Field], line: RequestLine, segments: [String], problem: RequestError?, framing: Framing,
    keepsAlive: Bool, expectsContinue: Bool, host: Range<Int>?
  ) {
    self.bytes = bytes
    self.fields = fields
    var names = NameSet()
    for field in fields { names.insert(first: bytes[Int(field.name)], count: Int(field.nameCount)) }
    self.names = names
    method = line.method
    target = line.target
    path = line.path
    query = line.query
    minorVersion = line.minorVersion
    self.segments = segments
    self.problem = problem
    self.framing = framing
    self.keepsAlive = keepsAlive
    self.expectsContinue = expectsContinue
    self.host = host
    isHTTPS = line.isHTTPS
  }

  /// The same request as seen from below a path.
  private init(_ head: RequestHead, skipping count: Int, segments: Int) {
    (bytes, fields, names, method) = (head.bytes, head.fields, head.names, head.method)
    path = head.path.lowerBound + count..<head.path.upperBound
    // An absolute target keeps its scheme and host, as sent.
    target =
      head.target.lowerBound == head.path.lowerBound ? path.lowerBound..<head.target.upperBound : head.target
    (query, problem, framing, minorVersion) = (head.query, head.problem, head.framing, head.minorVersion)
    let rest = Array(head.segments.dropFirst(segments))
    self.segments = rest == [""] ? [] : rest
    (keepsAlive, expectsContinue, host, isHTTPS) = (head.keepsAlive, head.expectsContinue, head.host, head.isHTTPS)
  }

  /// The request without the path that the server is served below; itself if its path does not begin with it.
  func below(_ base: ServedPath) -> RequestHead {
    let prefix = base.bytes
    guard !prefix.isEmpty, path.count > prefix.count, bytes[path.lowerBound + prefix.count] == UInt8(ascii: "/"),
      bytes[path.lowerBound..<path.lowerBound + prefix.count].elementsEqual(prefix)
    else { return self }
    return RequestHead(self, skipping: prefix.count, segments: base.count)
  }

  /// Whether these bytes begin with this head, whole.
  func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
    guard input.count >= bytes.count, let start = input.baseAddress else { return false }
    return bytes.withUnsafeBytes { own in own.baseAddress.map { memcmp($0, start, own.count) == 0 } ?? false }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func first(named name: String) -> String? {
    withFirst(named: name) { String(decoding: $0, as: UTF8.self) }
  }

  /// A hash of the cookie and the credentials that the client shows; nil: it shows none.
  var credentials: Int? {
    // Most requests for files show none.
    guard names.mayContain("Cookie") || names.mayContain("Authorization") else { return nil }
    var hasher = Hasher()
    let cookie: Void? = withFirst(named: "Cookie") { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    let token: Void? = withFirst(named: "Authorization") { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return cookie == nil && token == nil ? nil : hasher.finalize()
  }

  /// False: it has no field of these names.
  func mayHave(any others: NameSet) -> Bool { !names.isDisjoint(with: others) }

  private func withFirst<Result>(named name: String, _ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
    guard names.mayContain(name) else { return nil }
    var name = name
    return name.withUTF8 { name in
      bytes.withUnsafeBufferPointer { bytes in
        for field in fields where Int(field.nameCount) == name.count {
          var index = 0
          while index < name.count,
            ByteClass.lowercased(bytes[Int(field.name) + index]) == ByteClass.lowercased(name[index])
          {
            index += 1
          }
          if index == name.count {
            return use(UnsafeBufferPointer(rebasing: bytes[Int(field.value)..<Int(field.value + field.valueCount)]))
          }
        }
        return nil
      }
    }
  }

  var allFields: [Headers.Field] {
    fields.map { field in
      Headers.Field(
        name: text(Int(field.name)..<Int(field.name + field.nameCount)),
        value: text(Int(field.value)..<Int(field.value + field.valueCount)))
    }
  }
}

/// The path that a proxy serves the server below, such as `/push`; empty: it has its host alone.
package struct ServedPath: Sendable, Hashable {
  /// Begins with a slash and does not end with one; empty for none.
  package let text: String
  let bytes: [UInt8]
  /// Its segments.
  let count: Int

  package static let none = ServedPath("")

  /// - Parameter text: a path; slashes at its ends do not count. Only unreserved characters are compared as they are
  ///   sent, so others should not be in it.
  package init(_ text: String) {
    let segments = text.split(separator: "/")
    self.text = segments.map { "/\($0)" }.joined()
    (bytes, count) = (Array(self.text.utf8), segments.count)
  }

  /// A path without this one at its beginning; itself if it does not begin with it.
  package func stripped(_ path: String) -> String {
    guard !text.isEmpty, path.hasPrefix(text) else { return path }
    let rest = path.dropFirst(text.count)
    return rest.isEmpty ? "/" : rest.hasPrefix("/") || rest.hasPrefix("?") ? String(rest) : path
  }
}

/// The parts of the request line; positions count from the first byte of the head.
struct RequestLine: Sendable {
  var method: Method
  var target: Range<Int>
  var path: Range<Int>
  var query: Range<Int>?
  /// Host and port of an absolute target.
  var authority: Range<Int>?
  var isHTTPS = false
  var minorVersion: UInt8
}
