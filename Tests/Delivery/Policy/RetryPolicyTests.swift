import Delivery
import Foundation
import Providers
import Model
import Testing

private func decide(
  _ failure: RetryPolicy.Failure, attempts: Int = 1, since: TimeInterval = 0, deadline: TimeInterval? = nil,
  resigned: Bool = false, jitter: Double = 0, _ change: (inout RetryPolicy) -> Void = { _ in }
) -> RetryPolicy.Decision {
  var policy = RetryPolicy()
  change(&policy)
  let history = RetryPolicy.History(
    attempts: attempts, firstAt: noon - since, deadline: deadline.map { noon + $0 }, isResigned: resigned)
  return policy.decide(failure, history, now: noon, jitter: jitter)
}

private func rejected(_ reason: String, _ status: Int? = nil, after: TimeInterval? = nil) -> RetryPolicy.Failure {
  .rejected(
    status: status ?? Reason.of(reason).status ?? 400, reason: reason, retryAfter: after, tokenInvalidSince: nil)
}

private func isFinal(_ decision: RetryPolicy.Decision) -> Bool { if case .final = decision { true } else { false } }
private func stops(_ decision: RetryPolicy.Decision) -> Bool {
  if case .stopCredential = decision { true } else { false }
}
private func seconds(_ decision: RetryPolicy.Decision) -> TimeInterval? {
  if case .retry(let at) = decision { at.timeIntervalSince(noon) } else { nil }
}

@Suite("Retry policy")
struct RetryPolicyTests {
  @Test("every code of the table is decided as its advice says", arguments: Reason.table)
  func table(reason: Reason) {
    guard reason.source != .signalbox else { return }
    let decision = decide(rejected(reason.code, reason.status))
    switch reason.retry {
    case .never where reason.status == 403 && reason.source == .apns: #expect(stops(decision))
    case .never: #expect(isFinal(decision))
    case .later: #expect((seconds(decision) ?? 0) >= 10)
    case .perDevice: #expect((seconds(decision) ?? 0) >= 60)
    case .newConnection: #expect(decision == .newConnection)
    case .resignOnce: #expect(decision == .resign)
    // The key at Firebase, of iPhones alone.
    case .afterCredential where reason.code == "THIRD_PARTY_AUTH_ERROR": #expect(isFinal(decision))
    case .afterCredential: #expect(stops(decision))
    }
    // Whatever the advice: tries come to an end, each with an outcome that names the reason.
    var attempts = 1
    var passed: TimeInterval = 0
    var last = decision
    while attempts < 100, !isFinal(last), !stops(last) {
      attempts += 1
      passed += seconds(last) ?? 0
      last = decide(
        rejected(reason.code, reason.status), attempts: attempts, since: passed, resigned: reason.retry == .resignOnce)
    }
    switch last {
    case .final(.rejected(_, let word, _)), .stopCredential(.rejected(_, let word, _)): #expect(word == reason.code)
    default: Issue.record("\(reason.code) ends as \(last)")
    }
    #expect(attempts < 40)
  }

