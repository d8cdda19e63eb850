import JSON
import Model
import SQLite
import Store

/// One token of a legacy message, as given.
struct LegacyTarget: Sendable {
  private let isEmpty: Bool
  /// Nil: no service has such tokens.
  private let token: DeviceToken?
  /// The device's token now, if the app replaced the given one.
  private let successor: DeviceToken?

  /// What is sent to.
  var receiver: DeviceToken? { successor ?? token }

  init(_ text: String, _ database: Database, app: Int64) throws {
    isEmpty = text.isEmpty
    token = try? DeviceToken(parsing: text, platforms: Set(Platform.allCases))  // the result says so
    successor = try token.flatMap { try ReplacedToken.successor(database, of: $0, app: app) }
  }

  func result(_ database: Database, app: Int64, _ lots: LegacyLots, isDryRun: Bool) throws -> LegacyResult {
    guard let receiver, lots.refusals[receiver] == nil else { return result(lots) }
    let device = try Device.find(database, app: app, token: receiver)
    let canonical = successor == nil ? nil : device?.tokenText
    if let device {
      for push in lots.pushes {
        guard let delivery = try Delivery.find(database, push: push.id, device: device.id)?.delivery else { continue }
        let id = "0:\(push.id)%\(device.id)"
        switch delivery.outcome {
        case .accepted: return .sent(id, canonical: canonical, isPending: false)
        case .unknown: return .sent(id, canonical: canonical, isPending: true)
        case .failed, .deadToken, .skipped:
          let reason = delivery.reason ?? ""
          return .failed(LegacyRequest.Word(reason: reason), reason: reason)
        }
      }
      if device.state == .dead { return .failed(.notRegistered, reason: device.stateReason) }
      if device.state == .quarantined { return .failed(.invalidRegistration, reason: device.stateReason) }
    }
    if isDryRun { return .sent("fake_message_id", canonical: canonical, isPending: false) }
    return .sent("0:\(lots.pushes.first?.id ?? 0)%\(device?.id ?? 0)", canonical: canonical, isPending: true)
  }

  /// As far as it is known without a look at the outcomes.
  func result(_ lots: LegacyLots) -> LegacyResult {
    guard let receiver else { return .failed(isEmpty ? .missingRegistration : .invalidRegistration, reason: nil) }
    if let refusal = lots.refusals[receiver] { return .failed(refusal.word, reason: refusal.reason) }
    return .sent("0:\(lots.pushes.first?.id ?? 0)%0", canonical: successor?.text, isPending: true)
  }
}

/// A legacy message's pushes.
struct LegacyLots: Sendable {
  /// Tokens whose devices one push can reach, under the limits of one service.
  struct Place: Sendable, Hashable {
    let environment: Environment
    let reach: Reach

    /// - Parameter usual: the environment of a token that is not registered yet.
    init(_ database: Database, _ token: DeviceToken, app: App, usual: Environment) throws {
      if let device = try Device.find(database, app: app.id, token: token) {
        (environment, reach) = (device.environment, Reach(device.platform, device.provider))
      } else {
        let new = Registration(unregistered: token, platforms: Set(Platform.allCases), environment: usual)
        (environment, reach) = (usual, new.reach)
      }
    }
  }

  var pushes: [Push] = []
  /// Why a token was sent nothing.
  private(set) var refusals: [DeviceToken: LegacyRequest.Refused] = [:]

  mutating func refuse(_ tokens: [DeviceToken], _ refusal: LegacyRequest.Refused) {
    for token in tokens { refusals[token] = refusal }
  }
}

/// What stands in `results` for one token.
enum LegacyResult: Sendable {
  /// Accepted by the provider, or taken by Signalbox, which goes on with it. `canonical` is the token to use from now on.
  case sent(String, canonical: String?, isPending: Bool)
  /// The reason is Signalbox's own.
  case failed(LegacyRequest.Word, reason: String?)

  var isFailure: Bool { if case .failed = self { true } else { false } }
  var isPending: Bool { if case .sent(_, _, true) = self { true } else { false } }
  var isReplaced: Bool { if case .sent(_, _?, _) = self { true } else { false } }

  func write(to json: inout JSONWriter) {
    switch self {
    case .sent(let id, let canonical, _):
      json.member("message_id", id)
      if let canonical { json.member("registration_id", canonical) }
    case .failed(let word, let reason):
      json.member("error", word.rawValue)
      if let reason, !reason.isEmpty { json.member("reason", reason) }
    }
  }
}
