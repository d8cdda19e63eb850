package import Foundation
package import HTTP2
package import Model

/// What is the same in all requests of one push.
package struct APNsRequest: Sendable {
  /// All headers but path, authorization and `apns-id`.
  package let headers: [HeaderField]
  /// The JSON that the device gets.
  package let payload: [UInt8]

  /// Creates a request.
  ///
  /// - Parameter date: the moment from which the time to live counts.
  package init(_ payload: APNsPayload, sentAt date: Date) {
    headers = payload.headers(sentAt: date).map { HeaderField($0.name, $0.value) }
    self.payload = payload.body
  }

  /// Creates a request that is no push of anybody's.
  ///
  /// - Parameter headers: all but path, authorization and `apns-id`.
  package init(headers: [(name: String, value: String)], payload: [UInt8]) {
    self.headers = headers.map { HeaderField($0.name, $0.value) }
    self.payload = payload
  }

  /// `apns-id` last, with a value for each device. What is the same in the whole push may be indexed (Apple: path and
  /// authorization never, `apns-id` once).
  var template: RequestTemplate {
    RequestTemplate(
      fields: headers + [HeaderField("content-type", "application/json")],
      variableNames: ["apns-id"])
  }
}

/// One push to many devices, ready to be sent.
package struct APNsBatch: Sendable {
  let requests: RequestBatch

  /// The push.
  package var push: Int64 { requests.tag }
  /// Number of devices.
  package var count: Int { requests.count }
}

/// Fills an ``APNsBatch``. A thousand to five thousand devices are a good size.
package struct APNsBatchBuilder: ~Copyable {
  private var requests: RequestBatchBuilder

  /// - Parameters:
  ///   - push: comes back with the results.
  ///   - capacity: how many devices to expect.
  ///   - notes: is told which devices' requests leave.
  package init(
    push: Int64, request: APNsRequest, capacity: Int = 1000, notes: (any DepartureNotes)? = nil
  ) {
    requests = RequestBatchBuilder(
      template: request.template, tag: push, body: request.payload, capacity: capacity, notes: notes)
  }

  /// Number of devices so far.
  package var count: Int { requests.count }

  /// Adds a device.
  package mutating func append(device: Int64, token: DeviceToken, id: APNsID) {
    requests.append(id: device, pathPrefix: "/3/device/", hexadecimal: token.bytes, uuid: (id.high, id.low))
  }

  /// The finished batch.
  package consuming func build() -> APNsBatch { APNsBatch(requests: requests.build()) }
}
