package import Foundation
package import HTTP2
package import Model

/// The common part of all requests of one push.
package struct APNsRequest: Sendable {
  /// All headers except path, authorization and `apns-id`.
  package private(set) var headers: [HeaderField]
  /// The JSON for the device, without the badge if that is counted.
  package let payload: [UInt8]
  /// Whether it goes to a channel, not to devices.
  let isBroadcast: Bool
  /// The place of a counted badge; nil: all devices get the same.
  let gap: Int?

  /// - Parameter date: the time to live counts from it.
  package init(_ payload: APNsPayload, sentAt date: Date) {
    headers = payload.headers(sentAt: date).map { HeaderField($0.name, $0.value) }
    isBroadcast = payload.channel != nil
    guard payload.badge?.isRelative == true else {
      (self.payload, gap) = (payload.body, nil)
      return
    }
    let body = CountedBody { payload.body(badge: $0) }
    (self.payload, gap) = (body.bytes, body.gap)
  }

  /// The same for devices that were first handed over at `date`.
  func expiring(_ payload: APNsPayload, sentAt date: Date) -> APNsRequest {
    var request = self
    request.headers = payload.headers(sentAt: date).map { HeaderField($0.name, $0.value) }
    return request
  }

  /// Creates a request outside of any push.
  ///
  /// - Parameter headers: all except path, authorization and `apns-id`.
  package init(headers: [(name: String, value: String)], payload: [UInt8]) {
    self.headers = headers.map { HeaderField($0.name, $0.value) }
    isBroadcast = false
    (self.payload, gap) = (payload, nil)
  }

  /// `apns-id` is last, with a value for each device. Fields that are equal in the whole push may be indexed (Apple:
  /// path and authorization never, `apns-id` once).
  var template: RequestTemplate {
    RequestTemplate(
      fields: headers + [HeaderField("content-type", "application/json")],
      variableNames: [isBroadcast ? "apns-request-id" : "apns-id"])
  }
}

/// One push to many devices, ready to be sent.
package struct APNsBatch: Sendable {
  let requests: RequestBatch
}

/// Fills an ``APNsBatch``. A good size is a thousand to five thousand devices.
package struct APNsBatchBuilder: ~Copyable {
  private var requests: RequestBatchBuilder

  /// - Parameters:
  ///   - push: comes back with the results.
  ///   - notes: learns which devices' requests leave.
  ///   - keptAnswers: of so many devices, the first ones, the fields of a success are kept.
  package init(
    push: Int64, request: APNsRequest, capacity: Int = 1000, notes: (any DepartureNotes)? = nil, keptAnswers: Int = 0
  ) {
    requests = RequestBatchBuilder(
      template: request.template, tag: push, body: request.payload, gap: request.gap, capacity: capacity, notes: notes,
      keptAnswers: keptAnswers)
  }

  /// - Parameter badge: stands in the gap of a request with a counted badge.
  package mutating func append(device: Int64, token: DeviceToken, id: APNsID, badge: Int? = nil) {
    requests.append(
      id: device, pathPrefix: "/3/device/", hexadecimal: token.bytes, uuid: (id.high, id.low),
      body: badge.map { Array(String($0).utf8) })
  }

  /// The one request of a push to a channel (docs/protocols.md §1.8).
  mutating func append(device: Int64, channelOf app: String, id: APNsID) {
    requests.append(id: device, path: "/4/broadcasts/apps/\(app)", values: [id.description])
  }

  package consuming func build() -> APNsBatch { APNsBatch(requests: requests.build()) }
}
