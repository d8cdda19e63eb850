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
    var lines: [Line] = []
    for byte in bytes {
      if byte == 0x0a {
        lines.append(take())
      } else if rest.count < DeviceImport.maximumLineBytes {
        rest.append(byte)
      } else {
        isTooLong = true
      }
    }
    return lines
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
