import HTTP2
import Model
import OpenSSL
import Reactor

/// Sends pushes to APNs with one credential, over as many connections as needed.
package final class APNsProvider: LinkedProvider {
  package let link: ServiceLink

  /// - Throws: `TLSError` if certificate, key or trust is unusable.
  init(_ credentials: APNsCredentials, endpoint: APNsEndpoint, _ tools: ProviderTools) throws(TLSError) {
    var tools = tools
    // APNs allows one stream until it has seen a valid token.
    tools.connections.connection.provesFirst = true
    var token: ProviderToken?
    if case .token(let key, let keyID, let teamID) = credentials {
      token = ProviderToken(key: key, keyID: keyID, teamID: teamID)
    }
    link = ServiceLink(
      APNsRules(), endpoint: try endpoint.endpoint(credentials, tools), authorization: token, tools: tools)
  }

  /// From any thread.
  package func submit(_ batch: APNsBatch) { link.submit(batch.requests) }
}

extension APNsProvider {
  package func prepare(_ push: ProviderPush) -> any PreparedPush {
    let payloads = push.draft.variants.map { APNsPayload($0, uid: push.uid, signature: push.signature) }
    return APNsPush(
      provider: self, push: push, badge: payloads[0].badge,
      requests: Variants(payloads.map { ($0, APNsRequest($0, sentAt: push.sentAt)) }))
  }

  /// A request to a device that does not exist: an accepted sender gets BadDeviceToken, others an error about the
  /// credential. It is not stored.
  package func probe(topic: String) {
    let type: PushType =
      topic.hasSuffix(".voip")
      ? .voip
      : topic.hasSuffix(".complication") ? .complication : AppName.isDeviceManagement(topic) ? .mdm : .background
    let request = APNsRequest(
      headers: [
        ("apns-topic", topic), ("apns-push-type", type.rawValue), ("apns-priority", type == .voip ? "10" : "5"),
        ("apns-expiration", "0"),
      ], payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
    var batch = APNsBatchBuilder(push: 0, request: request, capacity: 1)
    // All zeros: well-formed, and no device's token.
    let token = DeviceToken(bytes: [UInt8](repeating: 0, count: 32))
    batch.append(device: 0, token: token, id: APNsID(seed: UInt64.random(in: 0...UInt64.max), device: 0))
    submit(batch.build())
  }
}

/// A push for APNs: one request for each device.
private struct APNsPush: PreparedPush {
  let provider: APNsProvider
  let push: ProviderPush
  let badge: Badge?
  let requests: Variants<(payload: APNsPayload, request: APNsRequest)>
  let answers = AnswerBudget()

  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?) {
    push.send(to: devices, noting: notes) { first, devices, notes in
      requests.send(to: devices, noting: notes) { variant, devices, notes in
        send(variant.request.expiring(variant.payload, sentAt: first), devices, notes)
      }
    }
  }

  private func send(_ request: APNsRequest, _ devices: [ProviderDevice], _ notes: (any DepartureNotes)?) {
    var batch = APNsBatchBuilder(
      push: push.id, request: request, capacity: devices.count, notes: notes,
      keptAnswers: answers.take(atMost: devices.count))
    for device in devices {
      let id = APNsID(seed: push.seed, device: device.id)
      if request.isBroadcast {
        batch.append(device: device.id, channelOf: push.draft.app, id: id)
      } else {
        batch.append(
          device: device.id, token: device.token, id: id,
          badge: request.gap == nil ? nil : badge?.number(after: device.badge))
      }
    }
    provider.submit(batch.build())
  }
}