  @Test(
    "Apple's list, line by line: PROTOCOLS §1.6",
    arguments: [
      (400, "BadCollapseId", "final"), (400, "BadDeviceToken", "final"), (400, "BadExpirationDate", "final"),
      (400, "BadMessageId", "final"), (400, "BadPriority", "final"), (400, "BadTopic", "final"),
      (400, "InvalidPushType", "final"), (400, "DuplicateHeaders", "final"), (400, "DeviceTokenNotForTopic", "final"),
      (400, "IdleTimeout", "new connection"), (400, "MissingDeviceToken", "final"), (400, "MissingTopic", "final"),
      (400, "PayloadEmpty", "final"), (400, "TopicDisallowed", "stop"), (403, "BadCertificate", "stop"),
      (403, "BadCertificateEnvironment", "stop"), (403, "ExpiredProviderToken", "resign"), (403, "Forbidden", "stop"),
      (403, "InvalidProviderToken", "stop"), (403, "MissingProviderToken", "stop"),
      (403, "UnrelatedKeyIdInToken", "new connection"), (403, "BadEnvironmentKeyIdInToken", "stop"),
      (403, "BadEnvironmentKeyInToken", "stop"), (404, "BadPath", "final"), (405, "MethodNotAllowed", "final"),
      (410, "ExpiredToken", "final"), (410, "Unregistered", "final"), (413, "PayloadTooLarge", "final"),
      (429, "TooManyProviderTokenUpdates", "1200 s"), (429, "TooManyRequests", "60 s"),
      (500, "InternalServerError", "900 s"), (503, "ServiceUnavailable", "900 s"), (503, "Shutdown", "new connection"),
    ])
  func apple(status: Int, word: String, expected: String) {
    let decided: String =
      switch decide(rejected(word, status)) {
      case .final(let outcome):
        // 410 retires the token, the rest does not.
        (outcome.kind == .deadToken) == (status == 410) ? "final" : "wrong outcome"
      case .stopCredential: "stop"
      case .resign: "resign"
      case .newConnection: "new connection"
      case .retry(let at): "\(Int(at.timeIntervalSince(noon))) s"
      }
    #expect(decided == expected)
  }

  @Test("what was not answered is repeated, except at most once", arguments: OwnReason.allCases)
  func unanswered(own: OwnReason) {
    let failure = RetryPolicy.Failure.unanswered(reason: own.rawValue)
    let once = decide(failure) { $0.repeatsUnanswered = false }
    #expect(once == .final(.unknown(reason: own.rawValue)))
    let again = decide(failure)
    if own == .unreadableAnswer { #expect(again == once) } else { #expect(seconds(again) == 15) }
    #expect(decide(failure, attempts: 8) == once)
  }

  @Test("what was not processed is sent again, also at most once", arguments: OwnReason.allCases)
  func notProcessed(own: OwnReason) {
    let failure = RetryPolicy.Failure.notProcessed(reason: own.rawValue)
    let decision = decide(failure, attempts: 0) { $0.repeatsUnanswered = false }
    if Reason.of(own).retry == .afterCredential {
      #expect(decision == .stopCredential(.skipped(reason: "CredentialRefused")))
    } else {
      #expect(seconds(decision) == 5)
    }
  }

  @Test(
    "what waits behind a refusal of the credential is not sent",
    arguments: ["InvalidProviderToken", "Forbidden", "BadCertificate", "ExpiredProviderToken", "TopicDisallowed"])
  func behindRefusal(word: String) {
    #expect(
      decide(.notProcessed(reason: word), attempts: 0) == .stopCredential(.skipped(reason: "CredentialRefused")))
  }

  @Test("what waits behind another key's connection goes over a new one, then with pauses")
  func behindOtherKey() {
    #expect(decide(.notProcessed(reason: "UnrelatedKeyIdInToken"), attempts: 0) == .newConnection)
    #expect(seconds(decide(.notProcessed(reason: "UnrelatedKeyIdInToken"))) == 5)
  }

  @Test(
    "pauses grow from what each service asks for",
    arguments: [
      ("ServiceUnavailable", [900, 1800, 3600, 7200, 14400, 14400]),
      ("TooManyProviderTokenUpdates", [1200, 2400, 4800]), ("TooManyRequests", [60, 120, 240, 480]),
      ("UNAVAILABLE", [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]), ("QUOTA_EXCEEDED", [60, 120]),
      ("JPush 1000", [10, 20]),
    ])
  func pauses(word: String, expected: [TimeInterval]) {
    #expect(expected.indices.map { seconds(decide(rejected(word), attempts: $0 + 1)) } == expected)
  }

  @Test("Retry-After is never undercut, and never shortens a pause")
  func retryAfter() {
    #expect(seconds(decide(rejected("TooManyRequests", after: 3600))) == 3600)
    #expect(seconds(decide(rejected("ServiceUnavailable", after: 5))) == 900)
    #expect(seconds(decide(rejected("Shutdown", after: 1200))) == 1200)
    let result = SendResult.retry(RetryCause(status: 429, reason: "TooManyRequests", retryAfter: .seconds(90)))
    #expect(RetryPolicy.Failure(result).flatMap { seconds(decide($0)) } == 90)
  }

