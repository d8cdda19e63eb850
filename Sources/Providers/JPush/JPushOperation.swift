import Foundation
import HTTP2
package import JSON
package import Model

/// A call of JPush's REST API besides sending (docs/protocols.md §4.4 to §4.6).
package enum JPushOperation: Sendable, Hashable {
  /// Alias, tags and mobile number of a registration ID.
  case device(String)
  /// Alias and tags of a registration ID; see ``JPushDevice/Change``.
  case changeDevice(String, JPushDevice.Change)
  /// The registration IDs of an alias.
  case alias(String)
  /// Takes an alias from all its devices.
  case removeAlias(String)
  case tags
  /// Whether a registration ID has a tag.
  case isTagged(String, device: String)
  /// Gives a tag to registration IDs, and takes it from others; at most 1000 each.
  case changeTag(String, added: [String], removed: [String])
  /// Takes a tag from all its devices.
  case removeTag(String)
  /// Counted from 1, with 50 schedules each.
  case schedules(page: Int)
  case removeSchedule(String)
  /// What became of at most 100 messages.
  case results([String])

  private var request: (method: String, path: String, body: JSONValue?) {
    switch self {
    case .device(let id): ("GET", "/v3/devices/\(Self.escaped(id))", nil)
    case .changeDevice(let id, let change): ("POST", "/v3/devices/\(Self.escaped(id))", change.json)
    case .alias(let name): ("GET", "/v3/aliases/\(Self.escaped(name))", nil)
    case .removeAlias(let name): ("DELETE", "/v3/aliases/\(Self.escaped(name))", nil)
    case .tags: ("GET", "/v3/tags/", nil)
    case .isTagged(let tag, let id): ("GET", "/v3/tags/\(Self.escaped(tag))/registration_ids/\(Self.escaped(id))", nil)
    case .changeTag(let tag, let added, let removed):
      ("POST", "/v3/tags/\(Self.escaped(tag))", ["registration_ids": JPushDevice.Change.lists(added, removed)])
    case .removeTag(let tag): ("DELETE", "/v3/tags/\(Self.escaped(tag))", nil)
    case .schedules(let page): ("GET", "/v3/schedules?page=\(page)", nil)
    case .removeSchedule(let id): ("DELETE", "/v3/schedules/\(Self.escaped(id))", nil)
    case .results(let ids): ("GET", "/v3/received/detail?msg_ids=\(ids.joined(separator: "%2C"))", nil)
    }
  }

  fileprivate var family: JPushFamily { JPushFamily(path: request.path) ?? .push }

  fileprivate func batch(_ authorization: String) -> RequestBatch {
    let (method, path, body) = request
    var fields = [HeaderField("authorization", authorization, indexing: .never)]
    if body != nil { fields.append(HeaderField("content-type", "application/json")) }
    var batch = RequestBatchBuilder(template: RequestTemplate(method: method, fields: fields), capacity: 1)
    if let body { batch.append(id: 0, path: path, body: body.bytes) } else { batch.append(id: 0, path: path) }
    return batch.build()
  }

  /// A segment of a path (RFC 3986 §3.3).
  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(
      withAllowedCharacters: CharacterSet(
        charactersIn: "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) ?? ""
  }
}

extension JPushMaker {
  /// Makes one call over a connection of its own that is closed afterwards.
  ///
  /// - Returns: JPush's answer; null for an empty one, which JPush gives to changes.
  /// - Throws: ``ServiceRefusal``, also if there is no answer within 20 seconds; an error about the account, with a text
  ///   for people.
  package func ask(
    _ operation: JPushOperation, _ account: ProviderAccount, _ tools: ProviderTools
  ) async throws -> JSONValue {
    let authorization = BasicAuthorization.value(try Self.keys(account))
    let endpoint = try JPushEndpoint(account.endpoint).endpoint(operation.family, tools)
    let reply = try await SingleRequest().send(operation.batch(authorization), to: endpoint, tools)
    guard reply.status == 200 else {
      let response = JPushResponse(status: reply.status, body: reply.body)
      throw ServiceRefusal(status: reply.status, reason: response.reason)
    }
    guard !reply.body.isEmpty else { return .null }
    do { return try JSONValue(parsing: reply.body) } catch {
      throw ServiceRefusal(status: reply.status, reason: OwnReason.unreadableAnswer.rawValue)
    }
  }
}
