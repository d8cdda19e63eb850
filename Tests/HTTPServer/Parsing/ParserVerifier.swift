@testable import HTTPServer

/// What a parser makes of some input, as text that can be compared.
struct Transcript: Equatable, CustomStringConvertible {
  var lines: [String] = []
  var failure: Status?

  var description: String { lines.joined(separator: "\n") + (failure.map { "\nfailed \($0.code)" } ?? "") }
  var requests: Int { lines.count { $0 == "end" } }
}

/// Feeds a request parser in several ways and demands the same result.
enum ParserVerifier {
  /// Feeds `input` cut into pieces of `size` bytes.
  static func parse(_ input: [UInt8], pieces size: Int, limits: RequestParser.Limits = .init()) -> Transcript {
    var transcript = Transcript()
    var parser = RequestParser(limits: limits)
    var body: [UInt8] = []
    var start = 0
    while start < input.count {
      let piece = Array(input[start..<min(start + size, input.count)])
      start += piece.count
      var offset = 0
      var isHungry = false
      while !isHungry {
        let event = piece.withUnsafeBufferPointer { parser.next($0, &offset) }
        switch event {
        case .needsMore: isHungry = true
        case .head(let head):
          if let problem = head.problem {
            transcript.failure = problem.status
            return transcript
          }
          transcript.lines.append(describe(head))
          body = []
        case .body(let range): body.append(contentsOf: piece[range])
        case .end:
          transcript.lines.append("body \(body)")
          transcript.lines.append("end")
        case .failed(let error):
          transcript.failure = error.status
          return transcript
        }
      }
    }
    return transcript
  }

  /// Whole, byte by byte, in threes, and behind a good request.
  ///
  /// - Returns: the common transcript, and where the ways differ.
  static func verify(_ input: [UInt8], limits: RequestParser.Limits = .init()) -> (Transcript, problems: [String]) {
    let whole = parse(input, pieces: max(1, input.count), limits: limits)
    var problems: [String] = []
    for size in [1, 3] where parse(input, pieces: size, limits: limits) != whole {
      problems.append("pieces of \(size): \(parse(input, pieces: size, limits: limits))")
    }
    let good = Array("POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8)
    let first = parse(good, pieces: good.count)
    for size in [1, good.count + input.count] {
      let glued = parse(good + input, pieces: size, limits: limits)
      if glued.lines != first.lines + whole.lines || glued.failure != whole.failure {
        problems.append("glued, pieces of \(size): \(glued)")
      }
    }
    return (whole, problems)
  }

  private static func describe(_ head: RequestHead) -> String {
    let fields = head.allFields.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
    return "\(head.method) \(head.text(head.target)) \(head.segments) ?\(head.query.map(head.text) ?? "-") "
      + "1.\(head.minorVersion) \(head.framing) keep=\(head.keepsAlive) continue=\(head.expectsContinue) "
      + "host=\(head.host.map(head.text) ?? "-") \(fields)"
  }
}
