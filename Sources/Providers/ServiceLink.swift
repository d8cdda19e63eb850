import Foundation
package import HTTP2
import Model
import Reactor
import Synchronization
import Text

/// One credential's connections to a push service, with the state, the limits and the authorization that every service
/// needs.
///
/// Every request of every batch comes back in exactly one ``SendReport``. A refusal is a result too; requests that the
/// service has certainly not processed are resent silently.
package final class ServiceLink: @unchecked Sendable {
  // @unchecked Sendable because `shared` has a lock, and the rest is touched on the loop's thread only.

  private let rules: any ServiceRules
  private let authorization: (any RequestAuthorization)?
  private let tools: ProviderTools

  private struct Shared {
    var state = ProviderState.idle
    var breaker = CircuitBreaker()
    var storm = StormGuard()
    var losses = LossWindow()
    var clockLead: Int?

    /// - Returns: the limit of requests in flight at a time.
    mutating func limit(at now: Date) -> Int? {
      storm.heal(now: now)
      losses.heal(now: now)
      return [storm.limit, losses.limit].compactMap { $0 }.min()
    }
  }

  private let shared = Mutex(Shared())
  private var group: ClientGroup?
  /// The authorization that requests carry; nil: none yet.
  private var used: String?
  /// Whether requests wait for an authorization.
  private var isAwaiting = false
  /// Why there is no authorization.
  private var authorizationTrouble: String?
  /// Answers that may still complain about the previous authorization.
  private var staleAnswers = 0
  /// Answers at hand that are not processed yet.
  private var answersLeft = 0
  /// The reason while waiting requests are being cancelled.
  private var cancelReason: String?
  private var credentialFailure: ProviderFailure?

  /// - Parameters:
  ///   - authorization: nil: the connection's certificate identifies us.
  ///   - tools: its loop, resolver, clock and receivers; `connections` as the service wants them.
  init(
    _ rules: any ServiceRules, endpoint: Endpoint, authorization: (any RequestAuthorization)?, tools: ProviderTools
  ) {
    (self.rules, self.authorization, self.tools) = (rules, authorization, tools)
    group = ClientGroup(
      loop: tools.loop, endpoint: endpoint, configuration: tools.connections, resolver: tools.resolver, handler: self)
    group?.inFlightLimit = StormGuard().limit
    authorization?.changed = { [weak self] in self?.authorizationChanged() }
  }

  /// From any thread.
  var state: ProviderState { shared.withLock { $0.state } }

  /// The limits and their reasons, from any thread.
  func health(at now: Date) -> ProviderHealth {
    shared.withLock { shared in
      let limit = shared.limit(at: now)
      let isStorm = shared.storm.isSlowed
      return ProviderHealth(
        circuit: shared.breaker.state(at: now), limit: limit, stormShare: isStorm ? shared.storm.share : nil,
        stormAt: isStorm ? shared.storm.stormAt : nil, lost: shared.losses.isNarrow ? shared.losses.lost : nil,
        clockLead: shared.clockLead)
    }
  }

  /// From any thread.
  func submit(_ batch: RequestBatch) { group?.submit(batch) }

  /// Submits one request that reaches nobody; its result is reported for push 0.
  func ask(path: String, json body: [UInt8]) {
    var batch = RequestBatchBuilder(template: .json, capacity: 1)
    batch.append(id: 0, path: path, body: body)
    submit(batch.build())
  }

  /// From any thread; see ``Provider/cancel(push:)``.
  func cancel(push: Int64) {
    tools.loop.execute { [self] in
      cancelReason = OwnReason.cancelled.rawValue
      group?.cancelQueued(tag: push)
      cancelReason = nil
    }
  }

  /// From any thread; see ``Provider/reconnect()``.
  func reconnect() { tools.loop.execute { [self] in group?.replaceConnections() } }

  /// See ``Provider/stop()``.
  func stop() {
    tools.loop.execute { [self] in
      cancelReason = OwnReason.interrupted.rawValue
      group?.stop()
      authorization?.stop()
    }
  }

  /// Calls `then` on the loop's thread if nothing is in flight.
  func ifIdle(_ then: @escaping @Sendable () -> Void) {
    tools.loop.execute { [self] in if group?.inFlight ?? 0 == 0 { then() } }
  }

  // MARK: Answers

  /// The result of an answer; nil if the request is resent.
  private func result(_ answer: Answer) -> SendResult? {
    switch answer.result {
    case .answered(200, let detail):
      if let lack = rules.lack(in: detail) {
        return .outcome(.unknown(reason: Self.unreadable(lack, detail?.body ?? [])))
      }
      accepted()
      return .outcome(.accepted)
    case .answered(let status, let detail):
      let now = tools.clock()
      if let lead = detail?.clockLead(at: now) { shared.withLock { $0.clockLead = lead } }
      let reading = rules.reading(status, detail, now: now)
      switch reading.consequence {
      case .none: break
      case .renews where sendsAgain(answer): return nil
      case .renews, .stops: stopSending(reading.reason)
      }
      return reading.result
    case .notProcessed:
      if let cancelReason { return .notSent(reason: cancelReason) }
      return .retry(RetryCause(status: 0, reason: unreachable.rawValue))
    case .unknown(let cause): return .outcome(.unknown(reason: cause.reason.rawValue))
    }
  }

  /// The reason of a success that proves nothing: what came, and what it lacks.
  static func unreadable(_ lack: String, _ body: [UInt8]) -> String {
    let text = String(decoding: body.prefix(400), as: UTF8.self).singleLine.abbreviated(to: 60)
    let words = "200 \(lack): \(text.isEmpty ? "nothing" : text)"
    return Reason.combined(.unreadableAnswer, after: words)
  }

  private func accepted() {
    guard credentialFailure != nil else { return }
    credentialFailure = nil
    refreshState()
  }

  /// Updates the limits by refusals and errors of the credential.
  private func note(_ answers: [Answer]) {
    var (answered, refused, lost, isGood) = (0, 0, 0, false)
    for answer in answers {
      if case .unknown(.connection) = answer.result { lost += 1 }
      guard case .answered(let status, let detail) = answer.result else { continue }
      if status == 200, rules.lack(in: detail) != nil { continue }
      answered += 1
      if status == 200 {
        isGood = true
      } else {
        if rules.isRefusal(status) { refused += 1 }
        if rules.provesCredential(status) { isGood = true }
      }
    }
    guard answered > 0 || lost > 0 else { return }
    let now = tools.clock()
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
    group?.inFlightLimit = isAwaiting ? 0 : limit
    group?.mayGrow = !isSlowed && !isAwaiting
  }

  /// The credential is refused: waiting requests would be refused too, and each refusal slows us down (Apple).
  private func stopSending(_ reason: String) {
    let now = tools.clock()
    credentialFailure = credentialFailure ?? ProviderFailure(kind: .credential, reason: reason, since: now)
    shared.withLock { $0.breaker.refused(reason, at: now) }
    // Before the results: who gets them may ask for the state.
    refreshState()
    let outer = cancelReason
    cancelReason = reason
    group?.cancelQueued()
    cancelReason = outer
    // The next batch begins on a new connection. Apple: after a change of key or certificate, close all connections.
    group?.replaceConnections()
  }

  /// Why no connection is there.
  private var unreachable: OwnReason {
    guard case .failing(let error)? = group?.state, case .proxy(let problem) = error.code else { return .unreachable }
    return OwnReason(problem)
  }

  // MARK: Authorization

  private func authorize() {
    guard let authorization else { return }
    switch authorization.current(at: tools.clock()) {
    case .value(let text):
      isAwaiting = false
      trouble(nil)
      if text != used { use(text) }
    case .awaited(let trouble):
      isAwaiting = true
      self.trouble(trouble)
    case .refused(let reason):
      isAwaiting = false
      trouble(nil)
      stopSending(reason)
    }
    holdBack(tools.clock())
  }

  private func authorizationChanged() {
    if let lead = authorization?.clockLead { shared.withLock { $0.clockLead = lead } }
    authorize()
    group?.sendWaiting()
  }

  private func use(_ text: String) {
    // Also without complaints so far: after a clock change or a suspended machine, requests in flight carry an expired
    // token.
    if used != nil { staleAnswers = (group?.inFlight ?? 0) + answersLeft }
    used = text
    group?.setSharedFields([HeaderField("authorization", text, indexing: .never)])
  }

  private func sendsAgain(_ answer: Answer) -> Bool {
    guard let group, let authorization else { return false }
    if staleAnswers > 0 {
      staleAnswers -= 1
      return group.resend(answer)
    }
    guard authorization.renew(at: tools.clock()) else { return false }
    authorize()
    return group.resend(answer)
  }

  private func trouble(_ reason: String?) {
    guard reason != authorizationTrouble else { return }
    authorizationTrouble = reason
    refreshState()
  }

  // MARK: State

  private func refreshState() {
    guard let group else { return }
    let now = tools.clock()
    var failure: ProviderFailure?
    if let reason = authorizationTrouble {
      failure = ProviderFailure(kind: .connection, reason: reason, since: now)
    } else if case .failing(let error) = group.state {
      failure = ProviderFailure(
        kind: error.isAuthentication ? .credential : .connection, reason: error.reason, since: now, code: error.own)
    }
    let state: ProviderState
    if let failure {
      // Keep the first moment of a failure while it lasts, even if its reason changes.
      var since = failure.since
      if case .failing(let present) = self.state { since = present.since }
      state = .failing(
        ProviderFailure(kind: failure.kind, reason: failure.reason, since: since, code: failure.code))
    } else if let credentialFailure {
      state = .failing(credentialFailure)
    } else {
      switch group.state {
      case .idle, .failing: state = .idle
      case .connecting: state = .connecting
      case .ready: state = .ready
      }
    }
    // Whether the next request shows if the failure is over.
    let canTry = group.canTry && authorizationTrouble == nil
    let isNew = shared.withLock { shared in
      if let failure { shared.breaker.disconnected(failure.reason, at: now) }
      if canTry { shared.breaker.connected(at: now) }
      defer { shared.state = state }
      return shared.state != state
    }
    if isNew { tools.stateChanged(state) }
  }
}

