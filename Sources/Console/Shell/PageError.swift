import HTTPServer

/// An error with what a person needs: what happened, what was kept, what to do. Texts are keys of the locale tables
/// under `errors`: `title`, `happened`, `kept`, `next`.
struct PageError: HTTPResponseError {
  let status: Status
  /// As `not_found`; the group in the locale tables.
  let code: String
  let arguments: [String: String]
  /// A way out: address, and the key of its label.
  let action: (href: String, label: String)?

  var message: String { code }
  var headers: Headers { Headers() }

  init(_ status: Status, _ code: String, _ arguments: [String: String] = [:], action: (String, String)? = nil) {
    self.status = status
    self.code = code
    self.arguments = arguments
    self.action = action
  }

  static func notFound(_ noun: String, list: String) -> PageError {
    PageError(.notFound, "missing_\(noun)", action: (list, "nav.\(list.dropFirst())"))
  }
}
