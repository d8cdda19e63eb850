extension Connection {
  /// The buffer of bytes to be sent.
  var output: Buffer {
    if let outgoing { return outgoing }
    let buffer = worker.takeBuffer()
    outgoing = buffer
    return buffer
  }

  var isDrained: Bool { outgoing == nil && tail == nil }

  func send(_ tail: Tail) { self.tail = tail }

  /// Sends as much as possible.
  func flush() -> Bool {
    var turn = Self.turn
    while true {
      let result: TransferResult
      if let outgoing, !outgoing.isEmpty {
        result = send(outgoing)
      } else if case .file(let file, let range) = tail, transport.isSecure {
        guard load(file, range) else {
          breakOff()
          return false
        }
        continue
      } else if let tail {
        result = send(tail, atMost: turn)
      } else {
        break
      }
      switch result {
      case .bytes(let count):
        turn -= count
        writeDeadline = worker.now &+ worker.timeouts.write
        if turn <= 0 { return false }
      case .wouldBlock:
        if writeDeadline == 0 { writeDeadline = worker.now &+ worker.timeouts.write }
        return false
      case .end, .failed:
        breakOff()
        return false
      }
    }
    if let outgoing { worker.giveBack(outgoing) }
    outgoing = nil
    writeDeadline = 0
    exchange?.drained()
    return true
  }

  /// Sends the output buffer together with the following file or bytes: the head alone would cost a packet and a
  /// wake-up of the peer.
  func send(_ outgoing: Buffer) -> TransferResult {
    let head = UnsafeRawBufferPointer(outgoing.bytes)
    guard case .plain(let plain) = transport else {
      let result = transport.write(from: head)
      if case .bytes(let count) = result { outgoing.consume(count) }
      return result
    }
    switch tail {
    case .bytes(let bytes, let sent):
      let result = bytes.withUnsafeBytes { plain.write(from: head, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard case .bytes(let count) = result else { return result }
      let ofHead = min(count, head.count)
      outgoing.consume(ofHead)
      let position = sent + count - ofHead
      tail = position < bytes.count ? .bytes(bytes, sent: position) : nil
      if tail == nil { exchange?.tailSent() }
      return result
    case .file, nil:
      let result = plain.write(from: head, moreFollows: tail != nil)
      if case .bytes(let count) = result { outgoing.consume(count) }
      return result
    }
  }

  func send(_ tail: Tail, atMost limit: Int) -> TransferResult {
    let result: TransferResult
    switch tail {
    case .bytes(let bytes, let sent):
      result = bytes.withUnsafeBytes { transport.write(from: UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      if case .bytes(let count) = result {
        self.tail = sent + count < bytes.count ? .bytes(bytes, sent: sent + count) : nil
      }
    case .file(let file, let range):
      let plain = PlainTransport(descriptor: transport.descriptor)
      result = plain.write(file: file.descriptor, at: range.lowerBound, count: min(range.count, limit, 256 * 1024))
      if case .bytes(let count) = result {
        self.tail = count < range.count ? .file(file, range.lowerBound + count..<range.upperBound) : nil
      }
    }
    if self.tail == nil { exchange?.tailSent() }
    return result
  }

  /// Reads a piece of a file into the output: under TLS the kernel cannot send it by itself.
  func load(_ file: OpenFile, _ range: Range<Int>) -> Bool {
    let end = min(range.upperBound, range.lowerBound + Self.outputLimit)
    guard let piece = file.read(range.lowerBound..<end), piece.count == end - range.lowerBound else { return false }
    output.append(piece)
    tail = end < range.upperBound ? .file(file, end..<range.upperBound) : nil
    if tail == nil { exchange?.tailSent() }
    return true
  }

  /// Called when everything is sent and nothing more will come.
  func finish() {
    arm(.none)
    guard !sawEnd else { return close() }
    var hasMore = input?.isEmpty == false || !parser.isBetweenRequests
    if !hasMore {
      let buffer = input ?? worker.takeBuffer()
      input = buffer
      if case .bytes = transport.read(into: buffer.room) { hasMore = true }
    }
    guard hasMore else { return close() }
    transport.endWriting()
    state = .draining
    if let input { input.consume(input.count) }
    releaseInput()
    arm(.linger)
    updateInterest()
  }
}
