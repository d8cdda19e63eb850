import OpenSSL
import Reactor

extension ClientConnection: SecureTransportOwner {
  func transportOpened() {
    guard let transport else { return }
    guard transport.tls.alpn == "h2" else {
      return fail(
        HTTP2Error(.notHTTP2, "\(endpoint.authority) does not support HTTP/2 (no h2 in ALPN)."))
    }
    lastReceived = loop.now()
    session.begin()
    transport.flush()
  }

  func transport(received bytes: UnsafeRawBufferPointer) -> Bool {
    lastReceived = loop.now()
    do {
      try session.receive(bytes.assumingMemoryBound(to: UInt8.self))
    } catch {
      noteNotices()
      // What we say to it is in the output already.
      transport?.flush()
      fail(HTTP2Error(.protocolViolation, "\(endpoint.authority) \(error.message): \(error.code)."))
      return false
    }
    if !session.notices.isEmpty { noteNotices() }
    return state != .closed
  }

  func transportSettled() {
    guard state != .closed, let transport else { return }
    report()
    guard state != .closed else { return }
    transport.flush()
    closeIfDrained()
    if transport.hasRoom, state == .open, hadNoRoom {
      hadNoRoom = false
      events.append(.capacity)
      report()
      transport.flush()
    }
  }

  func transportFailed(_ error: HTTP2Error?) {
    fail(goAwayError ?? error)
  }

  /// What the session heard besides answers.
  private func noteNotices() {
    for notice in session.notices {
      switch notice {
      case .settings(isFirst: true):
        guard state == .connecting else { continue }
        state = .open
        timer?.cancel()
        watch()
        events.append(.opened)
      case .settings(isFirst: false): events.append(.capacity)
      case .pong:
        pingSent = nil
        isVerified = true
        events.append(.capacity)
      case .goAway(let goAway):
        if state == .open || state == .connecting { state = .draining }
        events.append(.goingAway(goAway))
      }
    }
    session.notices.removeAll(keepingCapacity: true)
  }

  /// The announced end, if there is one.
  var goAwayReceived: GoAway? { session.goAway }

  /// The same as an error.
  var goAwayError: HTTP2Error? {
    goAwayReceived.map { goAway in
      let words = goAway.debugData.isEmpty ? "" : " " + String(decoding: goAway.debugData.prefix(200), as: UTF8.self)
      return HTTP2Error(.goneAway, "\(endpoint.authority) sent GOAWAY: \(goAway.code)\(words)")
    }
  }
}
