import Foundation
import JSON
import Model
import Store

@testable import Console
@testable import HTTP2
@testable import Providers
@testable import Simulator

/// JSON bodies of requests and answers, and files of devices.
extension FuzzTarget {
  static func reading(_ bytes: [UInt8], _ read: (JSONValue) throws -> Void) {
    guard let json = try? JSONValue(parsing: bytes) else { return }
    try? read(json)  // both endings are right
  }

  /// What is accepted can be written, and read again as the same.
  static func rewriting(_ bytes: [UInt8], _ read: (JSONValue) throws -> JSONValue) {
    guard let json = try? JSONValue(parsing: bytes), let written = try? read(json) else { return }
    guard let again = try? read(written) else { preconditionFailure("its own JSON is refused") }
    precondition(again == written, "reads its own JSON differently")
  }

  static func readJPush(_ bytes: [UInt8]) {
    reading(bytes) { json in
      _ = try? JPushScheduleFields(json, isNew: true)
      _ = try? JPushDeviceChange(json)
      _ = try JPushRequest(json, app: "com.example.app")
    }
  }

  /// What apps report of pushes, without a session.
  static func readReceipts(_ bytes: [UInt8]) {
    reading(bytes) { json in
      let report = try ReceiptReport(json)
      precondition(report.isValid.count == json["receipts"]?.array?.count, "a result for nothing")
      precondition(report.batch.items.count == report.isValid.count(where: { $0 }), "an entry was lost")
      precondition(report.batch.items.allSatisfy { $0.push.utf8.count <= 64 && $0.signature.utf8.count <= 64 })
    }
  }

  static func devices(
    _ pieces: [ArraySlice<UInt8>], _ format: DeviceImport.Format
  ) -> [Result<DeviceImport.Line, RejectedLine>] {
    var parser = DeviceLineParser(format: format, defaults: ["app": "com.example.app"])
    var found: [Result<DeviceImport.Line, RejectedLine>] = []
    for piece in pieces { found += parser.push(piece) }
    return found + parser.finish()
  }

  // MARK: FCM, simulated

  /// A message that is accepted is accepted again as it was understood.
  static func readFCMMessage(_ bytes: [UInt8]) {
    guard let (message, isDry) = try? Simulator.FCMMessage.read(bytes) else { return }
    precondition(message.size <= message.limit, "longer than allowed")
    precondition(!message.data.keys.contains(where: Simulator.FCMMessage.isReserved), "a reserved key")
    precondition((0...Simulator.FCMMessage.longestLife).contains(message.timeToLive), "an impossible life")
    let written: JSONValue = ["message": message.json, "validate_only": .bool(isDry)]
    guard let again = try? Simulator.FCMMessage.read(written.bytes) else {
      preconditionFailure("its own JSON is refused")
    }
    precondition(again.message == message && again.isDry == isDry, "reads its own JSON differently")
  }

  private static let fcm = FCMService(
    phones: PhoneBook(acceptsUnknownTokens: true), requests: RequestBook(), faults: FaultBox(), account: nil,
    now: { noon }, log: nil)

  /// Method and target in the first line, then the body: tokens, topics, and the legacy protocol.
  static func answerFCMCall(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let words = String(decoding: lines[0], as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
    let body = lines.count > 1 ? Array(lines[1]) : []
    let call = SimulatedCall(
      method: words.first ?? "", target: words.last ?? "", authorization: "key=secret", body: body)
    let reply = answer(to: call)
    precondition((200..<600).contains(reply.status), "no answer")
    guard reply.contentType.hasPrefix("application/json") else { return }
    guard let json = try? JSONValue(parsing: reply.body) else { preconditionFailure("writes no JSON") }
    if call.path.last == "send", let results = json["results"]?.array {
      let counts = (json["success"]?.integer ?? 0) + (json["failure"]?.integer ?? 0)
      precondition(counts == Int64(results.count), "counts something else")
    }
  }

  private static func answer(to call: SimulatedCall) -> SimulatedReply {
    // Behind an access token, which bytes at random do not have.
    guard call.path.count > 3, call.path[3] == "registrations" else { return fcm.course(of: call).1 }
    do throws(FCMError) { return try fcm.registrations(call) } catch { return SimulatedReply(error) }
  }

  // MARK: What services answer

  private static let statuses = [400, 401, 403, 404, 405, 408, 410, 413, 429, 500, 502, 503, 504, 302, 201, 999]

  /// One byte for the status, a line with the time that the service asks for, and the body; read as an answer of each
  /// service.
  static func readServiceAnswer(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let status = statuses[Int(first) % statuses.count]
    let lines = bytes.dropFirst().split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let time = String(decoding: lines.first ?? [], as: UTF8.self)
    let body = lines.count > 1 ? Array(lines[1]) : []
    let fields = HeaderList([("retry-after", time), ("x-rate-limit-reset", time), ("date", time)])
    let detail = Answer.Detail(fields: fields, body: body)
    _ = detail.clockLead(at: noon)
    let services: [any ServiceRules] = [FCMRules(), APNsRules(), JPushRules()]
    for rules in services {
      let reading = rules.reading(status, detail, now: noon)
      precondition(!reading.reason.isEmpty, "no reason")
      switch reading.result {
      case .retry(let cause):
        precondition(cause.status == status && cause.reason == reading.reason, "another cause")
        precondition(cause.retryAfter.map { (.zero ... .seconds(86_400)).contains($0) } ?? true, "an impossible wait")
      case .outcome(.rejected(let told, let reason, _)):
        precondition(told == status && reason == reading.reason, "another reason")
      case .outcome, .notSent: preconditionFailure("a refusal that refuses nothing")
      }
    }
    for reason in [FCMResponse(status: status, body: body).reason, AccessToken.reason(status, body)] {
      precondition(!reason.contains(where: \.isNewline) && reason.count <= 400, "a reason that is no line")
    }
    // The short way of reading APNs' bodies must say what the long one does.
    guard let json = try? JSONValue(parsing: body), json.object != nil else { return }
    let apns = APNsResponse(detail: detail, now: noon)
    precondition(apns.reason == json["reason"]?.string ?? "", "another reason of APNs")
    let since = json["timestamp"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    precondition(apns.tokenInvalidSince == since, "another time of APNs")
  }
}