extension RequestTemplate {
  static let json = RequestTemplate(fields: [HeaderField("content-type", "application/json")])
}

extension ServiceLink: ClientGroupHandler {
  /// Reports the results of answers, grouped by push.
  package func group(_ group: ClientGroup, ended answers: [Answer]) {
    var results: [(device: Int64, result: SendResult)] = []
    var names: [Int64: String] = [:]
    var kept: [Int64: ReceivedAnswer] = [:]
    results.reserveCapacity(answers.count)
    note(answers)
    var push: Int64 = answers.first?.batch.tag ?? 0
    for (index, answer) in answers.enumerated() {
      answersLeft = answers.count - index - 1
      rules.note(answer, now: tools.clock())
      guard let result = result(answer) else { continue }
      if answer.batch.tag != push {
        if !results.isEmpty {
          tools.report(SendReport(push: push, results: results, names: names, answers: kept))
        }
        results.removeAll()
        names.removeAll()
        kept.removeAll()
        push = answer.batch.tag
      }
      results.append((answer.id, result))
      if answer.isKept, case .answered(200, let detail?) = answer.result {
        names[answer.id] = rules.name(ofMessage: detail.body)
      }
      if kept.count < AnswerBudget.size, let whole = whole(answer, result) { kept[answer.id] = whole }
    }
    if !results.isEmpty { tools.report(SendReport(push: push, results: results, names: names, answers: kept)) }
  }

