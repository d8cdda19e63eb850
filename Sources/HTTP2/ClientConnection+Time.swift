import CNGHTTP2
import Reactor

extension ClientConnection {
  /// Looks at deadlines and at the peer's silence, again and again until the connection is closed.
  func watch() {
    let shortest = min(
      configuration.requestTimeout, configuration.pingAfter, configuration.pingTimeout, configuration.idlePingAfter,
      .seconds(4))
    timer = loop.schedule(after: max(shortest / 4, .milliseconds(5))) { [weak self] in
      guard let self, state == .open || state == .draining else { return }
      look()
      if state != .closed { watch() }
    }
  }

  private func look() {
    let now = EventLoop.now()
    if let pingSent, now - pingSent > configuration.pingTimeout.nanoseconds {
      return fail(
        HTTP2Error(.unresponsive, "\(endpoint.authority) did not answer a PING within \(configuration.pingTimeout)."))
    }
    for slot in slots.all where slot.pointee.deadline <= now && !slot.pointee.isLate {
      slot.pointee.isLate = true
      reset(slot.pointee.streamID)
    }
    let silence = now - min(now, lastReceived)
    let patience = slots.used > 0 ? configuration.pingAfter : configuration.idlePingAfter
    if pingSent == nil, silence > patience.nanoseconds { ping() }
    sendFrames()
    report()
    transport?.flush()
    if state != .closed { closeIfDrained() }
  }

  /// Asks the peer for a sign of life.
  func ping() {
    guard let session, pingSent == nil else { return }
    // Fails only for lack of memory; then the connection fails at the next frame.
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    pingSent = EventLoop.now()
    sendFrames()
    transport?.flush()
  }
}
