package import Foundation
package import HTTP2
package import OpenSSL
import Model
package import Reactor
import Synchronization

/// Sends pushes to APNs with one credential, over as many connections as it takes.
///
/// Every device of every batch comes back in exactly one ``SendReport``. A refusal is a result like any other;
/// requests that APNs has certainly not processed are sent again unseen.
package final class APNsProvider: @unchecked Sendable {
  // @unchecked because: `shared` is locked; the rest is touched on the loop's thread only.

  private let loop: EventLoop
  private let clock: @Sendable () -> Date
  private let report: @Sendable (SendReport) -> Void
  private let stateChanged: @Sendable (ProviderState) -> Void
  private struct Shared {
    var state = ProviderState.idle
    var breaker = CircuitBreaker()
    var storm = StormGuard()
    var losses = LossWindow()

    /// Lets the time that passed count.
    ///
    /// - Returns: how many may be under way.
    mutating func limit(at now: Date) -> Int? {
      storm.heal(now: now)
      losses.heal(now: now)
      return [storm.limit, losses.limit].compactMap { $0 }.min()
    }
  }

  private let shared = Mutex(Shared())
  private var group: ClientGroup?
  private var token: ProviderToken?
  /// Answers that may still say that the token before the present one is too old.
  private var staleAnswers = 0
  /// Answers at hand that have not been looked at.
  private var answersLeft = 0
  /// Why what waits is being cancelled, while it is.
  private var cancelReason: String?
  private var credentialFailure: ProviderFailure?

  /// Creates a provider; it connects with the first batch.
  ///
  /// - Parameters:
  ///   - loop: several providers may share one.
  ///   - resolver: where host names are looked up.
  ///   - configuration: `provesFirst` is always on: APNs allows one stream until it has seen a valid token.
  ///   - clock: for the age of the provider token.
  ///   - report: results, on the loop's thread: hand them over and return.
  ///   - stateChanged: on the loop's thread.
  /// - Throws: `TLSError` if certificate, key or trust cannot be used.
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

  /// How it stands with APNs, from any thread.
  package var state: ProviderState { shared.withLock { $0.state } }

  /// What is held back at a time, and why; from any thread. Whoever submits keeps to it.
  package func health(at now: Date) -> ProviderHealth {
    shared.withLock { shared in
      let limit = shared.limit(at: now)
      let isStorm = shared.storm.isSlowed
      return ProviderHealth(
        circuit: shared.breaker.state(at: now), limit: limit, stormShare: isStorm ? shared.storm.share : nil,
        stormAt: isStorm ? shared.storm.stormAt : nil, lost: shared.losses.isNarrow ? shared.losses.lost : nil)
    }
  }

  /// Hands a batch over, from any thread.
  package func submit(_ batch: APNsBatch) { group?.submit(batch.requests) }

  /// Reports what waits of a push as not sent, from any thread. What is in flight still gets its result.
  package func cancel(push: Int64) {
    loop.execute { [self] in
      cancelReason = OwnReason.cancelled.rawValue
      group?.cancelQueued(tag: push)
      cancelReason = nil
    }
  }

  /// Finishes what is in flight on the present connections, and goes on over new ones, from any thread.
  package func reconnect() {
    loop.execute { [self] in group?.replaceConnections() }
  }

  /// Reports what waits as not sent, and closes when what is in flight has its results.
  package func stop() {
    loop.execute { [self] in
      cancelReason = OwnReason.interrupted.rawValue
      group?.stop()
    }
  }

  /// Calls `then`, on the loop's thread, if nothing is in flight.
  package func ifIdle(_ then: @escaping @Sendable () -> Void) {
    loop.execute { [self] in if group?.inFlight ?? 0 == 0 { then() } }
  }

  // MARK: Answers

  /// The result of an answer; nil if the request is on its way again.
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

  /// Feeds what holds us back: how many said no, and whether the credential is good.
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

  /// What was handed over before a storm, or a loss, waits too: it may be thousands. Nor does a service that lowers its
  /// limits because of what we send get it over more connections.
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
    // A key that cannot sign has been reported when the first token was made.
    guard let text = try? token?.renewed(at: clock()) else { return false }
    use(text)
    return group.resend(answer)
  }

  private func use(_ text: String) {
    // Also when nobody has complained yet: after a step of the clock, or a night of sleep, what is in flight carries a
    // token that is too old by now.
    staleAnswers = (group?.inFlight ?? 0) + answersLeft
    group?.setSharedFields([HeaderField("authorization", "bearer \(text)", indexing: .never)])
  }

  /// The credential is refused: what waits would be refused too, and each refusal slows us down (Apple).
  private func stopSending(_ reason: String) {
    let now = clock()
    credentialFailure = credentialFailure ?? ProviderFailure(kind: .credential, reason: reason, since: now)
    shared.withLock { $0.breaker.refused(reason, at: now) }
    cancelReason = reason
    group?.cancelQueued()
    cancelReason = nil
    // The next batch begins on a new connection, with one request. Apple: after a change of key or certificate,
    // close all connections.
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
      // The first moment of a failure is kept while it lasts, whatever its words.
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
  /// Turns answers into results, and reports them push by push.
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

  /// Publishes how the provider stands.
  package func group(_ group: ClientGroup, changed state: ClientGroup.State) { refreshState(state) }

  /// Nothing: the group goes on with another connection, and the reason is in its state if that fails too.
  package func group(_ group: ClientGroup, heard goAway: GoAway) {}

  /// Looks at the age of the provider token, and at what time has healed.
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
