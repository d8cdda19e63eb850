import HTTPServer
import Model
import Mustache

/// `/docs/callbacks`: the methods of an iOS app that a push calls, every rule with its source, where sources disagree, and
/// notes.
enum CallbacksPage {
  static let views: [any PageView.Type] = [CallbacksView.self]
  static let path = "/docs/callbacks"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, path) { page in
      let texts = page.texts
      let rules = ruleRows(texts)
      let disagreements = CallbackContradiction.allCases.map { one in
        CallbackRemarkRow(
          name: one.name, text: texts.text(Problem("", one)), rules: links(rules) { $0.contradictions.contains(one) })
      }
      let notes = CallbackNote.allCases.map { one in
        CallbackRemarkRow(
          name: one.name, text: texts.text(Problem("", one)), rules: links(rules) { $0.notes.contains(one) })
      }
      return page.answer(
        CallbacksView(
          methods: CallbackTable.Method.allCases.map { CallbackMethodRow($0, texts) }, rules: rules.map(\.row),
          groups: [
            CallbackRemarkGroup(
              id: "disagreements", title: texts("callbacks.page.disagreements"),
              lead: texts("callbacks.page.disagreements_lead"), remarks: disagreements),
            CallbackRemarkGroup(
              id: "notes", title: texts("callbacks.page.notes"), lead: texts("callbacks.page.notes_lead"),
              remarks: notes),
          ]))
    }
  }

  private typealias NamedRule = (rule: CallbackTable.Rule, row: CallbackRuleRow)

  /// Rules of one number are told apart by a second one: `rule-19`, `rule-19-2`.
  private static func ruleRows(_ texts: Texts) -> [NamedRule] {
    var counts: [Int: Int] = [:]
    return CallbackTable.rules.map { rule in
      let count = counts[rule.number, default: 0] + 1
      counts[rule.number] = count
      let id = "rule-\(rule.number)" + (count > 1 ? "-\(count)" : "")
      return (rule, CallbackRuleRow(rule, id: id, texts))
    }
  }

  /// The first rule of each number that fits.
  private static func links(_ rules: [NamedRule], _ isWanted: (CallbackTable.Rule) -> Bool) -> [LinkView] {
    var seen: Set<Int> = []
    return rules.filter { isWanted($0.rule) && seen.insert($0.rule.number).inserted }
      .map { LinkView(href: "#\($0.row.id)", label: String($0.rule.number)) }
  }
}

struct CallbacksView: PageView {
  static let template = "docs/callbacks"
  static let section: Section? = .docs

  let methods: [CallbackMethodRow]
  let rules: [CallbackRuleRow]
  /// Where the sources disagree, and notes.
  let groups: [CallbackRemarkGroup]

  static let fields: [Field<Self>] = [
    .list("methods") { $0.methods },
    .list("rules") { $0.rules },
    .list("groups") { $0.groups },
  ]
}

struct CallbackMethodRow: View {
  let signature: String
  /// That of JPush's library; nil: it has none of its own.
  let jpush: String?
  let meaning: String

  init(_ method: CallbackTable.Method, _ texts: Texts) {
    signature = method.swiftName
    jpush = method.jpushName
    meaning = texts("callbacks.methods.\(method.rawValue)")
  }

  static let fields: [Field<Self>] = [
    .written("signature") { $1.write(methods: $0.signature) }, .text("meaning") { $0.meaning },
    .view("jpush") { $0.jpush.map(JPushMethodName.init) },
  ]
}

struct JPushMethodName: View {
  let signature: String

  static let fields: [Field<Self>] = [.written("signature") { $1.write(methods: $0.signature) }]
}

struct CallbackRuleRow: View {
  /// In addresses, such as `rule-4`.
  let id: String
  let number: Int
  let states: String
  let versions: String
  let backgroundMode: String
  let contentAvailable: String
  let isSilent: Bool
  let effect: CallbackEffect
  let origin: CallbackOrigin

  init(_ rule: CallbackTable.Rule, id: String, _ texts: Texts) {
    self.id = id
    number = rule.number
    states = texts.list(rule.states.map { texts("callbacks.\($0.rawValue)") })
    versions = texts.list(rule.generations.map(\.rawValue))
    backgroundMode = texts("callbacks.setting_\(rule.backgroundMode.rawValue)")
    contentAvailable = texts("callbacks.setting_\(rule.contentAvailable.rawValue)")
    isSilent = rule.isSilent
    effect = CallbackEffect(rule.cell, texts)
    origin = CallbackOrigin(rule.cell.sources, rule.contradictions, rule.notes, texts)
  }

  static let fields: [Field<Self>] = [
    .text("id") { $0.id },
    .number("number") { $0.number },
    .text("states") { $0.states },
    .text("versions") { $0.versions },
    .text("mode") { $0.backgroundMode },
    .text("content") { $0.contentAvailable },
    .flag("silent") { $0.isSilent },
    .view("effect") { $0.effect },
    .view("origin") { $0.origin },
  ]
}

/// Remarks of one kind, as a section of the page.
struct CallbackRemarkGroup: View {
  let id: String
  let title: String
  let lead: String
  let remarks: [CallbackRemarkRow]

  static let fields: [Field<Self>] = [
    .text("id") { $0.id },
    .text("title") { $0.title },
    .text("lead") { $0.lead },
    .list("remarks") { $0.remarks },
  ]
}

/// A disagreement of the sources or a note, with the rules that it is about.
struct CallbackRemarkRow: View {
  let name: String
  let text: String
  let rules: [LinkView]

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("text") { $0.text },
    .list("rules") { $0.rules },
  ]
}