  /// An answer that says more than its result; nil: it does not.
  private func whole(_ answer: Answer, _ result: SendResult) -> ReceivedAnswer? {
    guard case .answered(let status, let detail?) = answer.result, !detail.fields.isEmpty || !detail.body.isEmpty else {
      return nil
    }
    if result == .outcome(.accepted) {
      // APNs repeats the ID that it got, and says nothing else in production.
      guard answer.isKept, !rules.repeatsRequest(detail.fields) else { return nil }
    }
    return ReceivedAnswer(status: status, fields: Array(detail.fields), body: detail.body)
  }

  package func group(_ group: ClientGroup, changed state: ClientGroup.State) { refreshState() }

  package func group(_ group: ClientGroup, believes answer: Answer) -> Bool {
    guard case .answered(200, let detail) = answer.result else { return true }
    return rules.lack(in: detail) == nil
  }

  /// Ignored: the group continues on another connection, and reports a failure of that.
  package func group(_ group: ClientGroup, heard goAway: GoAway) {}

  /// Renews the authorization, and widens the limits with time.
  package func groupWillSend(_ group: ClientGroup) {
    if authorization == nil, group.inFlightLimit != nil { holdBack(tools.clock()) }
    authorize()
  }
}

extension HTTP2Error {
  /// The error's words; with a code before them where people look up what to do.
  var reason: String {
    guard case .proxy(let problem) = code else { return message }
    return Reason.combined(OwnReason(problem), after: message)
  }
}
