public import Foundation
import OpenSSL
public import Push

struct APNsCall: Sendable {
  var method: String
  var path: String
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  var bodyByteCount: Int
}

struct APNsConnectionIdentity: Sendable {
  let certificate: Certificate?
  init(certificate: Certificate?) { self.certificate = certificate }
}

struct APNsLedger: Sendable {
  init() {}
}

public struct AcceptedPush: Sendable {
  public var token: DeviceToken
  public var apnsID: String
  public var topic: String
  public var pushType: String
  public var priority: Int
  public var expiration: Date?
  public var collapseID: String?
  public var payload: JSONValue
  public var rawPayload: [UInt8]
  public var uniqueID: String?
}

public struct APNsRejection: Error {
  public var status: Int
  public var reason: String
  public var apnsID: String?
  public var timestamp: Date?
  public var closesConnection: Bool
}

struct APNsValidator: Sendable {
  let environment: Push.Environment
  init(environment: Push.Environment) { self.environment = environment }

  func judge(
    _ call: APNsCall, identity: APNsConnectionIdentity, ledger: inout APNsLedger, now: Date
  ) -> Result<AcceptedPush, APNsRejection> {
    func header(_ name: String) -> String? { call.headers.first { $0.name == name }?.value }
    func reject(_ status: Int, _ reason: String) -> Result<AcceptedPush, APNsRejection> {
      .failure(
        APNsRejection(
          status: status, reason: reason, apnsID: header("apns-id"), timestamp: nil, closesConnection: false))
    }
    guard identity.certificate != nil || header("authorization") != nil else {
      return reject(403, "MissingProviderToken")
    }
    do {
      return .success(
        AcceptedPush(
          token: try DeviceToken(parsing: String(call.path.dropFirst("/3/device/".count)), platform: .ios),
          apnsID: header("apns-id") ?? UUID().uuidString, topic: header("apns-topic") ?? "",
          pushType: header("apns-push-type") ?? "alert", priority: header("apns-priority").flatMap(Int.init) ?? 10,
          expiration: header("apns-expiration").flatMap(Double.init).map(Date.init(timeIntervalSince1970:)),
          collapseID: header("apns-collapse-id"), payload: try JSONValue(parsing: Data(call.body)),
          rawPayload: call.body, uniqueID: environment == .development ? UUID().uuidString : nil))
    } catch {
      return reject(400, "BadDeviceToken")
    }
  }
}
