import Foundation
import HTTP2
import JSON
import Model
import Text

/// The handling of FCM's answers (docs/protocols.md §3.2).
struct FCMRules: ServiceRules {
  /// A token that is gone (404) or of another project (403) is no fault of the sender; a 429 and wrong requests are.
  func isRefusal(_ status: Int) -> Bool { status == 400 || status == 429 }

  /// A 403 may be about the token's project or about the service account.
  func provesCredential(_ status: Int) -> Bool { status == 400 || status == 429 }

  /// FCM names what it accepts.
  func lack(in detail: Answer.Detail?) -> String? {
    let body = detail?.body ?? []
    if Self.isName(body) { return nil }
    let answer = (try? JSONValue(parsing: body)) ?? .null  // of somebody else
    return answer["error"] == nil && answer["name"]?.string?.isEmpty == false ? nil : "without a message name"
  }

  /// Whether a body is `{"name":"…"}` and nothing else: the usual form, read without a JSON parser.
  private static func isName(_ body: [UInt8]) -> Bool {
    var rest = body[...]
    func skip(_ text: StaticString) -> Bool {
      rest = rest.drop { $0 == 32 || (9...13).contains($0) }
      let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      guard rest.starts(with: bytes) else { return false }
      rest = rest.dropFirst(bytes.count)
      return true
    }
    guard skip("{"), skip("\"name\""), skip(":"), skip("\"") else { return false }
    guard let end = rest.firstIndex(of: UInt8(ascii: "\"")), end > rest.startIndex,
      !rest[..<end].contains(UInt8(ascii: "\\"))
    else { return false }
    rest = rest[(end + 1)...]
    return skip("}") && (rest.allSatisfy { $0 == 32 || (9...13).contains($0) })
  }

  /// As `projects/shop-1a2b3/messages/0:1500415314455276%31bd1c9631bd1c96`.
  func name(ofMessage body: [UInt8]) -> String? {
    let answer = try? JSONValue(parsing: body)  // nil: nothing to keep
    return answer?["name"]?.string?.singleLine
  }

  func reading(_ status: Int, _ detail: Answer.Detail?, now: Date) -> AnswerReading {
    let response = FCMResponse(status: status, body: detail?.body ?? [])
    let reason = response.reason
    let outcome = SendResult.outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil))
    switch FCMCode(rawValue: response.code) {
    case .unauthenticated: return AnswerReading(consequence: .renews, result: outcome, reason: reason)
    case .permissionDenied:
      return AnswerReading(consequence: .stops, result: outcome, reason: reason)
    default: break
    }
    guard status == 429 || status >= 500 else {
      return AnswerReading(consequence: .none, result: outcome, reason: reason)
    }
    let wait = detail?.fields["retry-after"].flatMap { RetryAfter.wait($0, now: now) }
    let cause = RetryCause(status: status, reason: reason, retryAfter: wait)
    return AnswerReading(consequence: .none, result: .retry(cause), reason: reason)
  }
}

/// A parsed error of FCM.
struct FCMResponse: Sendable, Hashable {
  /// One of ``FCMCode``, another code of Google's, or the status.
  let code: String
  /// The field, or Google's closer reason; nil: none.
  let remark: String?

  /// `BadRequest (message.android.ttl)`.
  var reason: String { remark.map { "\(code) (\($0))" } ?? code }

  init(status: Int, body: [UInt8]) {
    // A body that is not JSON carries no code; fall back to the status.
    let error = (try? JSONValue(parsing: body))?["error"] ?? .null
    let message = error["message"]?.string ?? ""
    var (fcm, info, field, isGone) = (nil as String?, nil as String?, nil as String?, false)
    for detail in error["details"]?.array ?? [] {
      let type = detail["@type"]?.string ?? ""
      if type.hasSuffix("FcmError") {
        fcm = detail["errorCode"]?.string
      } else if type.hasSuffix("ApnsError") {
        isGone =
          detail["reason"]?.string.flatMap(APNsCode.init) == .unregistered
          || detail["statusCode"]?.integer == 410
      } else if type.hasSuffix("BadRequest") {
        field = detail["fieldViolations"]?.array?.first?["field"]?.string
      } else if type.hasSuffix("ErrorInfo") {
        info = detail["reason"]?.string
      }
    }
    let known = fcm == "UNSPECIFIED_ERROR" ? nil : Self.word(fcm)
    let word = known ?? Self.code(status, Self.word(error["status"]?.string), message)
    switch FCMCode(rawValue: word) {
    case .invalidArgument where isGone: (code, remark) = (FCMCode.unregistered.rawValue, nil)
    // The same code is about the token or about the message, for instance its size.
    case .invalidArgument:
      let isToken = field.map { $0 == "message.token" } ?? message.lowercased().contains("registration token")
      code = (isToken ? FCMCode.invalidArgument : .badRequest).rawValue
      remark = isToken ? nil : (field ?? (message.isEmpty ? nil : message)).map(Self.shortened)
    case .permissionDenied, .unauthenticated: (code, remark) = (word, info.map(Self.shortened))
    default: (code, remark) = (word, nil)
    }
  }

  /// The code of an error without FCM's own.
  private static func code(_ status: Int, _ word: String?, _ message: String) -> String {
    let code: FCMCode? =
      switch status {
      case 400: .invalidArgument
      case 401: .unauthenticated
      case 403: message.hasPrefix("SenderId mismatch") ? .senderMismatch : .permissionDenied
      case 404: .notFound
      case 429: .quotaExceeded
      case 500: .internal
      case 501...599: .unavailable
      default: nil
      }
    return code?.rawValue ?? word ?? "HTTP \(status)"
  }

  /// Nil for an empty word.
  private static func word(_ text: String?) -> String? { text.map(shortened).flatMap { $0.isEmpty ? nil : $0 } }

  private static func shortened(_ text: String) -> String { text.singleLine.withoutFullStop.abbreviated(to: 80) }
}
