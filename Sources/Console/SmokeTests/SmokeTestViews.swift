import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/smoke-tests`.
struct SmokeTestListView: PageView {
  static let template = "smoketests/index"
  static let section: Section? = .pushes

  let heading: String
  let rows: [SmokeTestRow]
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .list("tests") { $0.rows },
    .flag("has_tests") { !$0.rows.isEmpty },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
  ]
}

/// A smoke test in a list, and at the head of its page.
struct SmokeTestRow: View {
  let test: SmokeTest
  /// Nil if it is being removed.
  let app: App?
  /// Newest first.
  let runs: [SmokeRun]
  let texts: Texts
  let now: Date

  var last: SmokeRun? { runs.first }

  static let fields: [Field<Self>] = [
    .written("href") { row, output in
      output.write("/smoke-tests/" as StaticString)
      output.write(Int(row.test.id))
    },
    .text("name") { $0.test.name },
    .text("title") { $0.test.draft.map { $0.notification.title ?? $0.notification.body ?? "" } ?? "" },
    .text("app") { $0.app?.name ?? "" },
    .flag("production") { $0.test.draft?.environment == .production },
    .text("audience") { row in row.test.draft?.audience.text(row.texts) ?? "" },
    .text("tone") { $0.last.map(SmokeWords.tone) ?? "none" },
    .text("state") { row in SmokeWords.state(row.last, row.texts) },
    .text("result") { row in SmokeWords.result(row.last, row.texts) },
    .flag("failed") { $0.last?.state == .failed },
    .view("bars") { $0.runs.isEmpty ? nil : SmokeBarsView(runs: $0.runs, texts: $0.texts) },
    .view("ran") { row in row.last.map { MomentView(date: $0.startedAt, now: row.now) } },
  ]
}

/// What pages say of runs.
enum SmokeWords {
  static func tone(_ run: SmokeRun) -> String {
    switch run.state {
    case .running: "none"
    case .passed: ""
    case .failed: "red"
    }
  }

  static func state(_ run: SmokeRun?, _ texts: Texts) -> String {
    texts("smoketests.states.\(run?.state.rawValue ?? "never")")
  }

  /// As “1 of 3 differs”.
  static func result(_ run: SmokeRun?, _ texts: Texts) -> String {
    guard let run else { return "" }
    if let error = run.error { return texts("smoketests.errors.\(error.rawValue)") }
    switch run.state {
    case .running: return texts("smoketests.states.running")
    case .passed: return texts("smoketests.as_expected", count: run.devices)
    case .failed:
      return texts("smoketests.differ", count: run.differences.count, ["devices": run.devices.grouped])
    }
  }

  /// As “ada@example.com, console”.
  static func starter(_ run: SmokeRun, _ texts: Texts) -> String {
    texts.clauses([ActivityActor(run.startedBy).name(texts), texts("source.\(run.source.rawValue)")])
  }

  /// An answer in words; a provider's code stays as it is.
  static func answer(_ answer: String, _ texts: Texts) -> String {
    if OutcomeKind.allCases.contains(where: { $0.name == answer }) { return texts("words.\(answer)") }
    return texts.known("smoketests.answers.\(answer)") ?? answer
  }
}

/// The last runs as bars: a low one passed, a tall red one failed.
struct SmokeBarsView: View {
  /// Newest first.
  let runs: [SmokeRun]
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .list("bars") { view in
      view.runs.prefix(SmokeTestPages.drawn).enumerated().map { index, run in
        SmokeBar(place: SmokeTestPages.drawn - 1 - index, state: run.state)
      }
    },
  ]

  private var label: String {
    let ended = runs.prefix(SmokeTestPages.drawn).filter { $0.state != .running }
    return texts(
      "smoketests.picture",
      [
        "passed": ended.count { $0.state == .passed }.grouped, "failed": ended.count { $0.state == .failed }.grouped,
        "last": SmokeWords.state(runs.first, texts),
      ])
  }
}

struct SmokeBar: View {
  /// From the left.
  let place: Int
  let state: SmokeRunState

  static let fields: [Field<Self>] = [
    .written("x") { $1.write(hundredths: $0.place * 10_000 / SmokeTestPages.drawn) },
    .flag("passed") { $0.state == .passed },
    .flag("failed") { $0.state == .failed },
    .flag("running") { $0.state == .running },
  ]
}

/// `/smoke-tests/:id`: a test, one of its runs, and its history.
struct SmokeTestView: PageView {
  static let template = "smoketests/show"
  static let section: Section? = .pushes

  let row: SmokeTestRow
  /// Nil: it has never run.
  let run: SmokeRunView?
  let history: [SmokeRunRow]
  let exports: ExportLinks
  let pager: PagerView
  let mayRun: Bool
  /// The request to type the app's name before a run; nil if it is not needed.
  let question: String?
  let confirm: FieldView
  let address: String
  let texts: Texts

  static let fields: [Field<Self>] = [
    .view("test") { $0.row },
    .text("heading") { $0.heading },
    .flag("production") { $0.row.test.draft?.environment == .production },
    .view("run") { $0.run },
    .flag("going") { $0.row.last?.state == .running },
    .list("history") { $0.history },
    .flag("has_history") { !$0.history.isEmpty },
    .view("exports") { $0.exports },
    .view("pager") { $0.pager },
    .flag("has_pages") { $0.pager.newer != nil || $0.pager.older != nil },
    .flag("may_run") { $0.mayRun },
    .flag("runs_at_once") { $0.mayRun && $0.question == nil },
    .flag("must_type") { $0.mayRun && $0.question != nil },
    .text("question") { $0.question ?? "" },
    .view("confirm") { $0.confirm },
    .list("facts") { $0.facts },
    .text("payload") { $0.row.test.draft?.json.text(pretty: true) ?? "" },
    .text("cron") { "0 8 * * * signalbox smoke \($0.shellName) --junit smoke.xml" },
    .text("curl") { view in
      "curl -X POST -H \"Authorization: Bearer $SIGNALBOX_TOKEN\" \\\n  '\(view.address)/api/v1/smoke-tests/\(view.row.test.id)"
        + "/runs?wait=60s'"
    },
  ]

  /// For a POSIX shell.
  private var shellName: String { "'\(row.test.name.replacing("'", with: "'\\''"))'" }

  private var heading: String {
    let (name, last) = (row.test.name, row.last)
    guard let last else { return texts("smoketests.heading_never", ["name": name]) }
    return texts("smoketests.heading_\(last.state.rawValue)", ["name": name])
  }

  private var facts: [FactView] {
    let (test, expected) = (row.test, row.test.expected)
    let devices = expected.devices.prefix(5).map {
      texts.labelled(String($0.device.prefix(16)), SmokeWords.answer($0.answer, texts))
    }
    let more = expected.devices.count - devices.count
    let others = SmokeWords.answer(expected.others, texts)
    return [
      FactView(texts("details.app"), row.app.map { texts.noted($0.name, $0.bundleID) }, href: "/apps/\(test.appID)"),
      FactView(texts("details.audience"), test.draft?.audience.text(texts)),
      FactView(
        texts("smoketests.expected"),
        texts.phrases(
          devices + (more > 0 ? ["+\(more)"] : [])
            + [devices.isEmpty ? others : texts("smoketests.others_fact", ["answer": others])])),
      FactView(
        texts("smoketests.displayed_fact"),
        expected.displayedWithin.map { texts("smoketests.seconds", count: $0) }),
      FactView(texts("details.source"), ActivityActor(test.createdBy).name(texts)),
      FactView(texts("details.created"), at: test.createdAt),
      FactView(texts("smoketests.changed"), at: test.changedAt == test.createdAt ? nil : test.changedAt),
    ].compactMap { $0 }
  }
}

/// One run: what differs, and why.
struct SmokeRunView: View {
  let run: SmokeRun
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .number("number") { Int($0.run.id) },
    .text("tone") { SmokeWords.tone($0.run) },
    .text("state") { SmokeWords.state($0.run, $0.texts) },
    .text("result") { SmokeWords.result($0.run, $0.texts) },
    .optional("detail") { view in view.run.detail.map(view.texts.recorded) },
    .text("by") { SmokeWords.starter($0.run, $0.texts) },
    .view("started") { MomentView(date: $0.run.startedAt, now: $0.now) },
    .optional("push") { $0.run.pushUID.map { "/pushes/\($0)" } },
    .optional("junit") { view in
      view.run.state == .running ? nil : "/smoke-tests/\(view.run.testID)/runs/\(view.run.id)/junit.xml"
    },
    .list("differences") { view in view.run.differences.map { SmokeDifferenceRow(one: $0, texts: view.texts) } },
    .flag("has_differences") { !$0.run.differences.isEmpty },
    .list("causes") { $0.causes },
  ]

  /// Each reason once, with its meaning.
  private var causes: [SmokeCauseView] {
    var seen: Set<String> = []
    return run.differences.filter { seen.insert($0.got).inserted }.compactMap { one in
      let reason = Reason.of(one.got)
      guard reason.isKnown else { return nil }
      return SmokeCauseView(code: one.got, words: ReasonWords(reason, texts))
    }
  }
}

struct SmokeCauseView: View {
  let code: String
  let words: ReasonWords

  static let fields: [Field<Self>] = [.text("code") { $0.code }, .view("words") { $0.words }]
}

/// A device that got another answer.
struct SmokeDifferenceRow: View {
  let one: SmokeDifference
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("name") { $0.one.name },
    .optional("href") { $0.one.device.map { "/devices/\($0)" } },
    .text("expected") { SmokeWords.answer($0.one.expected, $0.texts) },
    .text("got") { SmokeWords.answer($0.one.got, $0.texts) },
  ]
}

/// A run that has ended, as a file.
enum SmokeRunFile {
  /// JUnit XML, which CI servers read.
  static func junit(_ database: Database, _ run: SmokeRun) throws -> Response {
    let test = try SmokeTestAnswer(database, try SmokeTest.get(database, id: run.testID))
    let report = JUnitReport(startedAt: run.startedAt, [run.junit(test.test.name, app: test.app)])
    return Response(
      .ok,
      headers: [
        "Content-Type": "application/xml; charset=utf-8",
        "Content-Disposition": "attachment; filename=\"smoke-\(run.id).xml\"", "Cache-Control": "no-store",
      ], body: .bytes(Array(report.text.utf8)))
  }
}

/// A run in the history.
struct SmokeRunRow: View {
  let run: SmokeRun
  /// The run that the page shows.
  let shown: Int64?
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .number("number") { Int($0.run.id) },
    .text("href") { "/smoke-tests/\($0.run.testID)?run=\($0.run.id)" },
    .flag("shown") { $0.run.id == $0.shown },
    .text("tone") { SmokeWords.tone($0.run) },
    .text("state") { SmokeWords.state($0.run, $0.texts) },
    .text("result") { SmokeWords.result($0.run, $0.texts) },
    .flag("failed") { $0.run.state == .failed },
    .text("by") { SmokeWords.starter($0.run, $0.texts) },
    .view("started") { MomentView(date: $0.run.startedAt, now: $0.now) },
  ]
}

/// Creating and changing.
struct SmokeTestFormView: PageView {
  static let template = "smoketests/form"
  static let section: Section? = .pushes

  let form: Form
  let errors: FieldErrors
  /// Nil: a new one.
  let test: Int64?

  static let fields: [Field<Self>] = [
    .flag("known") { $0.test != nil },
    .text("action") { $0.test.map { "/smoke-tests/\($0)" } ?? "/smoke-tests" },
    .optional("problem") { $0.errors.others(SmokeTestForm.fields) },
    .optional("revision") { $0.form.filled(Revision.field) },
    field("name"), field("push"), field("others"), field("devices"), field("displayed_within"),
    .list("answers") { _ in
      ChoiceView.list((OutcomeKind.allCases.map(\.name) + Reason.table.map(\.code)).map { ($0, $0) })
    },
  ]

  private static func field(_ name: String) -> Field<Self> {
    .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
  }
}

/// The confirmation before a test is deleted.
struct SmokeTestDeleteView: PageView {
  static let template = "smoketests/remove"
  static let section: Section? = .pushes

  let test: SmokeTest

  static let fields: [Field<Self>] = [
    .text("name") { $0.test.name },
    .text("href") { "/smoke-tests/\($0.test.id)" },
  ]
}
