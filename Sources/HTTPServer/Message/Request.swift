internal import Foundation
package import Reactor

/// A request whose head has arrived; its body is read on demand.
package struct Request: Sendable {
  /// The peer's address. Middleware that trusts a proxy may replace it.
  package var remoteAddress: SocketAddress?
  /// Whether it came over TLS. Middleware that trusts a proxy may replace it.
  package var isSecure: Bool
  package let body: RequestBody
  /// Nil if there is none.
  var chosenRoute: Route?
  /// Values that middleware leaves for handlers, by type.
  package var context: RequestContext
  let head: RequestHead
  let number: UInt64
  /// Called for failures that became an answer inside the router.
  let report: (@Sendable (Failure) -> Void)?

  init(
    head: RequestHead, body: RequestBody, remoteAddress: SocketAddress?, isSecure: Bool, number: UInt64,
    route: Route? = nil, report: (@Sendable (Failure) -> Void)? = nil
  ) {
    self.head = head
    self.body = body
    self.remoteAddress = remoteAddress
    self.isSecure = isSecure
    self.number = number
    chosenRoute = route
    self.report = report
    context = RequestContext()
  }

  /// Makes a request without a connection, for tests of handlers.
  ///
  /// - Throws: an ``HTTPResponseError`` for a head that the server would refuse. `Host` is added if missing.
  package init(
    _ method: Method, _ target: String, headers: Headers = Headers(), body: [UInt8] = [],
    remoteAddress: SocketAddress? = nil, isSecure: Bool = false
  ) throws {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    if !headers.contains("Host") { text += "Host: localhost\r\n" }
    for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
    text += "\r\n"
    var parser = RequestParser()
    var offset = 0
    let event = Array(text.utf8).withUnsafeBufferPointer { parser.next($0, &offset) }
    switch event {
    case .head(let head):
      if let problem = head.problem { throw problem }
      self.init(
        head: head, body: RequestBody(body), remoteAddress: remoteAddress, isSecure: isSecure,
        number: RequestNumber.random())
    case .failed(let error): throw error
    case .needsMore, .body, .end: throw HTTPError(.badRequest, "The request has no head.")
    }
  }

  /// The same request with the path that handlers see.
  func below(_ base: ServedPath) -> Request {
    var request = Request(
      head: head.below(base), body: body, remoteAddress: remoteAddress, isSecure: isSecure, number: number,
      route: chosenRoute, report: report)
    request.context = context
    return request
  }

  package var method: Method { head.method }

  /// The path split at its slashes and then percent-decoded: `/a/b%2Fc` and `/a//b%2Fc` are `["a", "b/c"]`, `/` is
  /// `[]`, `/a/` is `["a", ""]`. Never `.` or `..`, never with NUL.
  package var pathSegments: [String] { head.segments }

  /// The pattern of the chosen route, such as `/pushes/:id`; nil if there is none.
  package var route: String? { chosenRoute?.pattern }

  /// The values of the route's `:name` and `*rest` segments.
  package var parameters: Parameters { Parameters(variables: chosenRoute?.variables ?? [], segments: pathSegments) }

  /// ``path`` and ``query``: as a link on a page of ours, it leads to this server.
  package var target: String {
    head.path.isEmpty ? head.text(head.target) : path + (query.map { "?\($0)" } ?? "")
  }

  /// The path, percent-encoded as sent, with single slashes; empty for `OPTIONS *`. What the router takes for the same
  /// address is the same text to everybody else.
  package var path: String {
    let path = head.text(head.path)
    return path.contains("//") ? path.replacing(/\/{2,}/, with: "/") : path
  }

  /// The text after `?`, percent-encoded.
  package var query: String? { head.query.map(head.text) }

  package var queryItems: URLEncodedForm {
    guard let query = head.query else { return URLEncodedForm() }
    // Invalid escapes and bytes that are not UTF-8 are refused before a handler is called, so only the number of pairs
    // can be too high; the rest is dropped.
    return URLEncodedForm(lenient: head.bytes[query])
  }

  package var headers: Headers { Headers(received: head) }

  /// Host and port as the client named them.
  package var host: String? { head.host.map(head.text) }

  /// False: it has no field of these names. True: ask for them.
  package func mayHave(any names: NameSet) -> Bool { head.mayHave(any: names) }

  package func header(_ name: String) -> String? { head.first(named: name) }

  /// The value of the first cookie with this name.
  package func cookie(_ name: String) -> String? {
    guard let first = head.first(named: "Cookie") else { return nil }
    if let value = Cookie.value(of: name, in: first) { return value }
    // Browsers send one field; HTTP/2 proxies may split it.
    return headers.values(of: "Cookie").dropFirst().lazy.compactMap { Cookie.value(of: name, in: $0) }.first
  }

  /// The request's name in logs and in `X-Request-Id`: the client's own id if it is at most 64 letters, digits, `-`,
  /// `_` and `.`, else a random one.
  package var id: String { RequestNumber.accepted(head.first(named: "X-Request-Id")) ?? RequestNumber.text(number) }

  /// `Content-Type` without parameters, in lower case.
  package var mediaType: String? {
    header("Content-Type").map { String(($0.split(separator: ";").first ?? "").trimmedOfSpace).lowercased() }
  }

  /// What follows a scheme such as `Bearer` or `Basic` in the field `Authorization` (RFC 9110 section 11.4); nil for
  /// another scheme.
  package func credentials(_ scheme: String) -> String? {
    // In bytes, because every request with a token comes here.
    guard let field = header("Authorization"),
      let end = field.utf8.index(field.startIndex, offsetBy: scheme.utf8.count, limitedBy: field.endIndex),
      end < field.endIndex, field.utf8[end] == UInt8(ascii: " "), field[..<end].equalsIgnoringCase(scheme)
    else { return nil }
    let rest = field[end...].trimmedOfSpace
    return rest.isEmpty ? nil : String(rest)
  }

  /// The name and the password of `Authorization: Basic` (RFC 7617).
  package var basicCredentials: (name: String, password: String)? {
    guard let data = credentials("Basic").flatMap({ Data(base64Encoded: $0) }),
      let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
    else { return nil }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  /// Converts a route's parameter.
  ///
  /// - Throws: 404 if the conversion fails, or if the value is written differently, as `01` or `+1`: a resource has
  ///   one address.
  package func parameter<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type = Value.self) throws
    -> Value
  {
    guard let text = parameters[name] else { throw HTTPError(.notFound) }
    guard let value = Value(text), value.description == text else {
      throw Value.self is any FixedWidthInteger.Type
        ? HTTPError(.notFound, "“\(text.prefix(40))” is not an ID here: it must be a number.") : HTTPError(.notFound)
    }
    return value
  }

  /// Reads the whole body as a form.
  ///
  /// - Throws: 415 for another content type, 413 above the limit, 400 for invalid escapes.
  package func form(upTo limit: Int = 1 << 20) async throws -> URLEncodedForm {
    guard mediaType == "application/x-www-form-urlencoded" else {
      throw HTTPError(.unsupportedMediaType, "The body must be application/x-www-form-urlencoded.")
    }
    return try URLEncodedForm(try await body.collect(upTo: limit))
  }
}

