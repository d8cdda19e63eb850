import Foundation
import HTTP2
import JSON
import Model

extension APNsService {
  /// Carries out a validated request about channels.
  func carryOut(_ call: ChannelCall) throws(APNsRejection) -> ServerResponse {
    switch call {
    case .create(let app, let policy):
      let id = try channels.create(policy, app: app, environment)
      return ServerResponse(status: 201, fields: [HeaderField(APNsHeader.channelID, id, indexing: .never)])
    case .read(let app, let id):
      let policy = try channels.find(id, app: app, environment).policy
      let json: JSONValue = [
        "message-storage-policy": .integer(Int64(policy.rawValue)), "push-type": "LiveActivity",
      ]
      return ServerResponse(
        status: 200, fields: [HeaderField("content-type", "application/json")], body: json.bytes)
    case .delete(let app, let id):
      try channels.delete(id, app: app, environment)
      return ServerResponse(status: 204)
    case .list(let app):
      let json: JSONValue = ["channels": .array(channels.list(app: app, environment).map(JSONValue.string))]
      return ServerResponse(
        status: 200, fields: [HeaderField("content-type", "application/json")], body: json.bytes)
    case .send(let push):
      let channel = try channels.find(push.channel, app: push.app, environment)
      // "With No Message Stored, the only allowed expiration is 0" (docs/protocols.md §1.8).
      if channel.policy == .storesNothing, push.expiration.timeIntervalSince1970 != 0 {
        throw APNsRejection("BadExpirationDate")
      }
      channels.accept(push.channel, app: push.app, environment)
      phones.deliver(push, to: channel, apnsID: UUID().uuidString, now: now())
      return ServerResponse(status: 200)
    }
  }
}
