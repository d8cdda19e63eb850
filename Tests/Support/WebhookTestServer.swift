package import Foundation
internal import HTTPServer
internal import Synchronization

/// What stands behind webhooks: a receiver of our generic JSON, a robot of DingTalk, a bot of Feishu.
///
/// Each checks the signature of what it gets as its documentation says, with the command line of OpenSSL, and answers as
/// the service does; a signature that does not fit is refused in the service's own words.
package final class WebhookTestServer: Sendable {
  /// The services that sign; raw values are the paths.
  package enum Service: String, Sendable, CaseIterable { case webhook, dingtalk, feishu }

  /// A request that came in.
  package struct Received: Sendable {
    package let service: Service
    package let body: Data
    /// Of `X-Signalbox-Delivery`.
    package let delivery: String?
    /// When it was signed, in seconds; nil: it bears no signature that fits.
    package let signedAt: Double?

    /// The body as JSON; empty if it is none.
    package var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
  }

  /// An answer in place of the service's own.
  package struct Fault: Sendable {
    package let status: Int
    package var retryAfter: Int?

    package init(_ status: Int, retryAfter: Int? = nil) { (self.status, self.retryAfter) = (status, retryAfter) }
  }

  private struct State {
    var received: [Received] = []
    var faults: [Fault] = []
    /// As `http://127.0.0.1:4711`.
    var base = ""
  }

  private let secret: String
  private let state = Mutex(State())

  private init(secret: String) { self.secret = secret }

  /// Runs `body` with a server whose receivers all know the same secret.
  package static func with(
    secret: String, _ body: (WebhookTestServer) async throws -> Void
  ) async throws {
    let server = WebhookTestServer(secret: secret)
    var router = Router()
    for service in Service.allCases {
      router.on(.post, "/\(service.rawValue)") { try await server.answer($0, service) }
    }
    try await WebTestServer.with(router) { address in
      server.state.withLock { $0.base = "http://\(address)" }
      try await body(server)
    }
  }

  /// What came in so far, in order.
  package var received: [Received] { state.withLock { $0.received } }

  /// Answers the next requests so, one after the other.
  package func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }

  /// The address to give to Signalbox, as the service's own pages show it.
  package func address(_ service: Service) -> String {
    "\(state.withLock { $0.base })/\(service.rawValue)" + (service == .dingtalk ? "?access_token=abc" : "")
  }

  private func answer(_ request: Request, _ service: Service) async throws -> Response {
    let body = Data(try await request.body.collect(upTo: 1 << 20))
    let signedAt = try signature(request, body, service)
    let received = Received(
      service: service, body: body, delivery: request.header("X-Signalbox-Delivery"), signedAt: signedAt)
    let fault = state.withLock { state in
      state.received.append(received)
      return state.faults.isEmpty ? nil : state.faults.removeFirst()
    }
    if let fault {
      let headers: Headers = fault.retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
      return Response(Status(fault.status), headers: headers, body: .bytes(Array("out of order".utf8)))
    }
    let isGood = signedAt != nil
    let (status, text): (Status, String) =
      switch service {
      case .webhook: isGood ? (.ok, #"{"taken":true}"#) : (.unauthorized, "the signature does not fit")
      case .dingtalk:
        (.ok, isGood ? #"{"errcode":0,"errmsg":"ok"}"# : #"{"errcode":310000,"errmsg":"sign not match"}"#)
      case .feishu:
        (.ok, isGood ? #"{"code":0,"data":{},"msg":"success"}"# : #"{"code":19021,"msg":"sign match fail"}"#)
      }
    return Response(status, body: .bytes(Array(text.utf8)))
  }

  /// When a request was signed; nil if its signature does not fit.
  private func signature(_ request: Request, _ body: Data, _ service: Service) throws -> Double? {
    switch service {
    case .webhook:
      // t=<seconds>,v1=<hex of HMAC over "<seconds>.<body>">
      let parts = (request.header("X-Signalbox-Signature") ?? "").split(separator: ",").map(String.init)
      guard parts.count == 2, parts[0].hasPrefix("t="), let time = Int(parts[0].dropFirst(2)) else { return nil }
      let code = try OpenSSLCommand.hmac(key: secret, Data("\(time).".utf8) + body)
      return parts[1] == "v1=" + code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() ? Double(time) : nil
    case .dingtalk:
      // https://open.dingtalk.com/document/orgapp/customize-robot-security-settings: milliseconds, in the address.
      let items = URLComponents(string: request.target)?.queryItems ?? []
      func value(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
      guard value("access_token") == "abc", let time = Double(value("timestamp")) else { return nil }
      let code = try OpenSSLCommand.hmac(key: secret, Data("\(value("timestamp"))\n\(secret)".utf8))
      return value("sign") == code.base64EncodedString() ? time / 1000 : nil
    case .feishu:
      // https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot: the key is time and secret, the text empty.
      let json = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
      guard let text = json["timestamp"] as? String, let time = Double(text) else { return nil }
      let code = try OpenSSLCommand.hmac(key: "\(text)\n\(secret)", Data())
      return json["sign"] as? String == code.base64EncodedString() ? time : nil
    }
  }
}
