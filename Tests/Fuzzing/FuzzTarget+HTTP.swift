@testable import HTTP2
@testable import HTTPServer

/// HTTP/1.1 and forms.
extension FuzzTarget {
  enum RequestEvent: Equatable {
    case head(RequestLineReading)
    case end(body: [UInt8])
    case failed(Status)
  }

  /// A head, and what the parser made of it.
  struct RequestLineReading: Equatable {
    let bytes: [UInt8]
    let method: Method
    let target: String
    let segments: [String]
    let framing: RequestHead.Framing
    let problem: RequestError?
    let keepsAlive: Bool
    let expectsContinue: Bool
    let host: Range<Int>?

    init(_ head: RequestHead) {
      (bytes, method, target, segments) = (head.bytes, head.method, head.text(head.target), head.segments)
      (framing, problem, host) = (head.framing, head.problem, head.host)
      (keepsAlive, expectsContinue) = (head.keepsAlive, head.expectsContinue)
    }
  }

  static func requests(_ pieces: [ArraySlice<UInt8>]) -> [RequestEvent] {
    var parser = RequestParser(limits: .init(line: 256, fields: 1024, fieldCount: 16))
    var found: [RequestEvent] = []
    var body: [UInt8] = []
    for piece in pieces {
      let isOver = piece.withUnsafeBufferPointer { input in
        var offset = 0
        while true {
          switch parser.next(input, &offset) {
          case .needsMore: return false
          case .head(let head):
            found.append(.head(RequestLineReading(head)))
            parser.bodyLimit = 4096
          case .body(let range): body += input[range]
          case .end:
            found.append(.end(body: body))
            body = []
          case .failed(let error):
            found.append(.failed(error.status))
            return true
          }
        }
      }
      if isOver { break }
    }
    return found
  }

  enum FormReading: Equatable {
    case events([MultipartParser.Event])
    /// How much was told before the failure depends on the pieces.
    case failed(Status)
  }

  static func parts(_ pieces: [ArraySlice<UInt8>]) -> FormReading {
    var parser = MultipartParser(
      boundary: "b", limits: MultipartLimits(parts: 8, headerBytes: 512, partBytes: 4096))
    var found: [MultipartParser.Event] = []
    var data: [UInt8] = []
    do {
      for piece in pieces {
        for event in try parser.feed(Array(piece)) {
          if case .data(let more) = event {
            data += more
          } else {
            if !data.isEmpty { found.append(.data(data)) }
            found.append(event)
            data = []
          }
        }
      }
      try parser.finish()
      return .events(found)
    } catch {
      return .failed(error.status)
    }
  }

  // MARK: The simulator's HTTP/1.1

  enum PlainEvent: Equatable {
    case request(PlainReader.Request)
    case refused(PlainReader.Refusal)
  }

  /// Besides: where both readers of HTTP/1.1 accept the first request, they must agree on it.
  static func serveHTTP1(_ bytes: [UInt8]) {
    sameInPieces(bytes, plainRequests)
    guard case .request(let own)? = plainRequests([bytes[...]]).first else { return }
    let other = requests([bytes[...]]).prefix(2)
    guard case .head(let head)? = other.first, case .end(let body)? = other.last else { return }
    precondition(own.fields[":method"] == "\(head.method)", "another method")
    precondition(own.fields[":path"] == head.target, "another target")
    precondition(own.body == body, "another end of the body")
  }

  private static func plainRequests(_ pieces: [ArraySlice<UInt8>]) -> [PlainEvent] {
    var settings = ServerSettings()
    (settings.maximumHeaderBytes, settings.maximumBodyBytes) = (512, 4096)
    var reader = PlainReader(settings)
    var found: [PlainEvent] = []
    do throws(PlainReader.Refusal) {
      for piece in pieces {
        piece.withUnsafeBytes { reader.append($0) }
        while let request = try reader.next() {
          precondition(request.body.count == min(request.bodyByteCount, 4096), "lost a part of the body")
          found.append(.request(request))
        }
      }
    } catch {
      found.append(.refused(error))
    }
    return found
  }
}
