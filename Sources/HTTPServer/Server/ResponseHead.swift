/// Writes the head of a response.
struct ResponseHead {
  enum Framing {
    case length(Int)
    case chunked
    /// The body ends with the connection.
    case untilClose
    case none
  }

  enum Persistence {
    /// The default of HTTP/1.1.
    case implied
    /// Stated, for HTTP/1.0.
    case keepAlive
    case close
  }

  enum RequestID {
    case number(UInt64)
    case text(String)
  }

  let framing: Framing
  let connection: Persistence
  let requestID: RequestID

  /// Writes the status line, the fields and the empty line. The fields must be valid.
  func write(_ response: Response, to output: Buffer, date: [UInt8]) {
    output.append(response.status.line)
    output.append(date)
    for field in response.headers.responseFields where !Self.isOurs(field.name) {
      output.append(field.name)
      output.append(literal: ": ")
      output.append(field.value)
      output.append(literal: "\r\n")
    }
    for block in response.headers.blocks { output.append(block.bytes) }
    switch requestID {
    case .number(let number):
      output.append(literal: "X-Request-Id: ")
      output.reserve(13)
      if let room = output.room.baseAddress {
        RequestNumber.write(number, to: room.assumingMemoryBound(to: UInt8.self))
      }
      output.filled(13)
    case .text(let text):
      output.append(literal: "X-Request-Id: ")
      output.append(text)
    }
    switch framing {
    case .length(let length):
      output.append(literal: "\r\nContent-Length: ")
      output.append(length)
    case .chunked: output.append(literal: "\r\nTransfer-Encoding: chunked")
    case .untilClose, .none: break
    }
    switch connection {
    case .implied: break
    case .keepAlive: output.append(literal: "\r\nConnection: keep-alive")
    case .close: output.append(literal: "\r\nConnection: close")
    }
    output.append(literal: "\r\n\r\n")
  }

  /// Fields that the server alone sets.
  static func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: name.equalsIgnoringCase("date")
    case 10: name.equalsIgnoringCase("connection")
    case 12: name.equalsIgnoringCase("x-request-id")
    case 14: name.equalsIgnoringCase("content-length")
    case 17: name.equalsIgnoringCase("transfer-encoding")
    default: false
    }
  }
}
