import Foundation
import HTTPServer
import JSON
import Model
import Reactor

/// What a console answered.
struct SceneAnswer: Sendable {
  let response: Response

  var status: Int { response.status.code }
  /// Where it sends the browser.
  var location: String? { response.headers["Location"] }
  var bytes: [UInt8] { response.body.bytes ?? [] }
  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The body as JSON; nil if it is none.
  var json: JSONValue? { try? JSONValue(parsing: Data(bytes)) }
  /// `Content-Type` without parameters.
  var type: String? { response.headers["Content-Type"]?.split(separator: ";").first.map(String.init) }
  /// The paths of the fields that were refused.
  var fields: [String] { json?["errors"]?.array?.compactMap { $0["field"]?.string } ?? [] }
  /// Their codes.
  var codes: [String] { json?["errors"]?.array?.compactMap { $0["code"]?.string } ?? [] }
}

/// A browser with its cookies, that sends the session's token with each form. Redirects are not followed, but for the one
/// that leads to the page that a form is answered with.
struct SceneBrowser {
  let router: Router
  var cookies: [String: String] = [:]
  /// What its forms send as `csrf`.
  var csrf = ""
  /// Whether it speaks https.
  var isSecure = false
  /// The address of the newest page that a form was answered with.
  private(set) var lastShown: String?
  /// From where it asks; nil: as if from nowhere.
  var address: String?

  /// The token of forms of who is not signed in, over http or https.
  var formToken: String? { cookies["signalbox_form"] ?? cookies["__Host-signalbox_form"] }

  init(router: Router) { self.router = router }

  /// Asks for a page.
  mutating func get(_ target: String, headers: [String: String] = [:]) async throws -> SceneAnswer {
    try await send(.get, target, headers: headers, body: [])
  }

  /// Sends a form, with the token unless `fields` has one.
  mutating func post(
    _ target: String, _ fields: [(String, String)] = [], headers: [String: String] = [:]
  ) async throws -> SceneAnswer {
    var fields = fields
    if !fields.contains(where: { $0.0 == "csrf" }) { fields.append(("csrf", csrf)) }
    let body = fields.map { "\(Self.escaped($0.0))=\(Self.escaped($0.1))" }.joined(separator: "&")
    var headers = headers
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    headers["Content-Length"] = String(body.utf8.count)
    return try await send(.post, target, headers: headers, body: Array(body.utf8))
  }

  /// Sends a form with files, with the token.
  mutating func upload(_ target: String, _ parts: [Multipart.Part]) async throws -> SceneAnswer {
    // First, as in our pages: a file that is read as it comes is not looked behind for it.
    let form = Multipart([.field("csrf", csrf)] + parts)
    let headers = ["Content-Type": form.contentType, "Content-Length": String(form.body.count)]
    return try await send(.post, target, headers: headers, body: form.body)
  }

  /// Sends anything, with the cookies.
  mutating func send(
    _ method: HTTPServer.Method, _ target: String, headers: [String: String] = [:], body: [UInt8] = []
  ) async throws -> SceneAnswer {
    let answer = try await ask(method, target, headers: headers, body: body)
    guard let location = answer.location, location.contains("shown=") else { return answer }
    lastShown = location
    return try await ask(.get, location)
  }

  private mutating func ask(
    _ method: HTTPServer.Method, _ target: String, headers: [String: String] = [:], body: [UInt8] = []
  ) async throws -> SceneAnswer {
    var fields = Headers()
    for (name, value) in headers { fields.append(name, value) }
    if !cookies.isEmpty {
      fields.append(
        "Cookie", cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
    }
    let request = try Request(
      method, target, headers: fields, body: body, remoteAddress: address.flatMap { SocketAddress(host: $0, port: 1) },
      isSecure: isSecure)
    let response = await router.respond(to: request)
    for field in response.headers.values(of: "Set-Cookie") {
      let pair = (field.split(separator: ";").first ?? "").split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = pair.first else { continue }
      cookies[name] = field.contains("Max-Age=0") ? nil : pair.count == 2 ? pair[1] : ""
    }
    return SceneAnswer(response: response)
  }

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? ""
  }
}

/// A `multipart/form-data` body.
struct Multipart {
  enum Part {
    case field(String, String)
    case file(String, name: String, [UInt8])
  }

  private static let boundary = "scene-boundary-7f3a"
  let body: [UInt8]
  let contentType = "multipart/form-data; boundary=\(boundary)"

  init(_ parts: [Part]) {
    var body: [UInt8] = []
    for part in parts {
      body += "--\(Self.boundary)\r\n".utf8
      switch part {
      case .field(let name, let value):
        body += "Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)".utf8
      case .file(let field, let name, let bytes):
        body += "Content-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\n".utf8
        body += "Content-Type: application/octet-stream\r\n\r\n".utf8
        body += bytes
      }
      body += "\r\n".utf8
    }
    self.body = body + "--\(Self.boundary)--\r\n".utf8
  }
}
