/// An error code of JPush's REST API v3 (docs/protocols.md §4.3), as the API compatible with it answers.
package enum JPushCode: Int, Sendable, CaseIterable {
  case internalError = 1000
  case postOnly = 1001
  case missing = 1002
  case invalid = 1003
  case authentication = 1004
  case tooLarge = 1005
  case unknownKey = 1009
  case noTarget = 1011
  case timeout = 1030
  case tooOften = 2002
  /// What JPush sells to VIP customers only.
  case paidFeature = 2006
  case noRight = 2007
  case deviceInternal = 7000
  /// No key pair at all.
  case deviceKeyMissing = 7001
  case deviceInvalid = 7002
  case deviceAuthentication = 7004
  case devicePartlyInvalid = 7013
  case aliasFull = 7015
  case deviceBusy = 7030
  case reportInternal = 10
  case reportAuthentication = 3001
  case reportUnit = 3004
  case reportSpan = 3005
  case scheduleInvalid = 8100
  case scheduleAuthentication = 8101
  case scheduleMissing = 8104
  case scheduleInternal = 8200
  case scheduleTimeout = 8203

  /// The HTTP status.
  package var status: Int {
    switch self {
    case .missing, .invalid, .tooLarge, .unknownKey, .noTarget, .deviceInvalid, .devicePartlyInvalid, .aliasFull,
      .reportUnit, .reportSpan, .scheduleInvalid:
      400
    case .authentication, .deviceKeyMissing, .deviceAuthentication, .reportAuthentication, .scheduleAuthentication: 401
    case .paidFeature, .noRight: 403
    case .scheduleMissing: 404
    case .postOnly: 405
    case .tooOften: 429
    case .internalError, .deviceInternal, .reportInternal, .scheduleInternal: 500
    case .timeout, .deviceBusy, .scheduleTimeout: 503
    }
  }
}

/// A refusal in JPush's form: `{"error":{"code","message"}}`.
package struct JPushError: Error, Sendable, Hashable {
  package let code: JPushCode
  /// What is wrong, and where. Never a secret.
  package let message: String
  /// The path of what is wrong, such as `options.time_to_live`; empty: no single field.
  package let field: String

  package init(_ code: JPushCode, _ message: String, field: String = "") {
    (self.code, self.message, self.field) = (code, message, field)
  }

  /// Device and schedule calls have one code of their own for everything that is wrong with their input.
  package func answered(by family: JPushFamily) -> JPushError {
    switch code {
    case .missing, .invalid, .tooLarge, .unknownKey, .paidFeature, .noRight:
      family == .push || family == .report ? self : JPushError(family.invalid, message)
    default: self
    }
  }
}

/// A part of JPush's REST API, with a limit and codes of its own.
package enum JPushFamily: String, Sendable, CaseIterable {
  case push, device, report, schedule

  /// The part that an address belongs to; nil: none of JPush's. What JPush does not have counts as push.
  package init?(path: String) {
    let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst()
    guard let version = parts.first, version == "v3" || version == "v1" else { return nil }
    let name = parts.dropFirst().first?.prefix { $0 != "/" } ?? ""
    self =
      switch name {
      case "devices", "aliases", "tags": .device
      case "received", "status", "messages", "users": .report
      case "schedules": .schedule
      default: .push
      }
  }

  /// Calls of one app in a minute (docs/protocols.md §4.3).
  package var quota: Int {
    switch self {
    case .push, .device: 600
    case .report: 2400
    case .schedule: 100
    }
  }

  /// The code for input that is not as it must be.
  package var invalid: JPushCode {
    switch self {
    case .push, .report: .invalid
    case .device: .deviceInvalid
    case .schedule: .scheduleInvalid
    }
  }

  package var authentication: JPushCode {
    switch self {
    case .push: .authentication
    case .device: .deviceAuthentication
    case .report: .reportAuthentication
    case .schedule: .scheduleAuthentication
    }
  }

  /// The refusal of a call. Device calls tell a missing key pair from a wrong one.
  package func unauthorized(hasKeys: Bool) -> JPushError {
    JPushError(
      self == .device && !hasKeys ? .deviceKeyMissing : authentication,
      self == .push ? "Authen failed" : "Basic authentication failed")
  }

  /// The code for an HTTP status that no call chose: of the router, or of a broken database.
  package func code(status: Int) -> JPushCode {
    switch status {
    case 401: return authentication
    case 404 where self == .schedule: return .scheduleMissing
    case 405 where self == .push: return .postOnly
    case 413 where self == .push: return .tooLarge
    case 429: return .tooOften
    case 500...:
      let isBusy = status == 503
      return switch self {
      case .push: isBusy ? .timeout : .internalError
      case .device: isBusy ? .deviceBusy : .deviceInternal
      case .report: .reportInternal
      case .schedule: isBusy ? .scheduleTimeout : .scheduleInternal
      }
    default: return invalid
    }
  }
}
