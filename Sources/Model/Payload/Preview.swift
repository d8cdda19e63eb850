package import Foundation
package import JSON

/// The exact request of a draft, for display and copying.
package struct Preview: Sendable, Hashable {
  /// In the order sent.
  package let headers: [Header]
  /// Indented.
  package let json: String
  package let size: Int
  package let limit: Int
  /// The request to APNs, with placeholders `$DEVICE_TOKEN` and `$PROVIDER_TOKEN`.
  package let apnsCommand: String
  /// The same push through Signalbox's API, with the placeholder `$SIGNALBOX_TOKEN`.
  package let apiCommand: String

  package struct Header: Sendable, Hashable {
    /// In lower case.
    package let name: String
    package let value: String
  }

  /// - Parameters:
  ///   - uid: the push's public ID, for the key `sbid`.
  ///   - signature: of the push, for the key `sbsig`.
  ///   - date: the time of sending, for the expiration.
  ///   - endpoint: `host:port` of APNs; nil: Apple's own for the draft's environment.
  ///   - address: Signalbox's address, such as `http://127.0.0.1:8080`.
  package init(
    _ draft: PushDraft, uid: String? = nil, signature: String? = nil, sentAt date: Date, endpoint: String? = nil,
    address: String
  ) {
    let payload = APNsPayload(draft, uid: uid, signature: signature)
    headers = payload.headers(sentAt: date).map { Header(name: $0.name, value: $0.value) }
    json = payload.json.text(pretty: true)
    size = payload.body.count
    limit = payload.limit
    var lines = ["curl --http2 --header \"authorization: bearer $PROVIDER_TOKEN\""]
    lines += headers.map { "--header \(Self.quoted("\($0.name): \($0.value)"))" }
    lines.append("--data-raw \(Self.quoted(String(decoding: payload.body, as: UTF8.self)))")
    let path = payload.channel == nil ? "/3/device/$DEVICE_TOKEN" : "/4/broadcasts/apps/\(draft.app)"
    lines.append("\"https://\(endpoint ?? draft.environment.apnsHost)\(path)\"")
    apnsCommand = lines.joined(separator: " \\\n  ")
    apiCommand = [
      "curl --header \"Authorization: Bearer $SIGNALBOX_TOKEN\"", "--header 'Content-Type: application/json'",
      "--data-raw \(Self.quoted(draft.json.text()))", Self.quoted("\(address)/api/v1/pushes"),
    ].joined(separator: " \\\n  ")
  }

  /// The request to FCM, with the placeholder `$ACCESS_TOKEN`.
  package static func fcmCommand(_ body: JSONValue, host: String, project: String) -> String {
    [
      "curl --http2 --header \"authorization: Bearer $ACCESS_TOKEN\"", "--header 'content-type: application/json'",
      "--data-raw \(quoted(body.text()))", "\"https://\(host)/v1/projects/\(project)/messages:send\"",
    ].joined(separator: " \\\n  ")
  }

  /// The request to JPush, with the placeholders `$APP_KEY` and `$MASTER_SECRET`.
  package static func jpushCommand(_ body: JSONValue, host: String) -> String {
    [
      "curl --user \"$APP_KEY:$MASTER_SECRET\"", "--header 'content-type: application/json'",
      "--data-raw \(quoted(body.text()))", "\"https://\(host)/v3/push\"",
    ].joined(separator: " \\\n  ")
  }

  /// Quotes for a POSIX shell: inside single quotes only the quote itself is special.
  static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}

extension Environment {
  /// Apple's server (Apple, Sending notification requests to APNs).
  package var apnsHost: String { self == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com" }
}

extension ProviderKind {
  /// The service's server that takes pushes, at port 443 (docs/protocols.md §1.1, §3.1, §4.1).
  package func host(_ environment: Environment) -> String {
    switch self {
    case .apns: environment.apnsHost
    case .fcm: "fcm.googleapis.com"
    case .jpush: "api.jpush.cn"
    }
  }
}
