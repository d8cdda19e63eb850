import Certificates
import Mustache
import Model
import Store

/// `/certificates/requests`: every signing request made here, and the form to make one.
struct SigningRequestListView: PageView {
  static let template = "certificates/requests"
  static let section: Section? = .certificates

  let list: SigningRequestsView
  /// Nil: there is nothing to export.
  let exports: ExportLinks?
  let errors: FieldErrors
  let host: String
  let apps: [ChoiceView]
  let algorithms: [ChoiceView]

  static let fields: [Field<Self>] = [
    .view("requests") { $0.list },
    .view("exports") { $0.exports },
    .view("waiting") { list in
      let count = list.list.items.count(where: \.request.isWaiting)
      return count > 0 ? CountView(count: count) : nil
    },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("host") { FieldView(value: $0.host, error: $0.errors["host"]) },
    .view("algorithm") { FieldView(error: $0.errors["algorithm"], choices: $0.algorithms) },
  ]
}

/// Signing requests, on their own page and on the page of the certificate they renew, for `certificates/_requests`.
struct SigningRequestsView: View {
  let items: [SigningRequestRow]
  /// Whether the reader may make and delete requests.
  let mayChange: Bool

  init(requests: [SigningRequest], _ page: PageContext) {
    items = requests.map { SigningRequestRow($0, page.texts) }
    mayChange = page.may(.admin)
  }

  static let fields: [Field<Self>] = [
    .list("items") { $0.items },
    .flag("has_items") { !$0.items.isEmpty },
    .flag("may_change") { $0.mayChange },
  ]
}

struct SigningRequestRow: View {
  let request: SigningRequest
  let algorithm: String
  let purpose: String
  /// Who made it.
  let name: String

  init(_ request: SigningRequest, _ texts: Texts) {
    self.request = request
    algorithm = texts("requests.\(request.details.algorithm.rawValue)")
    purpose = texts("requests.for_\(request.details.purpose.rawValue)")
    name = ActivityActor(request.createdBy).name(texts)
  }

  static let fields: [Field<Self>] = [
    .text("uid") { $0.request.uid },
    .text("subject") { $0.request.details.subject },
    .text("algorithm") { $0.algorithm },
    .text("purpose") { $0.purpose },
    .text("name") { $0.name },
    .written("date") { $1.write(day: $0.request.createdAt) },
    .flag("waiting") { $0.request.isWaiting },
    .optional("result") { row in row.request.fulfilledBy.map { "/certificates/\($0)" } },
  ]
}
