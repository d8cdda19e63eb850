package import Foundation
package import HTTP2
package import OpenSSL
import Model
package import Reactor
import Synchronization

/// Sends pushes to APNs with one credential, over as many connections as needed.
///
/// Every device of every batch comes back in exactly one ``SendReport``. A refusal is a result too; requests that APNs
/// has certainly not processed are resent silently.
package final class APNsProvider: @unchecked Sendable {
  // @unchecked Sendable because `shared` has a lock, and the rest is touched on the loop's thread only.

  private let loop: EventLoop
  private let clock: @Sendable () -> Date
  private let report: @Sendable (SendReport) -> Void
  private let stateChanged: @Sendable (ProviderState) -> Void
  private struct Shared {
    var state = ProviderState.idle
    var breaker = CircuitBreaker()
    var storm = StormGuard()
    var losses = LossWindow()

    /// - Returns: the limit of requests in flight at a time.
    mutating func limit(at now: Date) -> Int? {
      storm.heal(now: now)
      losses.heal(now: now)
      return [storm.limit, losses.limit].compactMap { $0 }.min()
    }
  }

  private let shared = Mutex(Shared())
  private var group: ClientGroup?
  private var token: ProviderToken?
  /// Answers that may still complain about the previous token's age.
  private var staleAnswers = 0
  /// Answers at hand that are not processed yet.
  private var answersLeft = 0
  /// The reason while waiting requests are being cancelled.
  private var cancelReason: String?
  private var credentialFailure: ProviderFailure?

  /// - Parameters:
  ///   - loop: several providers may share one.
  ///   - resolver: looks up host names.
  ///   - configuration: `provesFirst` is always on: APNs allows one stream until it has seen a valid token.
  ///   - clock: for the age of the provider token.
  ///   - report: receives results on the loop's thread: must return at once.
  ///   - stateChanged: on the loop's thread.
  /// - Throws: `TLSError` if certificate, key or trust is unusable.
  package init(
    _ credentials: APNsCredentials, endpoint: APNsEndpoint, loop: EventLoop, resolver: BlockingPool,
    configuration: ClientGroupConfiguration = .init(), clock: @escaping @Sendable () -> Date = { Date() },
    report: @escaping @Sendable (SendReport) -> Void,
    stateChanged: @escaping @Sendable (ProviderState) -> Void = { _ in }
  ) throws(TLSError) {
    self.loop = loop
    self.clock = clock
    self.report = report
    self.stateChanged = stateChanged
    if case .token(let key, let keyID, let teamID) = credentials {
      token = ProviderToken(key: key, keyID: keyID, teamID: teamID)
    }
    var configuration = configuration
    configuration.connection.provesFirst = true
    group = ClientGroup(
      loop: loop, endpoint: try endpoint.endpoint(credentials), configuration: configuration, resolver: resolver,
      handler: self)
    group?.inFlightLimit = StormGuard().limit
  }

  /// From any thread.
  package var state: ProviderState { shared.withLock { $0.state } }

  /// The limits and their reasons, from any thread.
  package func health(at now: Date) -> ProviderHealth {
    shared.withLock { shared in
      let limit = shared.limit(at: now)
      let isStorm = shared.storm.isSlowed
      return ProviderHealth(
        circuit: shared.breaker.state(at: now), limit: limit, stormShare: isStorm ? shared.storm.share : nil,
        stormAt: isStorm ? shared.storm.stormAt : nil, lost: shared.losses.isNarrow ? shared.losses.lost : nil)
    }
  }

  /// From any thread.
  package func submit(_ batch: APNsBatch) { group?.submit(batch.requests) }

  /// From any thread; see ``Provider/cancel(push:)``.
  package func cancel(push: Int64) {
    loop.execute { [self] in
      cancelReason = OwnReason.cancelled.rawValue
      group?.cancelQueued(tag: push)
      cancelReason = nil
    }
  }

  /// From any thread; see ``Provider/reconnect()``.
  package func reconnect() {
    loop.execute { [self] in group?.replaceConnections() }
  }

  /// See ``Provider/stop()``.
  package func stop() {
    loop.execute { [self] in
      cancelReason = OwnReason.interrupted.rawValue
      group?.stop()
    }
  }

  /// Calls `then` on the loop's thread if nothing is in flight.
  package func ifIdle(_ then: @escaping @Sendable () -> Void) {
    loop.execute { [self] in if group?.inFlight ?? 0 == 0 { then() } }
  }

  /// The result of an answer; nil if the request is resent.
  private func result(_ answer: Answer) -> SendResult? {
    switch answer.result {
    case .answered(let status, let detail):
      if status == 200 {
        accepted()
        return .outcome(.accepted)
      }
      let response = APNsResponse(status: status, detail: detail, now: clock())
      switch APNsReason(status: status, reason: response.reason) {
      case .renewToken where sendsAgainWithNewToken(answer): return nil
      case .renewToken, .stop: stopSending(response.reason.isEmpty ? "HTTP \(status)" : response.reason)
      case .final, .retry: break
      }
      return response.result
    case .notProcessed:
      if let cancelReason { return .notSent(reason: cancelReason) }
      return .retry(RetryCause(status: 0, reason: OwnReason.unreachable.rawValue))
    case .unknown(let cause):
      return .outcome(.unknown(reason: Self.reason(cause).rawValue))
    }
  }

  private func accepted() {
    guard credentialFailure != nil else { return }
    credentialFailure = nil
    if let group { refreshState(group.state) }
  }

  /// Updates the limits by refusals and errors of the credential.
  private func note(_ answers: [Answer]) {
    var (answered, refused, lost, isGood) = (0, 0, 0, false)
    for answer in answers {
      if case .unknown(.connection) = answer.result { lost += 1 }
      guard case .answered(let status, _) = answer.result else { continue }
      answered += 1
      if StormGuard.counts(status) { refused += 1 }
      if status != 401, status != 403 { isGood = true }
    }
    guard answered > 0 || lost > 0 else { return }
    let now = clock()
    let others = group?.inFlight ?? 0
    shared.withLock { shared in
      shared.storm.note(answers: answered, refusals: refused, now: now)
      if answered > 0 { shared.losses.answered(answered, now: now) }
      shared.losses.lost(lost, others: others, now: now)
      if isGood { shared.breaker.succeeded() }
    }
    holdBack(now)
  }

  /// Applies the limits also to requests handed over before, which may be thousands. A service that lowers its limits
  /// because of our requests gets no more connections for them either.
  private func holdBack(_ now: Date) {
    let (limit, isSlowed) = shared.withLock { shared in
      (shared.limit(at: now), shared.storm.isSlowed || shared.losses.isNarrow)
    }
    group?.inFlightLimit = limit
    group?.mayGrow = !isSlowed
  }

  private func sendsAgainWithNewToken(_ answer: Answer) -> Bool {
    guard let group else { return false }
    if staleAnswers > 0 {
      staleAnswers -= 1
      return group.resend(answer)
    }
    // Signing errors were reported for the first token.
    guard let text = try? token?.renewed(at: clock()) else { return false }
    use(text)
    return group.resend(answer)
  }

  private func use(_ text: String) {
    // Also without complaints so far: after a clock change or a suspended machine, requests in flight carry an expired
    // token.
    staleAnswers = (group?.inFlight ?? 0) + answersLeft
    group?.setSharedFields([HeaderField("authorization", "bearer \(text)", indexing: .never)])
  }

  /// The credential is refused: waiting requests would be refused too, and each refusal slows us down (Apple).
  private func stopSending(_ reason: String) {
    let now = clock()
    credentialFailure = credentialFailure ?? ProviderFailure(kind: .credential, reason: reason, since: now)
    shared.withLock { $0.breaker.refused(reason, at: now) }
    cancelReason = reason
    group?.cancelQueued()
    cancelReason = nil
    // The next batch begins on a new connection with one request. Apple: after a change of key or certificate, close
    // all connections.
    group?.replaceConnections()
    if let group { refreshState(group.state) }
  }

  private static func reason(_ cause: Answer.Cause) -> OwnReason {
    switch cause {
    case .timeout: .timedOut
    case .reset, .connection: .connectionLost
    case .tooLong: .unreadableAnswer
    }
  }

  private func refreshState(_ groupState: ClientGroup.State) {
    let state: ProviderState
    switch groupState {
    case .failing(let error):
      // Keep the first moment of a failure while it lasts, even if its reason changes.
      var since = clock()
      if case .failing(let present) = self.state { since = present.since }
      state = .failing(
        ProviderFailure(
          kind: error.isAuthentication ? .credential : .connection, reason: error.message, since: since))
    case _ where credentialFailure != nil: state = credentialFailure.map { .failing($0) } ?? .idle
    case .idle: state = .idle
    case .connecting: state = .connecting
    case .ready: state = .ready
    }
    let now = clock()
    let isNew = shared.withLock { shared in
      switch groupState {
      case .failing(let error): shared.breaker.disconnected(error.message, at: now)
      case .ready: shared.breaker.connected(at: now)
      case .idle, .connecting: break
      }
      defer { shared.state = state }
      return shared.state != state
    }
    if isNew { stateChanged(state) }
  }
}

