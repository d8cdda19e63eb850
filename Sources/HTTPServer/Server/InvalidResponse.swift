/// An answer that a handler may not give.
enum InvalidResponse: Error, Equatable, CustomStringConvertible {
  case field(String)
  case status(Status)
  case length

  var description: String {
    switch self {
    case .field(let name):
      "The response's field \(name.debugDescription) has a name or a value that cannot be sent: a control byte?"
    case .status(let status): "A handler answered \(status.code): informational answers are the server's."
    case .length: "A streamed body was not as long as it had said."
    }
  }
}
