import Mustache

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
