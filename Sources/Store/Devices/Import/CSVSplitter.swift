internal import Model

/// Splits a stream into records of RFC 4180; LF alone also ends a record. The separator is the first of `,`, `;` and
/// tab in the header, because spreadsheets of many countries write semicolons.
struct CSVSplitter {
  struct Record {
    /// The record's first line.
    let line: Int
    let content: Result<[String], Problem>
  }

  private enum State {
    case start, plain, quoted, quoteInQuoted
    /// The rest of an invalid record, up to the line's end.
    case skipping(Problem)
  }

  private var state = State.start
  private var separator: UInt8?
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []
  private var size = 0
  private var line = 1
  private var begin = 1
  private var isFirst = true

  mutating func push(_ bytes: [UInt8]) -> [Record] {
    var records: [Record] = []
    for byte in bytes {
      if byte == 0x0a, isAtBlankLine {
        skipBlankLine()
        continue
      }
      if let record = take(byte) { records.append(record) }
      if byte == 0x0a { line += 1 }
      // The next record begins after the line end of this one.
      if case .start = state, fields.isEmpty, size == 0 { begin = line }
    }
    return records
  }

  /// Whether nothing stands before the next byte in its line.
  private var isAtBlankLine: Bool {
    guard case .start = state else { return false }
    return size == 0
  }

  /// Makes no record: a piece of nothing but line ends would be a hundred times its size as records.
  private mutating func skipBlankLine() {
    line += 1
    begin = line
    isFirst = false
  }

  mutating func finish() -> [Record] {
    switch state {
    case .start where fields.isEmpty: []
    case .quoted: [end(.failure(Problem("", ImportMessage.openQuote)))]
    case .skipping(let problem): [end(.failure(problem))]
    default: [endRecord()]
    }
  }

  private mutating func take(_ byte: UInt8) -> Record? {
    size += 1
    if case .skipping(let problem) = state { return byte == 0x0a ? end(.failure(problem)) : nil }
    if size > DeviceImport.maximumLineBytes {
      let limit = ["limit": String(DeviceImport.maximumLineBytes)]
      if case .quoted = state {
        state = .skipping(Problem("", ImportMessage.openQuote))
      } else {
        state = .skipping(Problem("", ImportMessage.lineTooLong, limit))
      }
      if case .skipping(let problem) = state, byte == 0x0a { return end(.failure(problem)) }
      return nil
    }
    switch state {
    case .quoted:
      if byte == 0x22 { state = .quoteInQuoted } else { field.append(byte) }
    case .quoteInQuoted where byte == 0x22:
      field.append(byte)
      state = .quoted
    case .start where byte == 0x22 && field.isEmpty: state = .quoted
    case _ where byte == 0x0a: return endRecord()
    case _ where isSeparator(byte):
      endField()
      state = .start
    case .quoteInQuoted where byte == 0x0d: break
    case .quoteInQuoted: state = .skipping(Problem("", ImportMessage.strayQuote))
    default:
      // A byte order mark may precede the first quotation mark.
      field.append(byte)
      let isMark = isFirst && fields.isEmpty && field == [0xef, 0xbb, 0xbf]
      if isMark { field = [] }
      state = isMark ? .start : .plain
    }
    return nil
  }

  private mutating func isSeparator(_ byte: UInt8) -> Bool {
    if let separator { return byte == separator }
    guard byte == 0x2c || byte == 0x3b || byte == 0x09 else { return false }
    separator = byte
    return true
  }

  private mutating func endField() {
    if field.last == 0x0d { field.removeLast() }
    fields.append(field)
    field = []
  }

  private mutating func endRecord() -> Record {
    endField()
    var texts: [String] = []
    for field in fields {
      guard let text = String(validating: field, as: UTF8.self) else {
        return end(.failure(Problem("", ImportMessage.notUTF8)))
      }
      texts.append(text)
    }
    return end(.success(texts))
  }

  private mutating func end(_ content: Result<[String], Problem>) -> Record {
    defer {
      state = .start
      fields = []
      field = []
      size = 0
      isFirst = false
    }
    return Record(line: begin, content: content)
  }
}

struct LineSplitter {
  struct Line {
    let number: Int
    let content: Result<[UInt8], Problem>
  }

  private var rest: [UInt8] = []
  private var number = 1
  private var isTooLong = false
  private var isFirst = true

  mutating func push(_ bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    var piece = bytes[...]
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