/// A key under which middleware leaves a value for handlers.
package protocol RequestContextKey {
  associatedtype Value: Sendable
}

/// Values that middleware leaves for handlers, such as the signed-in user and the language.
package struct RequestContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  init() {}

  package subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// The values of a route's variable segments, taken from the path when they are asked for.
package struct Parameters: Sendable {
  let variables: [RouteNode.Variable]
  let segments: [String]

  /// The segments that `*rest` matched.
  package var rest: [String] {
    guard let last = variables.last, last.isRest else { return [] }
    return Array(segments[last.index...])
  }

  /// The value of `:name`, decoded; for `*name` its segments joined with slashes.
  package subscript(name: String) -> String? {
    guard let variable = variables.first(where: { $0.name == name }) else { return nil }
    return variable.isRest ? segments[variable.index...].joined(separator: "/") : segments[variable.index]
  }
}

/// Random ids for requests.
enum RequestNumber {
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  static func random() -> UInt64 { UInt64.random(in: .min ... .max) }

  /// The next number of a series without repetition (SplitMix64: a bijection of a counter).
  static func next(after state: inout UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed &>> 31
  }

  /// Thirteen characters: Swift stores a string of that size without an allocation.
  static func text(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 13) { bytes in
      for index in 0..<13 { bytes[index] = digits[Int(number &>> UInt64(index * 5) & 31)] }
      return 13
    }
  }

  static func write(_ number: UInt64, to bytes: UnsafeMutablePointer<UInt8>) {
    digits.withUnsafeBufferPointer { digits in
      for index in 0..<13 { bytes[index] = digits[Int(number &>> UInt64(index * 5) & 31)] }
    }
  }

  static func accepted(_ text: String?) -> String? {
    guard let text, (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({ byte in
        ByteClass.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
          || byte == UInt8(ascii: ".")
      })
    else { return nil }
    return text
  }
}
