import Reactor

/// What connections report.
extension ClientGroup: ClientConnectionHandler {
  package func connection(_ connection: ClientConnection, ended answers: [Answer]) {
    lastProgress = loop.now()
    var others: [Answer] = []
    others.reserveCapacity(answers.count)
    var (answered, unanswered) = (0, 0)
    var error: HTTP2Error?
    for answer in answers {
      switch answer.result {
      case .answered where handler?.group(self, believes: answer) ?? true: answered += 1
      case .answered(let status, _):
        unanswered += 1
        error = error ?? HTTP2Error(.unreadable, "\(endpoint.authority) answers \(status) as no push service does.")
      case .notProcessed:
        if connection.endsInOrder { setbacks.returned(1) } else { unanswered += 1 }
        guard isStopped || !queue.putBackIfAllowed(answer, configuration.maximumRefusals) else { continue }
      case .unknown(let cause):
        unanswered += 1
        error = error ?? cause.error(endpoint, configuration.connection)
      }
      others.append(answer)
    }
    let isSetback = setbacks.ended(answered: answered, unanswered: unanswered, inFlight: inFlight)
    if answered > 0 { succeeded() }
    // Before the handler learns of it, who may hand over more.
    if isSetback { pause(error ?? HTTP2Error(.unanswered, "\(endpoint.authority) refuses requests unprocessed.")) }
    if !others.isEmpty { handler?.group(self, ended: others) }
    if isSetback { tellState() }
    pump()
  }

  package func connection(_ connection: ClientConnection, changed event: ClientConnection.Event) {
    switch event {
    case .opened:
      lastProgress = loop.now()
      // The first request may be tried.
      tellState()
    case .capacity: break
    case .goingAway(let goAway):
      // Also an end with an error code: the server wants fewer connections or requests.
      if connection.answeredCount == 0 || goAway.code != .noError, !hasUsefulOther(connection) {
        pause(HTTP2Error(.goneAway, "\(endpoint.authority) sent GOAWAY: \(goAway.code)"))
        tellState()
      }
      handler?.group(self, heard: goAway)
    case .closed(let error):
      connections.removeAll { $0 === connection }
      if error.code != .stopped { ended(connection, error) }
      tellState()
    }
    pump()
  }

  private func ended(_ connection: ClientConnection, _ error: HTTP2Error) {
    let isUseless = connection.answeredCount == 0
    if isUseless, !hasUsefulOther(connection) {
      // Told when it was announced.
      if connection.goAwayReceived == nil { pause(error) }
    } else if !isUseless || !queue.isEmpty {
      // Others are answered, or this one was: only further connections wait.
      let wait = setbacks.connectionEnded(answered: connection.answeredCount)
      connectAt = loop.now() + wait.nanoseconds
    }
  }

  private func hasUsefulOther(_ connection: ClientConnection) -> Bool {
    connections.contains { $0 !== connection && $0.state == .open && $0.answeredCount > 0 }
  }
}

extension ClientConnection {
  /// Whether the peer announced the end after it had answered: what it did not process is no setback.
  fileprivate var endsInOrder: Bool { goAwayReceived?.code == .noError && answeredCount >= Setbacks.few }
}

extension Answer.Cause {
  fileprivate func error(_ endpoint: Endpoint, _ configuration: ClientConfiguration) -> HTTP2Error {
    let name = endpoint.authority
    return switch self {
    case .timeout: HTTP2Error(.unanswered, "\(name) did not answer within \(configuration.requestTimeout).")
    case .reset(let code): HTTP2Error(.unanswered, "\(name) answers with a reset: \(code).")
    case .connection(let error): error
    case .tooLong: HTTP2Error(.unanswered, "\(name) sent an answer that is too long.")
    }
  }
}
