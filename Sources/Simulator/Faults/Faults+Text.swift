import Model

extension Faults: CustomStringConvertible {
  /// Reads the command line's form: comma-separated pairs `key=value`.
  ///
  /// `status=503,reason=ServiceUnavailable,next=10` · `reason=TooManyRequests,share=0.1` · `delay=200ms` · `goaway=100`
  /// · `refuse=0.1` · `cut=50` · `silent=0.01` · `streams=1` · `seed=7`, in any combination, with several answers one
  /// after another; for FCM also `status=429,retry=30`. An answer needs a status or a reason; the other is derived if
  /// the service has only one. An empty text means no faults.
  ///
  /// - Parameter server: whose reasons are meant; both of APNs' have the same.
  package init(parsing text: String, for server: SimulatedServer = .development) throws(FaultsError) {
    self.init()
    var pending: PendingAnswer?
    var seen: Set<String> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: true) {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      guard pair.count == 2, !pair[0].isEmpty else { throw .notAPair(String(part)) }
      let (key, value) = (pair[0], pair[1])
      guard FaultsError.keys.contains(key) else { throw .unknownKey(key) }
      if PendingAnswer.keys.contains(key) {
        if key == "status" || key == "reason", pending?.begins(anew: key) != false {
          if let pending { answers.append(try pending.finished()) }
          pending = PendingAnswer(server: server)
        }
        guard pending != nil else { throw .withoutAnswer(key: key) }
        try pending?.set(key, value)
      } else {
        guard seen.insert(key).inserted else { throw .repeated(key: key) }
        try set(key, value)
      }
    }
    if let pending { answers.append(try pending.finished()) }
  }

  private mutating func set(_ key: String, _ value: String) throws(FaultsError) {
    switch key {
    case "delay": delay = try FaultValue.duration(key, value)
    case "goaway": goAwayAfter = try FaultValue.count(key, value)
    case "refuse": refusedShare = try FaultValue.share(key, value)
    case "cut": cutAfter = try FaultValue.count(key, value)
    case "silent": silentShare = try FaultValue.share(key, value)
    case "streams":
      guard let limit = UInt32(value), limit <= 1_000_000 else {
        throw .badValue(key: key, value: value, expected: "a number from 0 to 1000000")
      }
      maximumStreams = limit
    default:
      guard let number = UInt64(value) else {
        throw .badValue(key: key, value: value, expected: "a whole number, 0 or more")
      }
      seed = number
    }
  }

  /// In the form of ``init(parsing:)``; empty without faults.
  package var description: String {
    var parts: [String] = []
    for answer in answers {
      parts += ["status=\(answer.status)", "reason=\(answer.reason)"]
      switch answer.scope {
      case .all: break
      case .next(let count): parts.append("next=\(count)")
      case .share(let share): parts.append("share=\(share)")
      case .token(let token): parts.append("token=\(token.text)")
      }
      if let retryAfter = answer.retryAfter { parts.append("retry=\(retryAfter)") }
    }
    if let delay { parts.append("delay=\(FaultValue.text(delay))") }
    if let goAwayAfter { parts.append("goaway=\(goAwayAfter)") }
    if refusedShare > 0 { parts.append("refuse=\(refusedShare)") }
    if let cutAfter { parts.append("cut=\(cutAfter)") }
    if silentShare > 0 { parts.append("silent=\(silentShare)") }
    if let maximumStreams { parts.append("streams=\(maximumStreams)") }
    if seed != 0 { parts.append("seed=\(seed)") }
    return parts.joined(separator: ",")
  }
}

/// An incompletely parsed answer.
private struct PendingAnswer {
  static let keys: Set<String> = ["status", "reason", "next", "share", "token", "retry"]

  let server: SimulatedServer
  private var status: Int?
  private var reason: String?
  private var scope: Faults.Answer.Scope?
  private var retryAfter: Int?

  init(server: SimulatedServer) { self.server = server }

  /// Whether the key must belong to the next answer.
  func begins(anew key: String) -> Bool { scope != nil || (key == "status" ? status != nil : reason != nil) }

