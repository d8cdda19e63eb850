import Foundation
import HTTP2
import JSON
package import Model

/// What can be asked of APNs' channel management (Apple, Sending channel management requests to APNs;
/// docs/protocols.md §1.8).
package enum ChannelRequest: Sendable, Hashable {
  case create(ChannelPolicy)
  case read(String)
  case delete(String)
  case list
}

/// Its answer.
package enum ChannelReply: Sendable, Hashable {
  case created(String)
  /// Nil: a policy that is not known here.
  case policy(ChannelPolicy?)
  case deleted
  case channels([String])
}

extension APNsMaker {
  /// Makes one request about an app's channels over a connection of its own.
  ///
  /// - Throws: ``ServiceRefusal``; an error about the account, with a text for people.
  package func ask(
    _ request: ChannelRequest, bundleID: String, _ account: ProviderAccount, _ tools: ProviderTools
  ) async throws -> ChannelReply {
    let credentials = try Self.credentials(account)
    let sending = Self.endpoint(account)
    let base = try sending.endpoint(credentials, tools)
    let (host, port) = sending.management
    let endpoint = Endpoint(host: host, port: port, tls: base.tls)
    var fields = [HeaderField("apns-request-id", UUID().uuidString.lowercased(), indexing: .never)]
    if case .token(let key, let keyID, let teamID) = credentials {
      let token = ProviderToken(key: key, keyID: keyID, teamID: teamID)
      switch token.current(at: tools.clock()) {
      case .value(let text): fields.append(HeaderField("authorization", text, indexing: .never))
      case .refused(let reason): throw ServiceRefusal(status: 0, reason: reason)
      case .awaited: throw ServiceRefusal(status: 0, reason: OwnReason.credentialUnusable.rawValue)
      }
    }
    return try request.reply(await SingleRequest().send(request.batch(bundleID, fields), to: endpoint, tools))
  }
}

extension APNsEndpoint {
  /// Where channels are managed; another server of one's own, such as the simulator, does both on one port.
  fileprivate var management: (host: String, port: UInt16) {
    switch self {
    case .production: ("api-manage-broadcast.push.apple.com", 2196)
    case .development: ("api-manage-broadcast.sandbox.push.apple.com", 2195)
    case .custom(let host, let port, _): (host, port)
    }
  }
}

extension ChannelRequest {
  fileprivate func batch(_ bundleID: String, _ common: [HeaderField]) -> RequestBatch {
    var (method, path, fields, body) = ("GET", "/1/apps/\(bundleID)/channels", common, [UInt8]())
    switch self {
    case .create(let policy):
      method = "POST"
      body = Array(#"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#.utf8)
      fields.append(HeaderField("content-type", "application/json"))
    case .read(let channel): fields.append(HeaderField(APNsHeader.channelID, channel))
    case .delete(let channel):
      method = "DELETE"
      fields.append(HeaderField(APNsHeader.channelID, channel))
    case .list: path = "/1/apps/\(bundleID)/all-channels"
    }
    var batch = RequestBatchBuilder(template: RequestTemplate(method: method, fields: fields), body: body, capacity: 1)
    batch.append(id: 0, path: path)
    return batch.build()
  }

  /// Reads an answer of 2xx.
  fileprivate func reply(_ answer: SingleRequest.Reply) throws(ServiceRefusal) -> ChannelReply {
    guard (200..<300).contains(answer.status) else {
      let reason = APNsResponse(body: answer.body).reason
      throw ServiceRefusal(status: answer.status, reason: reason.isEmpty ? "HTTP \(answer.status)" : reason)
    }
    let json = (try? JSONValue(parsing: answer.body)) ?? .null  // an empty body, or none that is needed
    switch self {
    case .create:
      guard let channel = answer.fields[APNsHeader.channelID], ChannelID.problem(with: channel) == nil else {
        throw .unreadable(answer)
      }
      return .created(channel)
    case .read:
      guard let policy = json["message-storage-policy"]?.integer else { throw .unreadable(answer) }
      return .policy(ChannelPolicy(rawValue: Int(clamping: policy)))
    case .delete:
      guard answer.body.isEmpty || json.object != nil else { throw .unreadable(answer) }
      return .deleted
    case .list:
      guard let list = json["channels"]?.array else { throw .unreadable(answer) }
      return .channels(list.compactMap(\.string).filter { ChannelID.problem(with: $0) == nil })
    }
  }
}

extension ServiceRefusal {
  fileprivate static func unreadable(_ answer: SingleRequest.Reply) -> ServiceRefusal {
    ServiceRefusal(status: answer.status, reason: OwnReason.unreadableAnswer.rawValue)
  }
}
