/// Finds the bytes of a body: of a known length, or chunked (RFC 9112 section 7.1).
struct BodyDecoder {
  private enum State {
    case data(Int)
    case finished
    // chunked
    case size(digits: Int, value: Int)
    case extensions
    case sizeEnd
    case chunk(Int)
    case chunkReturn
    case chunkNewline
    case trailers
  }

  /// Sixteen digits would exceed `Int.max`.
  private static let sizeDigits = 15
  private static let extensionLimit = 4096
  private static let trailerLimit = 8192

  /// The most bytes of a chunked body.
  var limit = Int.max
  private var state: State
  private var count = 0
  private var size = 0
  private var extensionBytes = 0
  private var trailer: [UInt8] = []
  private var trailerBytes = 0

  init(_ framing: RequestHead.Framing) {
    switch framing {
    case .none: state = .finished
    case .length(let length): state = .data(length)
    case .chunked: state = .size(digits: 0, value: 0)
    }
  }

  mutating func next(_ input: UnsafeBufferPointer<UInt8>, _ offset: inout Int) -> RequestParser.Event {
    do throws(RequestError) {
      while true {
        if case .finished = state { return .end }
        guard offset < input.count else { return .needsMore }
        if let range = try step(input, &offset) { return .body(range) }
      }
    } catch {
      return .failed(error)
    }
  }

  private mutating func step(
    _ input: UnsafeBufferPointer<UInt8>, _ offset: inout Int
  ) throws(RequestError) -> Range<Int>? {
    switch state {
    case .finished: return nil
    case .data(let left):
      let range = offset..<min(offset + left, input.count)
      offset = range.upperBound
      state = range.count == left ? .finished : .data(left - range.count)
      return range
    case .chunk(let left):
      let range = offset..<min(offset + left, input.count)
      offset = range.upperBound
      state = range.count == left ? .chunkReturn : .chunk(left - range.count)
      return range
    default:
      let byte = input[offset]
      offset += 1
      try take(byte)
      return nil
    }
  }

  private mutating func take(_ byte: UInt8) throws(RequestError) {
    switch state {
    case .size(let digits, let value): try takeSize(byte, digits, value)
    case .extensions:
      extensionBytes += 1
      if byte == 0x0D {
        state = .sizeEnd
      } else if !ByteClass.isFieldValue(byte) {
        throw RequestError(.badRequest, "A chunk extension contains a control byte.")
      } else if extensionBytes > Self.extensionLimit {
        throw RequestError(.badRequest, "The chunk extensions are longer than \(Self.extensionLimit) bytes.")
      }
    case .sizeEnd:
      try expect(0x0A, byte)
      state = size == 0 ? .trailers : .chunk(size)
    case .chunkReturn:
      try expect(0x0D, byte)
      state = .chunkNewline
    case .chunkNewline:
      try expect(0x0A, byte)
      state = .size(digits: 0, value: 0)
    case .trailers: try takeTrailer(byte)
    case .data, .chunk, .finished: preconditionFailure("these states take runs of bytes")
    }
  }

  private mutating func takeSize(_ byte: UInt8, _ digits: Int, _ value: Int) throws(RequestError) {
    if let digit = ByteClass.hexadecimal(byte) {
      guard digits < Self.sizeDigits else { throw RequestError(.badRequest, "A chunk size has too many digits.") }
      state = .size(digits: digits + 1, value: value << 4 | Int(digit))
      return
    }
    guard digits > 0, byte == 0x0D || byte == UInt8(ascii: ";") else {
      throw RequestError(.badRequest, "A chunk size is not a hexadecimal number.")
    }
    guard value <= limit - count else {
      throw RequestError(.contentTooLarge, "The body is longer than \(limit) bytes.")
    }
    count += value
    size = value
    state = byte == 0x0D ? .sizeEnd : .extensions
  }

  /// Trailers are parsed as header lines and dropped: their information would come too late.
  private mutating func takeTrailer(_ byte: UInt8) throws(RequestError) {
    trailerBytes += 1
    guard trailerBytes <= Self.trailerLimit else {
      throw RequestError(.headerFieldsTooLarge, "The trailers are longer than \(Self.trailerLimit) bytes.")
    }
    trailer.append(byte)
    guard byte == 0x0A else { return }
    guard trailer.count >= 2, trailer[trailer.count - 2] == 0x0D else {
      throw RequestError(.badRequest, "A trailer line ends without a carriage return.")
    }
    if trailer.count == 2 {
      state = .finished
      return
    }
    _ = try trailer.withUnsafeBufferPointer { line throws(RequestError) in
      try RequestParser.field(line, 0..<line.count - 2)
    }
    trailer.removeAll(keepingCapacity: true)
  }

  private func expect(_ expected: UInt8, _ byte: UInt8) throws(RequestError) {
    guard byte == expected else { throw RequestError(.badRequest, "A chunk does not end with a line break.") }
  }
}