  mutating func set(_ key: String, _ value: String) throws(FaultsError) {
    switch key {
    case "status":
      guard let number = Int(value), (400...599).contains(number) else {
        throw .badValue(key: key, value: value, expected: "an HTTP status from 400 to 599")
      }
      status = number
    case "reason":
      guard !value.isEmpty, value.utf8.count <= 64,
        value.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
      else { throw .badValue(key: key, value: value, expected: "a reason, e.g. TooManyRequests") }
      reason = value
    case "retry":
      guard let seconds = Int(value), (1...3600).contains(seconds) else {
        throw .badValue(key: key, value: value, expected: "a number of seconds from 1 to 3600")
      }
      retryAfter = seconds
    default:
      guard scope == nil else { throw .severalScopes }
      switch key {
      case "next": scope = .next(try FaultValue.count(key, value))
      case "share": scope = .share(try FaultValue.share(key, value))
      default:
        do {
          scope = .token(
            try DeviceToken(
              parsing: value, platform: server == .fcm ? .android : .ios, provider: server == .jpush ? .jpush : nil))
        } catch {
          throw .badValue(key: key, value: value, expected: "a device token (\(error.text))")
        }
      }
    }
  }

  func finished() throws(FaultsError) -> Faults.Answer {
    let (status, reason) = try statusAndReason()
    if reason == FCMError.expiredToken {
      guard case .next = scope else { throw .countNeeded(reason: reason) }
    }
    if retryAfter != nil {
      let statuses = server == .fcm ? [429, 503] : server == .jpush ? [429] : []
      guard statuses.contains(status) else { throw .retryNotPossible }
    }
    return Faults.Answer(status: status, reason: reason, scope: scope ?? .all, retryAfter: retryAfter)
  }

  private func statusAndReason() throws(FaultsError) -> (Int, String) {
    let known = Reason.table.filter { $0.source == server.reasons }
    // Our names of JPush's codes have a word before the number.
    let prefix = server == .jpush ? "JPush " : ""
    if let reason {
      let usual = reason == FCMError.expiredToken ? 401 : known.first { $0.code == prefix + reason }?.status
      guard let status = status ?? usual else { throw .statusNeeded(reason: reason) }
      return (status, reason)
    }
    let status = status ?? 0
    // The most common reason of a status with several in the provider's table.
    let usual =
      switch server {
      case .development, .production:
        [410: "Unregistered", 429: "TooManyRequests", 503: "ServiceUnavailable", 403: "InvalidProviderToken"]
      case .fcm: [400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "SENDER_ID_MISMATCH", 404: "UNREGISTERED"]
      case .jpush: [400: "1011", 401: "1004", 403: "2003", 404: "1020", 500: "1000", 503: "1030"]
      }
    let reasons = Set(known.filter { $0.status == status }.map { String($0.code.dropFirst(prefix.count)) })
    guard let reason = usual[status] ?? (reasons.count == 1 ? reasons.first : nil) else {
      throw .reasonNeeded(status: status)
    }
    return (status, reason)
  }
}

extension SimulatedServer {
  /// Whose reasons it answers with.
  fileprivate var reasons: Reason.Source {
    switch self {
    case .development, .production: .apns
    case .fcm: .fcm
    case .jpush: .jpush
    }
  }
}

/// Durations as people write them: 200ms, 3s, 2min.
package enum TimeText {
  private static let units: [(name: String, milliseconds: Int64)] = [("ms", 1), ("s", 1000), ("min", 60_000)]
  private static let longest: Int64 = 3_600_000

  /// Reads a duration up to one hour, nil for anything else.
  package static func duration(_ text: String) -> Duration? {
    for unit in units where text.hasSuffix(unit.name) {
      guard let number = Int64(text.dropLast(unit.name.count)), (0...longest / unit.milliseconds).contains(number)
      else { continue }
      return .milliseconds(number * unit.milliseconds)
    }
    return nil
  }
}

private enum FaultValue {
  static func count(_ key: String, _ value: String) throws(FaultsError) -> Int {
    guard let count = Int(value), (1...1_000_000_000).contains(count) else {
      throw .badValue(key: key, value: value, expected: "a number of requests, 1 or more")
    }
    return count
  }

  static func share(_ key: String, _ value: String) throws(FaultsError) -> Double {
    let isPercentage = value.hasSuffix("%")
    guard let number = Double(isPercentage ? String(value.dropLast()) : value), number.isFinite else {
      throw .badValue(key: key, value: value, expected: "a share from 0 to 1, e.g. 0.1 or 10%")
    }
    let share = isPercentage ? number / 100 : number
    guard (0...1).contains(share) else {
      throw .badValue(key: key, value: value, expected: "a share from 0 to 1, e.g. 0.1 or 10%")
    }
    return share
  }

  static func duration(_ key: String, _ value: String) throws(FaultsError) -> Duration {
    if let duration = TimeText.duration(value) { return duration }
    throw .badValue(key: key, value: value, expected: "a time of up to one hour with a unit, e.g. 200ms, 3s, or 2min")
  }

  static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
  }
}
