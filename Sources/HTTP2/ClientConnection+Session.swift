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
      // The reason for closing is already in the output.
      transport?.flush()
      fail(HTTP2Error(.protocolViolation, "\(endpoint.authority) \(error.message): \(error.code)."))
      return false
    }
    if !session.notices.isEmpty { noteNotices() }
    return state != .closed
  }

  func transportReady() {
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
    fail(
      goAwayError ?? error ?? HTTP2Error(.closedByPeer, "\(endpoint.authority) closed the connection."))
  }

  /// Acts on what the session received besides answers.
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

  var goAwayReceived: GoAway? { session.goAway }

  /// The announced end as an error.
  var goAwayError: HTTP2Error? {
    goAwayReceived.map { goAway in
      let words = goAway.debugData.isEmpty ? "" : " " + String(decoding: goAway.debugData.prefix(200), as: UTF8.self)
      return HTTP2Error(.goneAway, "\(endpoint.authority) sent GOAWAY: \(goAway.code)\(words)")
    }
  }
}

extension ClientConnection {
  /// Sets the fields added to every request from now on, such as `authorization`.
  package func setSharedFields(_ fields: [HeaderField]) {
    precondition(loop.isCurrent)
    session.encoder.shared = fields.map(FieldBytes.init)
  }

  /// Sends requests of a batch, at most as many as ``claimCapacity()`` said.
  ///
  /// - Returns: how many were taken, starting at `first`. Each of them ends in one ``Answer``; the caller keeps the
  /// others.
  package func submit(_ batch: RequestBatch, from first: Int, count: Int) -> Int {
    precondition(loop.isCurrent && first >= 0 && first + count <= batch.count)
    guard state == .open, let transport else { return 0 }
    isVerified = false
    isSubmitting = true
    defer { isSubmitting = false }
    let deadline = loop.now() + configuration.requestTimeout.nanoseconds
    let room = min(count, limit - inFlight)
    var taken = 0
    while taken < room, state == .open {
      if !transport.hasRoom {
        transport.flushRecords()
        guard transport.hasRoom, state == .open else {
          hadNoRoom = true
          break
        }
      }
      guard session.submit(batch, first + taken, deadline: deadline) else {
        state = .draining
        break
      }
      taken += 1
    }
    if state == .open, !session.hasStreamIDs { state = .draining }
    return taken
  }

  /// Sends what was submitted. Separate from ``submit(_:from:count:)``, so that several batches share a TLS record.
  package func flush() {
    precondition(loop.isCurrent)
    transport?.flush()
    report()
  }
}
