import Certificates
import HTTPServer
import Model
import Mustache
import Store

/// `/docs/words`: what each word of a state and an outcome means.
enum WordsPage {
  static let views: [any PageView.Type] = [WordsView.self]

  /// A group of words: the name of its texts under `glossary`, and of each word the API's name and the key of the label.
  static let groups: [(name: String, words: [(code: String, label: String)])] = [
    ("pushes", PushState.allCases.map { ($0.rawValue, "words.\($0.rawValue)") }),
    (
      "outcomes",
      OutcomeKind.allCases.map { ($0.name, "words.\($0.name)") } + [
        ("pending", "words.pending"), ("waiting", "words.waiting"),
      ]
    ),
    ("receipts", ReceiptKind.allCases.map { ($0.name, "receipts.\($0.name)") }),
    ("devices", DeviceState.allCases.map { ($0.name, "state.\($0.name)") }),
    ("incidents", IncidentState.allCases.map { ($0.rawValue, "incidents.states.\($0.rawValue)") }),
    ("schedules", ScheduleState.allCases.map { ($0.rawValue, "schedules.\($0.rawValue)") }),
    ("smoke_tests", SmokeRunState.allCases.map { ($0.rawValue, "smoketests.states.\($0.rawValue)") }),
    ("certificates", Expiry.Band.allCases.map { ($0.rawValue, "band.\($0.rawValue)") }),
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/docs/words") { page in
      let texts = page.texts
      return page.answer(
        WordsView(
          groups: groups.map { group in
            WordGroup(
              id: group.name, title: texts("glossary.\(group.name).title"), lead: texts("glossary.\(group.name).lead"),
              words: group.words.map { word in
                WordRow(
                  id: "\(group.name)-\(word.code)", word: texts(word.label), code: word.code,
                  meaning: texts("glossary.\(group.name).\(word.code)"))
              })
          }))
    }
  }
}

struct WordsView: PageView {
  static let template = "docs/words"
  static let section: Section? = .docs

  let groups: [WordGroup]

  static let fields: [Field<Self>] = [.list("groups") { $0.groups }]
}

/// The words of one noun.
struct WordGroup: View {
  let id: String
  let title: String
  let lead: String
  let words: [WordRow]

  static let fields: [Field<Self>] = [
    .text("id") { $0.id },
    .text("title") { $0.title },
    .text("lead") { $0.lead },
    .list("words") { $0.words },
  ]
}

struct WordRow: View {
  /// In addresses, such as `outcomes-accepted`.
  let id: String
  let word: String
  /// As the API writes it.
  let code: String
  let meaning: String

  static let fields: [Field<Self>] = [
    .text("id") { $0.id },
    .text("word") { $0.word },
    .text("code") { $0.code },
    .text("meaning") { $0.meaning },
  ]
}
