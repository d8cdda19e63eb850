internal import Foundation
package import JSON
import Model

/// Reads devices from a stream piece by piece, with memory for one line.
///
///     var parser = DeviceLineParser(format: .csv)
///     while let bytes = try read() { use(parser.push(bytes)) }
///     use(parser.finish())
///
/// An invalid line is reported and skipped. Only an invalid CSV header stops the reading: it is reported as line 1, and
/// ``isStopped`` is true.
package struct DeviceLineParser {
  // One of the two. Not cases of an enum: a piece would copy the bytes of the begun line when it takes them out.
  private var lines: LineSplitter?
  private var records: CSVSplitter?
  private let defaults: [String: JSONValue]
  private var header: [String]?
  /// Whether an invalid CSV header stopped the reading.
  package private(set) var isStopped = false
  /// Devices read or rejected so far, without blank lines and the header.
  package private(set) var count = 0

  /// - Parameter defaults: values for missing members, such as `["app": "com.example.app"]`.
  package init(format: DeviceImport.Format, defaults: [String: JSONValue] = [:]) {
    if format == .csv { records = CSVSplitter() } else { lines = LineSplitter() }
    self.defaults = defaults
  }

  /// Takes more bytes, and returns the completed devices in order.
  package mutating func push(_ bytes: some Sequence<UInt8>) -> [Result<DeviceImport.Line, RejectedLine>] {
    guard !isStopped else { return [] }
    // In a loop over any sequence, each byte is a call: 28 ns, where one of an array takes 1.
    let bytes = Array(bytes)
    if let found = lines?.push(bytes) { return found.compactMap { read($0) } }
    return (records?.push(bytes) ?? []).compactMap { read($0) }
  }

  /// Ends the input; returns a last line without line end.
  package mutating func finish() -> [Result<DeviceImport.Line, RejectedLine>] {
    guard !isStopped else { return [] }
    if let found = lines?.finish() { return found.compactMap { read($0) } }
    return (records?.finish() ?? []).compactMap { read($0) }
  }

  private mutating func read(_ line: LineSplitter.Line) -> Result<DeviceImport.Line, RejectedLine>? {
    switch line.content {
    case .failure(let problem):
      count += 1
      return .failure(RejectedLine(line: line.number, problems: [problem]))
    case .success(let bytes):
      guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) else { return nil }
      count += 1
      do throws(Problem) {
        return DeviceImport.read(try JSONValue(checking: bytes), line: line.number, defaults: defaults)
      } catch {
        return .failure(RejectedLine(line: line.number, problems: [error.inFile(line: line.number)]))
      }
    }
  }

  private mutating func read(_ record: CSVSplitter.Record) -> Result<DeviceImport.Line, RejectedLine>? {
    guard !isStopped else { return nil }
    func rejected(_ problem: Problem) -> Result<DeviceImport.Line, RejectedLine> {
      .failure(RejectedLine(line: record.line, problems: [problem]))
    }
    let fields: [String]
    switch record.content {
    case .failure(let problem):
      if header == nil { isStopped = true } else { count += 1 }
      return rejected(problem)
    case .success(let found): fields = found
    }
    if fields == [""] { return nil }
    guard let header else {
      let names = fields.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      header = names
      guard let problem = DeviceCSV.problem(withHeader: names, defaults: defaults) else { return nil }
      isStopped = true
      return rejected(problem)
    }
    count += 1
    guard fields.count == header.count else {
      return rejected(
        Problem("", ImportMessage.columnCount, ["expected": "\(header.count)", "count": "\(fields.count)"]))
    }
    do throws(Problem) {
      return DeviceImport.read(try DeviceCSV.json(header, fields), line: record.line, defaults: defaults)
    } catch {
      return rejected(error)
    }
  }
}

extension Problem {
  /// Of a line's JSON, whose parser counts from the line: with the number that the line has in its file.
  fileprivate func inFile(line: Int) -> Problem {
    guard arguments["line"] != nil else { return self }
    return Problem(field, code: code, template, arguments.merging(["line": "\(line)"]) { $1 })
  }
}