  @Test("a server that shuts down: a new connection at once, then 15 minutes")
  func shutdown() {
    #expect(decide(rejected("Shutdown")) == .newConnection)
    #expect(seconds(decide(rejected("Shutdown"), attempts: 2)) == 1800)
    #expect(seconds(decide(rejected("IdleTimeout"), attempts: 2)) == 10)
  }

  @Test("jitter only adds, up to a quarter, the same for the same try")
  func jitter() {
    #expect(seconds(decide(rejected("ServiceUnavailable"), jitter: 1)) == 1125)
    let numbers = (0..<1000).map { RetryPolicy.jitter(seed: 7, device: $0, attempt: 1) }
    #expect(numbers.allSatisfy { (0..<1).contains($0) })
    let mean = numbers.reduce(0, +) / 1000
    #expect(mean > 0.45 && mean < 0.55)
    #expect(RetryPolicy.jitter(seed: 7, device: 3, attempt: 1) == numbers[3])
    #expect(RetryPolicy.jitter(seed: 7, device: 3, attempt: 2) != numbers[3])
  }

  @Test("the time to live ends the tries, with both reasons")
  func expiry() {
    #expect(seconds(decide(rejected("ServiceUnavailable"), deadline: 901)) == 900)
    let outcome = Outcome.rejected(status: 503, reason: "Expired (ServiceUnavailable)", tokenInvalidSince: nil)
    #expect(decide(rejected("ServiceUnavailable"), deadline: 900) == .final(outcome))
    #expect(
      decide(.unanswered(reason: "TimedOut"), deadline: 2) == .final(.unknown(reason: "Expired (TimedOut)")))
    #expect(
      decide(.notProcessed(reason: "Unreachable"), deadline: 2) == .final(.skipped(reason: "Expired (Unreachable)")))
    // What would be repeated at once, but not after the end.
    #expect(isFinal(decide(rejected("Shutdown"), deadline: 0)))
  }

  @Test("without a time to live the last answer stands after a day")
  func patience() {
    let outcome = Outcome.rejected(status: 503, reason: "ServiceUnavailable", tokenInvalidSince: nil)
    #expect(decide(rejected("ServiceUnavailable"), attempts: 9, since: 80_000) == .final(outcome))
  }

  @Test("a word that the table lacks is judged by its status")
  func unknownWords() {
    #expect(isFinal(decide(rejected("SomethingNew", 400))))
    #expect(stops(decide(rejected("SomethingNew", 403))))
    #expect(seconds(decide(rejected("HTTP 502", 502))) == 900)
    #expect(seconds(decide(rejected("HTTP 429", 429))) == 60)
  }

  @Test("a combined reason means what its first word means")
  func combined() {
    let word = Reason.combined(.expired, after: "ServiceUnavailable")
    let reason = Reason.of(word)
    #expect(reason.code == word && reason.isKnown && reason.cause == Reason.of(.expired).cause)
    #expect(reason.causeCode == "reason.Expired.cause")
    #expect(Reason.combined(.expired, after: "") == "Expired")
    #expect(!Reason.of("ServiceUnavailable (Expired)").isKnown)
  }

  @Test("what a person may retry: nothing that would be refused again", arguments: Reason.table)
  func permanent(reason: Reason) {
    switch reason.retry {
    case .never where reason.source != .signalbox: #expect(reason.isPermanent)
    case .later, .perDevice, .newConnection, .resignOnce: #expect(!reason.isPermanent)
    case .afterCredential: #expect(reason.isPermanent == (reason.code == "NoProvider"))
    case .never: #expect(reason.isPermanent == ["Quarantined", "DeviceInactive", "DryRun"].contains(reason.code))
    }
  }
}
