import Foundation
import JSON
import Model

/// Answers a request as APNs would, apart from unknown tokens and faults: a pure function of request, connection and
/// time. Only a missing `apns-id` is drawn at random.
///
/// Apple does not document the order of its checks, only that it "validates the request using either the provided
/// authentication token or your server's certificate", and then looks for the device (Sending notification requests to
/// APNs). So: the request line and the headers' form, the credential, the headers' values, the payload, and last the
/// form of the device token, whose existence is checked afterwards.
///
/// Requests about broadcast channels: ``judgeChannel(_:identity:ledger:now:)``.
struct APNsValidator: Sendable {
  let environment: Environment
  /// Signing keys of the developer account by key ID. Empty: every well-formed ES256 token is accepted, because its
  /// signature cannot be checked without a key.
  var knownKeys: [String: APNsKey]
  /// Apps of the developer account: bundle IDs, which allow all their suffixes, or whole topics. Nil: any topic.
  var knownTopics: Set<String>?

  /// - Parameters:
  ///   - ledger: of the request's connection.
  ///   - now: the server's time.
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

  /// The push type of a request without one, derived from the payload as iOS does.
  private static func pushType(of payload: JSONValue) -> PushType {
    guard let aps = payload["aps"], aps["content-available"]?.integer == 1, aps["alert"] == nil,
      aps["badge"] == nil, aps["sound"] == nil
    else { return .alert }
    return .background
  }
}

/// One request as the simulated APNs sees it, free of I/O.
struct APNsCall: Sendable {
  var method: String
  /// `:path`, with the query.
  var path: String
  /// Names in lower case, repetitions kept. Pseudo-fields are ignored.
  var headers: [(name: String, value: String)]
  /// The payload, cut off at the server's limit, which exceeds APNs' (5120 bytes).
  var body: [UInt8]
  var bodyByteCount: Int
}

/// A refusal by the simulated APNs. It never ends the connection: Apple's GOAWAY reasons concern the connection, not a
/// request (`IdleTimeout`, `Shutdown`).
struct APNsRejection: Error, Sendable, Hashable {
  var status: Int
  /// Apple's code, such as `BadDeviceToken`.
  var reason: String
  /// The answer's `apns-id`. The validator always sets it, given or made, because clients hang without one
  /// (docs/protocols.md §1.7).
  var apnsID: String?
  /// When the token became invalid; only with status 410. The answer states it in milliseconds.
  var timestamp: Date?

  /// - Parameters:
  ///   - reason: a code of APNs in ``Reason/table``, which also determines the status.
  ///   - status: for codes outside of the table; otherwise 400.
  init(_ reason: String, status: Int? = nil, apnsID: String? = nil, timestamp: Date? = nil) {
    self.status = status ?? Reason.of(reason).status ?? 400
    (self.reason, self.apnsID, self.timestamp) = (reason, apnsID, timestamp)
  }
}

/// A request that passed validation; whether the token exists is decided by the phone book.
struct AcceptedPush: Sendable, Hashable {
  var token: DeviceToken
  /// As given, or made, in upper case as APNs makes them.
  var apnsID: String
  /// As given, or the certificate's only one.
  var topic: String
  /// As given, or derived from topic and payload.
  var pushType: PushType
  var priority: Int
  /// The end of APNs' attempts; 1970-01-01: one attempt, not stored. Nil: APNs' default, at most 30 days.
  var expiration: Date?
  /// Later pushes with the same ID replace earlier ones.
  var collapseID: String?
  var payload: JSONValue
  /// The payload as received.
  var rawPayload: [UInt8]
  /// The push's ID from the console (``APNsPayload/idKey``), if the payload has it.
  var uniqueID: String?
  /// Whether a signed token authorised it, not a certificate.
  var usedProviderToken: Bool
  /// The broadcast channel that it was sent to; nil: it was sent to the token.
  var channel: String?

  /// Whether APNs tries once and stores nothing.
  var isOnceOnly: Bool { expiration?.timeIntervalSince1970 == 0 }
}
