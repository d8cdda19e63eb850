import HTTPServer
import Mustache

/// `/docs`: the reference of the API, made from its OpenAPI documents, a page for each tag.
enum DocsPage {
  static let views: [any PageView.Type] =
    [DocsView.self] + WordsPage.views + CallbacksPage.views + CodePages.views

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/docs") { page in try show(page, page.console.reference.sections.first) }
    WordsPage.add(to: &routes)
    CallbacksPage.add(to: &routes)
    CodePages.add(to: &routes)
    routes.page(.get, "/docs/:section") { page in
      let slug = page.request.parameters["section"]
      return try show(page, page.console.reference.sections.first { $0.slug == slug })
    }
  }

  private static func show(_ page: PageContext, _ section: APIReference.Section?) throws -> Response {
    guard let section else { throw HTTPError(.notFound) }
    return page.answer(DocsView(sections: page.console.reference.sections, section: section, address: page.address))
  }
}

struct DocsView: PageView {
  static let template = "docs/show"
  static let section: Section? = .docs

  let sections: [APIReference.Section]
  let section: APIReference.Section
  let address: String

  static let fields: [Field<Self>] = [
    .text("name") { $0.section.name },
    .optional("description") { $0.section.description.isEmpty ? nil : $0.section.description },
    .list("sections") { view in
      view.sections.map { DocsSectionView(section: $0, isChosen: $0.slug == view.section.slug) }
    },
    .flag("has_shared") { !$0.section.sharedAnswers.isEmpty },
    .list("answers") { $0.section.sharedAnswers.map { DocsAnswerView(answer: $0) } },
    .list("operations") { view in
      let shared = Set(view.section.sharedAnswers)
      return view.section.operations.map { operation in
        DocsOperationView(
          operation: operation, answers: operation.answers.filter { !shared.contains($0) }, address: view.address)
      }
    },
  ]
}

/// A line of the contents; the chosen one lists its operations.
struct DocsSectionView: View {
  let section: APIReference.Section
  let isChosen: Bool

  static let fields: [Field<Self>] = [
    .text("slug") { $0.section.slug },
    .text("name") { $0.section.name },
    .flag("chosen") { $0.isChosen },
    .list("links") { view in
      view.isChosen ? view.section.operations.map { LinkView(href: "#\($0.id)", label: $0.summary) } : []
    },
  ]
}

struct DocsOperationView: View {
  let operation: APIReference.Operation
  /// Without those that the page says once.
  let answers: [APIReference.Answer]
  let address: String

  static let fields: [Field<Self>] = [
    .text("id") { $0.operation.id },
    .text("method") { $0.operation.method },
    .text("path") { $0.operation.path },
    .text("summary") { $0.operation.summary },
    .list("description") { MarkedText.parts(of: $0.operation.description) },
    .optional("role") { $0.operation.role.isEmpty ? nil : $0.operation.role },
    .optional("scope") { $0.operation.scope.isEmpty ? nil : $0.operation.scope },
    .list("parameters") { $0.operation.parameters.map { DocsParameterView(parameter: $0) } },
    .flag("has_parameters") { !$0.operation.parameters.isEmpty },
    .list("answers") { $0.answers.map { DocsAnswerView(answer: $0) } },
    .text("curl") { $0.operation.curl(address: $0.address) },
  ]
}

struct DocsParameterView: View {
  let parameter: APIReference.Parameter

  static let fields: [Field<Self>] = [
    .text("name") { $0.parameter.name },
    .flag("required") { $0.parameter.isRequired },
    .text("type") { $0.parameter.type },
    .list("meaning") { MarkedText.parts(of: $0.parameter.meaning) },
  ]
}

struct DocsAnswerView: View {
  let answer: APIReference.Answer

  static let fields: [Field<Self>] = [
    .text("code") { $0.answer.code },
    .list("meaning") { MarkedText.parts(of: $0.answer.meaning) },
  ]
}

/// A piece of a text: code stands between backticks, as in Markdown.
struct MarkedText: View {
  let text: String
  let isCode: Bool

  static let fields: [Field<Self>] = [.text("text") { $0.text }, .flag("code") { $0.isCode }]

  static func parts(of text: String) -> [MarkedText] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { MarkedText(text: String($1), isCode: !$0.isMultiple(of: 2)) }.filter { !$0.text.isEmpty }
  }
}
