import Foundation
import JSON
import Model

/// Says of a request what APNs would say, as far as that needs neither device tokens nor bad luck: a pure function of
/// the request, the connection and the time. Only an `apns-id` that is missing is drawn at random.
///
/// Apple does not document the order of its checks, only that it "validates the request using either the provided
/// authentication token or your server's certificate", and then looks for the device (Sending notification requests to
/// APNs). So: the request line and its headers' form, the credential, the values of the headers, the payload, and last
/// the form of the device token, as whether it exists comes after this.
///
/// Broadcast channels are not simulated: their path is BadPath.
struct APNsValidator: Sendable {
  /// Which of Apple's two servers this is.
  let environment: Environment
  /// The signing keys of the developer account, by key id. Empty: every ES256 token of the right form is accepted,
  /// because without a key nobody can check its signature.
  var knownKeys: [String: APNsKey]
  /// The apps of the developer account: bundle ids, which open all their suffixes, or whole topics. Nil: any topic.
  var knownTopics: Set<String>?

  /// Creates a judge.
  init(environment: Environment, knownKeys: [String: APNsKey] = [:], knownTopics: Set<String>? = nil) {
    self.environment = environment
    self.knownKeys = knownKeys
    self.knownTopics = knownTopics
  }

  /// Judges one request.
  ///
  /// - Parameters:
  ///   - ledger: of the connection on which it came.
  ///   - now: what the server's clock says.
  func judge(
    _ call: APNsCall, identity: APNsConnectionIdentity, ledger: inout APNsLedger, now: Date
  ) -> Result<AcceptedPush, APNsRejection> {
    let fields = APNsFields(call.headers)
    let id = fields.wellFormedID ?? UUID().uuidString
    do throws(APNsRejection) {
      return .success(try accept(call, fields, id: id, identity, &ledger, now))
    } catch {
      var rejection = error
      rejection.apnsID = id
      return .failure(rejection)
    }
  }

  private func accept(
    _ call: APNsCall, _ fields: APNsFields, id: String, _ identity: APNsConnectionIdentity,
    _ ledger: inout APNsLedger, _ now: Date
  ) throws(APNsRejection) -> AcceptedPush {
    guard call.method == "POST" else { throw APNsRejection("MethodNotAllowed") }
    let tokenText = try deviceToken(inPath: call.path)
    if fields.hasRepeats { throw APNsRejection("DuplicateHeaders") }
    if fields.id != nil, fields.wellFormedID == nil { throw APNsRejection("BadMessageId") }

    let credential = try credential(fields, identity, &ledger, now)
    let expiration = try expiration(fields)
    let statedType = try pushType(fields)
    let priority = try priority(fields, statedType)
    let topic = try topic(fields, statedType, credential, &ledger)
    if let id = fields.collapseID, id.utf8.count > PushLimits.collapseID { throw APNsRejection("BadCollapseId") }

    let payload = try payload(call, statedType ?? topic.suffixType ?? .alert, &ledger)
    guard let bytes = HexDigit.bytes(tokenText), DeviceToken.hexadecimalDigits.contains(bytes.count * 2) else {
      throw APNsRejection("BadDeviceToken")
    }
    return AcceptedPush(
      token: DeviceToken(bytes: bytes), apnsID: id, topic: topic.name,
      pushType: statedType ?? topic.suffixType ?? Self.pushType(of: payload), priority: priority,
      expiration: expiration, collapseID: fields.collapseID, payload: payload, rawPayload: call.body,
      uniqueID: payload[APNsPayload.idKey]?.string, usedProviderToken: credential.isProviderToken)
  }

  /// `/3/device/<hexadecimal digits>`.
  private func deviceToken(inPath path: String) throws(APNsRejection) -> Substring.UTF8View {
    let prefix = "/3/device".utf8
    guard path.utf8.starts(with: prefix) else { throw APNsRejection("BadPath") }
    let rest = path.utf8.dropFirst(prefix.count)
    guard let first = rest.first else { throw APNsRejection("MissingDeviceToken") }
    let token = rest.dropFirst()
    guard first == UInt8(ascii: "/"), !token.contains(UInt8(ascii: "/")) else { throw APNsRejection("BadPath") }
    if token.isEmpty { throw APNsRejection("MissingDeviceToken") }
    return token
  }

  /// What was meant by a request without a push type: iOS goes by the payload then.
  private static func pushType(of payload: JSONValue) -> PushType {
    guard let aps = payload["aps"], aps["content-available"]?.integer == 1, aps["alert"] == nil,
      aps["badge"] == nil, aps["sound"] == nil
    else { return .alert }
    return .background
  }
}
