internal import Push

/// Splits a stream into lines.
struct LineSplitter {
  struct Line {
    let number: Int
    let content: Result<[UInt8], Problem>
  }

  private var rest: [UInt8] = []
  private var number = 1
  private var isTooLong = false
  private var isFirst = true

  mutating func push(_ bytes: some Sequence<UInt8>) -> [Line] {
    bytes.withContiguousStorageIfAvailable { split($0) } ?? Array(bytes).withUnsafeBufferPointer { split($0) }
  }

  private mutating func split(_ bytes: UnsafeBufferPointer<UInt8>) -> [Line] {
    var lines: [Line] = []
    var start = 0
    while let end = bytes[start...].firstIndex(of: 0x0a) {
      add(bytes[start..<end])
      lines.append(take())
      start = end + 1
    }
    add(bytes[start...])
    return lines
  }

  private mutating func add(_ piece: Slice<UnsafeBufferPointer<UInt8>>) {
    let room = DeviceImport.maximumLineBytes - rest.count
    rest += piece.prefix(room)
    if piece.count > room { isTooLong = true }
  }

  mutating func finish() -> [Line] { rest.isEmpty ? [] : [take()] }

  private mutating func take() -> Line {
    defer {
      rest.removeAll(keepingCapacity: true)
      number += 1
      isTooLong = false
      isFirst = false
    }
    if isTooLong {
      let limit = ["limit": String(DeviceImport.maximumLineBytes)]
      return Line(number: number, content: .failure(Problem("", ImportMessage.lineTooLong, limit)))
    }
    return Line(number: number, content: .success(isFirst ? withoutByteOrderMark(rest) : rest))
  }
}

/// Some programs begin a UTF-8 file with U+FEFF.
func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
  bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
}