extension APNsProvider: ClientGroupHandler {
  /// Reports the results of answers, grouped by push.
  package func group(_ group: ClientGroup, ended answers: [Answer]) {
    var results: [(device: Int64, result: SendResult)] = []
    results.reserveCapacity(answers.count)
    note(answers)
    var push: Int64 = answers.first?.batch.tag ?? 0
    for (index, answer) in answers.enumerated() {
      answersLeft = answers.count - index - 1
      guard let result = result(answer) else { continue }
      if answer.batch.tag != push {
        if !results.isEmpty { report(SendReport(push: push, results: results)) }
        results.removeAll()
        push = answer.batch.tag
      }
      results.append((answer.id, result))
    }
    if !results.isEmpty { report(SendReport(push: push, results: results)) }
  }

  package func group(_ group: ClientGroup, changed state: ClientGroup.State) { refreshState(state) }

  /// Ignored: the group continues on another connection, and reports a failure of that.
  package func group(_ group: ClientGroup, heard goAway: GoAway) {}

  /// Renews the provider token, and widens the limits with time.
  package func groupWillSend(_ group: ClientGroup) {
    if group.inFlightLimit != nil { holdBack(clock()) }
    guard token != nil else { return }
    do {
      guard let (text, isNew) = try token?.current(at: clock()), isNew else { return }
      use(text)
    } catch {
      stopSending("The key cannot sign: \(error)")
    }
  }
}
