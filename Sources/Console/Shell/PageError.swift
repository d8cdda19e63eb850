import HTTPServer
import Mustache

/// An error for people: what happened, what was saved, what to do next. The texts are under `errors` in the locale
/// tables: `title`, `happened`, `kept`, `next`.
struct PageError: HTTPResponseError {
  let status: Status
  /// The group in the locale tables, e.g. `not_found`.
  let code: String
  let arguments: [String: String]
  /// A suggested link: path, and the key of its label.
  let action: (href: String, label: String)?
  /// Seconds until another attempt makes sense; what the page says if its `next` is empty.
  let retryAfter: Int?

  var message: String { code }
  var headers: Headers { retryAfter.map { ["Retry-After": String($0)] } ?? Headers() }

  init(
    _ status: Status, _ code: String, _ arguments: [String: String] = [:], action: (String, String)? = nil,
    retryAfter: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.arguments = arguments
    self.action = action
    self.retryAfter = retryAfter
  }

  /// - Parameter list: where to look instead: the path of a page in the navigation, or of one below it.
  static func notFound(_ noun: String, list: String) -> PageError {
    let section = list.dropFirst().prefix { $0 != "/" && $0 != "?" }
    return PageError(.notFound, "missing_\(noun)", action: (list, "nav.\(section)"))
  }
}

struct ErrorView: PageView {
  static let template = "errors/show"
  static let section: Section? = nil

  let status: Int
  let title: String
  let happened: String
  let kept: String
  let next: String
  /// The request ID in the log.
  let request: String
  var action: LinkView?

  static let fields: [Field<Self>] = [
    .written("status") { $1.write($0.status) },
    .text("title") { $0.title },
    .text("happened") { $0.happened },
    .text("kept") { $0.kept },
    .text("next") { $0.next },
    .text("request") { $0.request },
    .view("action") { $0.action },
  ]
}
