import JSON
import Model

/// A refusal by the simulated FCM, with Google's words (docs/protocols.md §3.2).
struct FCMError: Error, Sendable, Hashable {
  /// HTTP.
  var status: Int
  var message: String
  var details: [Detail] = []
  /// Seconds.
  var retryAfter: Int?

  enum Detail: Sendable, Hashable {
    /// FCM's own code, such as `UNREGISTERED`.
    case fcm(String)
    /// APNs' answer to a message that FCM passed on.
    case apns(status: Int, reason: String)
    case badRequest([FCMField.Violation])
    case quota
    /// Why an access token is refused, such as `ACCESS_TOKEN_EXPIRED`.
    case access(String)
  }

  static let unregistered = FCMError(
    status: 404, message: "Requested entity was not found.", details: [.fcm("UNREGISTERED")])
  static let badToken = FCMError(
    status: 400, message: "The registration token is not a valid FCM registration token",
    details: [.fcm("INVALID_ARGUMENT")])
  /// The service account has no rights in this project.
  static func otherProject(_ project: String) -> FCMError {
    FCMError(
      status: 403,
      message: "Permission 'cloudmessaging.messages.create' denied on resource "
        + "'//cloudresourcemanager.googleapis.com/projects/\(project.prefix(100))' (or it may not exist).",
      details: [.access("IAM_PERMISSION_DENIED")])
  }
  static let unknownMethod = FCMError(status: 404, message: "Method not found.")

  static func badField(_ violations: [FCMField.Violation]) -> FCMError {
    FCMError(
      status: 400, message: violations.map(\.description).joined(separator: "\n"), details: [.badRequest(violations)])
  }

  static func badField(_ field: String, _ description: String) -> FCMError {
    badField([FCMField.Violation(field: field, description: description)])
  }

  /// 401 of Google's front end, before FCM sees the request.
  ///
  /// - Parameter reason: of `google.rpc.ErrorInfo`; clients read it from there.
  static func unauthenticated(_ reason: String) -> FCMError {
    let isMissing = reason == "CREDENTIALS_MISSING"
    return FCMError(
      status: 401,
      message: (isMissing
        ? "Request is missing required authentication credential."
        : "Request had invalid authentication credentials.")
        + " Expected OAuth 2 access token, login cookie or other valid authentication credential. "
        + "See https://developers.google.com/identity/sign-in/web/devconsole-project.",
      details: [.access(reason)])
  }

  /// An error that a person or a test asked for.
  ///
  /// - Parameter code: FCM's, or ``expiredToken``.
  static func simulated(_ code: String, status: Int, retryAfter: Int?) -> FCMError {
    if code == expiredToken { return unauthenticated(code) }
    var error = FCMError(status: status, message: "Error encountered.", details: [.fcm(code)])
    switch FCMCode(rawValue: code) {
    case .unregistered: error.message = unregistered.message
    case .invalidArgument: error.message = badToken.message
    case .senderMismatch: error.message = "SenderId mismatch"
    case .quotaExceeded:
      error.message = "Resource has been exhausted (e.g. check quota)."
      error.details.append(.quota)
    case .unavailable: error.message = "The service is currently unavailable."
    case .internal: error.message = "Internal error encountered."
    case .thirdPartyAuthError:
      error.message = "Auth error from APNS or Web Push Service"
      error.details.append(.apns(status: 403, reason: APNsCode.invalidProviderToken.rawValue))
    default: break
    }
    if status == 429 || status == 503 { error.retryAfter = retryAfter }
    return error
  }

  /// The reason for which clients fetch a new access token and send again.
  static let expiredToken = "ACCESS_TOKEN_EXPIRED"

  /// The code for counters: FCM's, else why the access token is refused, else the status word.
  var code: String {
    for detail in details {
      switch detail {
      case .fcm(let code), .access(let code): return code
      case .apns, .badRequest, .quota: continue
      }
    }
    return word
  }

  /// `google.rpc.Code` of the HTTP status.
  private var word: String {
    switch status {
    case 400: "INVALID_ARGUMENT"
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 409: "ALREADY_EXISTS"
    case 429: "RESOURCE_EXHAUSTED"
    case 500: "INTERNAL"
    case 503: "UNAVAILABLE"
    case 504: "DEADLINE_EXCEEDED"
    default: "UNKNOWN"
    }
  }

  var json: JSONValue {
    var error: [String: JSONValue] = [
      "code": .integer(Int64(status)), "message": .string(message), "status": .string(word),
    ]
    if !details.isEmpty { error["details"] = .array(details.map(\.json)) }
    return ["error": .object(error)]
  }
}

extension FCMError.Detail {
  fileprivate var json: JSONValue {
    switch self {
    case .fcm(let code):
      return ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)]
    case .apns(let status, let reason):
      return [
        "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": .integer(Int64(status)),
        "reason": .string(reason),
      ]
    case .badRequest(let violations):
      let list = violations.map { violation -> JSONValue in
        ["field": .string(violation.field), "description": .string(violation.description)]
      }
      return ["@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": .array(list)]
    case .quota:
      return [
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [["subject": "fcm.googleapis.com", "description": "Message rate exceeded."]],
      ]
    case .access(let reason):
      return [
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason), "domain": "googleapis.com",
        "metadata": ["service": "fcm.googleapis.com"],
      ]
    }
  }
}
