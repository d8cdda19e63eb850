package import Foundation
import JSON

/// The exact request that a draft leads to, to look at and to copy.
package struct Preview: Sendable, Hashable {
  /// Header lines as APNs gets them, in the order sent.
  package let headers: [Header]
  /// The payload, indented for reading.
  package let json: String
  /// Bytes that are sent.
  package let size: Int
  /// Bytes that may be sent.
  package let limit: Int
  /// The request to APNs itself, with `$DEVICE_TOKEN` and `$PROVIDER_TOKEN` to fill in.
  package let apnsCommand: String
  /// The same push asked of Signalbox, with `$SIGNALBOX_TOKEN` to fill in.
  package let apiCommand: String

  /// One header line.
  package struct Header: Sendable, Hashable {
    /// In lower case.
    package let name: String
    /// As sent.
    package let value: String
  }

  /// - Parameters:
  ///   - uid: the push's public id, for the key `sbid`.
  ///   - date: when it would be sent; for the expiration.
  ///   - endpoint: `host:port` of APNs; nil: Apple's own for the draft's environment.
  ///   - address: where Signalbox is reached, as `http://127.0.0.1:8080`.
  package init(_ draft: PushDraft, uid: String? = nil, sentAt date: Date, endpoint: String? = nil, address: String) {
    let payload = APNsPayload(draft, uid: uid)
    headers = payload.headers(sentAt: date).map { Header(name: $0.name, value: $0.value) }
    json = payload.json.text(pretty: true)
    size = payload.body.count
    limit = payload.limit
    var lines = ["curl --http2 --header \"authorization: bearer $PROVIDER_TOKEN\""]
    lines += headers.map { "--header \(Self.quoted("\($0.name): \($0.value)"))" }
    lines.append("--data-raw \(Self.quoted(String(decoding: payload.body, as: UTF8.self)))")
    lines.append("\"https://\(endpoint ?? draft.environment.apnsHost)/3/device/$DEVICE_TOKEN\"")
    apnsCommand = lines.joined(separator: " \\\n  ")
    apiCommand = [
      "curl --header \"Authorization: Bearer $SIGNALBOX_TOKEN\"", "--header 'Content-Type: application/json'",
      "--data-raw \(Self.quoted(draft.json.text()))", Self.quoted("\(address)/api/v1/pushes"),
    ].joined(separator: " \\\n  ")
  }

  /// For a POSIX shell: nothing inside single quotes is special but the quote itself.
  static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}

extension Environment {
  /// Apple's server (Apple, Sending notification requests to APNs).
  package var apnsHost: String { self == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com" }
}
