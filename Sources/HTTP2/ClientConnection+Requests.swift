import Reactor

extension ClientConnection {
  /// Fields added to every request from now on, as `authorization`.
  package func setSharedFields(_ fields: [HeaderField]) {
    precondition(loop.isCurrent)
    session.encoder.shared = fields.map(FieldBytes.init)
  }

  /// Sends requests of a batch, at most as many as ``claimCapacity()`` said.
  ///
  /// - Returns: how many were taken, from `first` on. Each of them ends in one ``Answer``; the others are not ours.
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

  /// Sends what was submitted. Not done by ``submit(_:from:count:)``, so that several batches share a TLS record.
  package func flush() {
    precondition(loop.isCurrent)
    transport?.flush()
    report()
  }
}
