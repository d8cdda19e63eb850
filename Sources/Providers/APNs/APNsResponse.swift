import Foundation
import HTTP2
import JSON
import Model

/// One answer of APNs, read.
struct APNsResponse: Sendable, Hashable {
  let status: Int
  /// Empty if the answer gave none.
  let reason: String
  /// Of a 410: when APNs learnt that the token is no longer valid.
  var tokenInvalidSince: Date?
  var retryAfter: Duration?

  /// - Parameter now: what a date in `Retry-After` is counted from.
  init(status: Int, detail: Answer.Detail?, now: Date) {
    self.status = status
    guard let detail else {
      reason = ""
      return
    }
    let (reason, timestamp) = Self.parse(detail.body)
    self.reason = reason
    tokenInvalidSince = timestamp.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    retryAfter = detail.fields["retry-after"].flatMap { RetryAfter.wait($0, now: now) }
  }

  /// What becomes of the device, where nothing else has to be done first.
  var result: SendResult {
    if status == 200 { return .outcome(.accepted) }
    let words = reason.isEmpty ? "HTTP \(status)" : reason
    switch APNsReason(status: status, reason: reason) {
    case .retry: return .retry(RetryCause(status: status, reason: words, retryAfter: retryAfter))
    case .final, .renewToken, .stop:
      return .outcome(.rejected(status: status, reason: words, tokenInvalidSince: tokenInvalidSince))
    }
  }

  /// Reads `{"reason":"…"}` and `{"reason":"…","timestamp":…}`.
  ///
  /// A broadcast can bring hundreds of thousands of them: the usual forms are read without a JSON parser.
  private static func parse(_ body: [UInt8]) -> (reason: String, timestamp: Int64?) {
    let start = Array(#"{"reason":""#.utf8)
    if body.starts(with: start), let quote = body[start.count...].firstIndex(of: UInt8(ascii: "\"")),
      !body[start.count..<quote].contains(UInt8(ascii: "\\"))
    {
      let reason = String(decoding: body[start.count..<quote], as: UTF8.self)
      let rest = body[(quote + 1)...]
      if rest.elementsEqual("}".utf8) { return (reason, nil) }
      let key = Array(#","timestamp":"#.utf8)
      if rest.starts(with: key), rest.last == UInt8(ascii: "}"),
        let number = Int64(String(decoding: rest.dropFirst(key.count).dropLast(), as: UTF8.self))
      {
        return (reason, number)
      }
    }
    // What is no JSON has no reason; the status says enough.
    guard let value = try? JSONValue(parsing: Data(body)) else { return ("", nil) }
    return (value["reason"]?.string ?? "", value["timestamp"]?.integer)
  }
}
