internal import Model

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
    var lines: [Line] = []
    var piece = Array(bytes)[...]
    while let end = piece.firstIndex(of: 0x0a) {
      append(piece[..<end])
      lines.append(take())
      piece = piece[(end + 1)...]
    }
    append(piece)
    return lines
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    if rest.count + bytes.count > DeviceImport.maximumLineBytes { isTooLong = true }
    rest += bytes.prefix(DeviceImport.maximumLineBytes - rest.count)
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
