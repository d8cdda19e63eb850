import Reactor

extension ClientConnection {
  /// Checks deadlines and the peer's silence periodically until the connection is closed.
  func watch() {
    let shortest = min(
      configuration.requestTimeout, configuration.pingAfter, configuration.pingTimeout, configuration.idlePingAfter,
      .seconds(4))
    let interval = max(shortest / 4, .milliseconds(5))
    let due = loop.now() + interval.nanoseconds
    timer = loop.schedule(after: interval) { [self] in
      guard state == .open || state == .draining else { return }
      look(isLate: loop.now() > due + max(interval, .milliseconds(100)).nanoseconds)
      if state != .closed { watch() }
    }
  }

  /// - Parameter isLate: whether this process was stalled: the peer's answers may still be in the socket's buffer, so
  /// nothing times out before the next look.
  private func look(isLate: Bool) {
    session.idleFrames = 0
    if isOverdue(loop.now()) {
      // Bytes that have arrived count before the time does.
      let isRead = transport?.readWhatCame() ?? true
      guard state != .closed else { return }
      // Skipped once only: on a machine that is always late, time-outs must still apply.
      if isRead, !isLate || wasLate { giveUpOverdue() }
      guard state != .closed else { return }
    }
    wasLate = isLate
    let now = loop.now()
    let silence = now - min(now, lastReceived)
    let patience = inFlight > 0 ? configuration.pingAfter : configuration.idlePingAfter
    if pingSent == nil, silence > patience.nanoseconds { ping() }
    report()
    transport?.flush()
    if state != .closed { closeIfDrained() }
  }

  private func isPingOverdue(_ now: UInt64) -> Bool {
    pingSent.map { now > $0 && now - $0 > configuration.pingTimeout.nanoseconds } ?? false
  }

  private func isOverdue(_ now: UInt64) -> Bool {
    isPingOverdue(now) || session.slots.all.contains { $0.pointee.deadline <= now }
  }

  private func giveUpOverdue() {
    let now = loop.now()
    if isPingOverdue(now) {
      return fail(
        HTTP2Error(.unresponsive, "\(endpoint.authority) did not answer a PING within \(configuration.pingTimeout)."))
    }
    for slot in session.slots.all where slot.pointee.deadline <= now {
      session.reset(slot, .cancel, .unknown(.timeout))
    }
  }

  /// Asks the peer for a PING acknowledgement.
  func ping() {
    guard pingSent == nil, transport?.isOpen == true else { return }
    session.ping()
    pingSent = loop.now()
    transport?.flush()
  }
}
