import Model
import Simulator

/// The one fault that the form sets; the simulator knows more.
struct FaultChoice {
  enum Kind: String, CaseIterable {
    case none
    case tooMany = "429"
    case internalError = "500"
    case unavailable = "503"
    case unregistered = "410"
    case badToken = "fcm_400"
    case thirdParty = "fcm_401"
    case sender = "fcm_403"
    case noToken = "fcm_404"
    case quota = "fcm_429"
    case fcmInternal = "fcm_500"
    case fcmUnavailable = "fcm_503"
    case jpushKeys = "jpush_401"
    case jpushNobody = "jpush_400"
    case jpushQuota = "jpush_429"
    case jpushInternal = "jpush_500"
    case slow
    case goAway = "goaway"
    case cut
  }

  /// The faults that a server can have, in the order of the form.
  static func kinds(of server: SimulatedServer) -> [Kind] {
    let own = answers(of: server).map(\.kind)
    let others = (apns + fcm + jpush).map(\.kind).filter { !own.contains($0) }
    return Kind.allCases.filter { !others.contains($0) }
  }

  let kind: Kind
  let count: Int?

  private typealias Answer = (kind: Kind, status: Int, reason: String)

  private static let apns: [Answer] = [
    (.tooMany, 429, "TooManyRequests"), (.internalError, 500, "InternalServerError"),
    (.unavailable, 503, "ServiceUnavailable"), (.unregistered, 410, "Unregistered"),
  ]

  private static let fcm: [Answer] = [
    (.badToken, 400, "INVALID_ARGUMENT"), (.thirdParty, 401, "THIRD_PARTY_AUTH_ERROR"),
    (.sender, 403, "SENDER_ID_MISMATCH"), (.noToken, 404, "UNREGISTERED"),
    (.quota, 429, "QUOTA_EXCEEDED"), (.fcmInternal, 500, "INTERNAL"), (.fcmUnavailable, 503, "UNAVAILABLE"),
  ]

  private static let jpush: [Answer] = [
    (.jpushKeys, 401, "1004"), (.jpushNobody, 400, "1011"), (.jpushQuota, 429, "2002"), (.jpushInternal, 500, "1000"),
  ]

  private static func answers(of server: SimulatedServer) -> [Answer] {
    switch server {
    case .development, .production: apns
    case .fcm: fcm
    case .jpush: jpush
    }
  }

  /// The wait that a 429 or 503 of FCM, or a 429 of JPush, asks for, in seconds.
  private static let retryAfter = 5

  init(kind: Kind, count: Int?) {
    self.kind = kind
    self.count = count
  }

  /// The active faults as a choice of the form, if the form has one for them.
  init(_ faults: Faults, of server: SimulatedServer) {
    let answers = Self.answers(of: server)
    if let answer = faults.answers.first, let known = answers.first(where: { $0.status == answer.status }) {
      var count: Int?
      if case .next(let number) = answer.scope { count = number }
      self.init(kind: known.kind, count: count)
    } else if let count = faults.goAwayAfter {
      self.init(kind: .goAway, count: count)
    } else if let count = faults.cutAfter {
      self.init(kind: .cut, count: count)
    } else {
      self.init(kind: faults.delay == nil ? .none : .slow, count: nil)
    }
  }

  var faults: Faults {
    var faults = Faults()
    switch kind {
    case .none: break
    case .slow: faults.delay = .seconds(2)
    case .goAway: faults.goAwayAfter = count ?? 1
    case .cut: faults.cutAfter = count ?? 1
    case .tooMany, .internalError, .unavailable, .unregistered, .badToken, .thirdParty, .sender, .noToken, .quota,
      .fcmInternal, .fcmUnavailable, .jpushKeys, .jpushNobody, .jpushQuota, .jpushInternal:
      if let answer = (Self.apns + Self.fcm + Self.jpush).first(where: { $0.kind == kind }) {
        faults.answers = [
          Faults.Answer(
            status: answer.status, reason: answer.reason, scope: count.map { .next($0) } ?? .all,
            retryAfter: [.quota, .fcmUnavailable, .jpushQuota].contains(kind) ? Self.retryAfter : nil)
        ]
      }
    }
    return faults
  }

  func text(_ texts: Texts) -> String {
    let noun = [.goAway, .cut].contains(kind) ? "phones.after_requests" : "phones.responses_left"
    let limit = count.map { texts(noun, count: $0) }
    return texts.clauses([texts("phones.fault_\(kind.rawValue)"), limit].compactMap { $0 })
  }
}

extension SimulatedServer {
  /// The name on the page.
  func word(_ texts: Texts) -> String {
    switch self {
    case .development: texts.clauses(["APNs", Environment.development.word(texts)])
    case .production: texts.clauses(["APNs", Environment.production.word(texts)])
    case .fcm: texts("phones.server_fcm")
    case .jpush: texts("phones.server_jpush")
    }
  }
}
