import Reactor

extension ClientConnection {
  /// Looks at deadlines and at the peer's silence, again and again until the connection is closed.
  func watch() {
    let shortest = min(
      configuration.requestTimeout, configuration.pingAfter, configuration.pingTimeout, configuration.idlePingAfter,
      .seconds(4))
    timer = loop.schedule(after: max(shortest / 4, .milliseconds(5))) { [self] in
      guard state == .open || state == .draining else { return }
      look()
      if state != .closed { watch() }
    }
  }

  private func look() {
    let now = loop.now()
    if let pingSent, now - pingSent > configuration.pingTimeout.nanoseconds {
      return fail(
        HTTP2Error(.unresponsive, "\(endpoint.authority) did not answer a PING within \(configuration.pingTimeout)."))
    }
    for slot in session.slots.all where slot.pointee.deadline <= now {
      session.reset(slot, .cancel, .unknown(.timeout))
    }
    let silence = now - min(now, lastReceived)
    let patience = inFlight > 0 ? configuration.pingAfter : configuration.idlePingAfter
    if pingSent == nil, silence > patience.nanoseconds { ping() }
    report()
    transport?.flush()
    if state != .closed { closeIfDrained() }
  }

  /// Asks the peer for a sign of life.
  func ping() {
    guard pingSent == nil, transport?.isOpen == true else { return }
    session.ping()
    pingSent = loop.now()
    transport?.flush()
  }
}
