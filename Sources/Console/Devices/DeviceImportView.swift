import Mustache
import Model
import Store

struct DeviceImportView: PageView {
  static let template = "devices/import"
  static let section: Section? = .devices

  let form: Form
  let errors: FieldErrors
  let apps: [ChoiceView]
  let formats: [ChoiceView]
  /// The bundle ID used in the examples.
  let sampleApp: String

  private static let sampleToken = "77366f0dc4a4f2f4a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718"
  private static let sampleFCMToken = "cQ3Wm5T1R0uK8xJb2LpVnE:APA91bH4fD0sYkq7ZtGxUo9"

  static let fields: [Field<Self>] = [
    .flag("failed") { !$0.errors.isEmpty },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("format") { FieldView(error: $0.errors["format"], choices: $0.formats) },
    .view("file") { FieldView(error: $0.errors["file"]) },
    .view("text") { FieldView(value: $0.form.raw("text"), error: $0.errors["text"]) },
    .text("csv") {
      "app,environment,platform,token,alias,tags\n\($0.sampleApp),development,ios,\(sampleToken),usr_1,vip beta\n"
        + "\($0.sampleApp),development,android,\(sampleFCMToken),usr_2,vip"
    },
    .text("ndjson") {
      "{\"app\":\"\($0.sampleApp)\",\"environment\":\"development\",\"platform\":\"ios\",\"token\":\"\(sampleToken)\","
        + "\"alias\":\"usr_1\",\"tags\":[\"vip\"]}\n"
        + "{\"app\":\"\($0.sampleApp)\",\"environment\":\"development\",\"platform\":\"android\","
        + "\"token\":\"\(sampleFCMToken)\",\"alias\":\"usr_2\"}"
    },
  ]
}

/// The result of an import.
struct DeviceImportReportView: PageView {
  static let template = "devices/imported"
  static let section: Section? = .devices

  let report: DeviceImportReport
  /// As “3 lines read: 1 added, 2 rejected”.
  let heading: String
  let lines: [RejectedLineRow]
  /// The number of listed lines, if more were rejected than are listed.
  let cut: Int?
  let file: RejectedFile
  let devicesHref: String

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .number("added") { $0.report.added },
    .number("updated") { $0.report.updated },
    .number("rejected") { $0.report.rejected },
    .number("count") { $0.report.rejected },
    .view("added_part") { $0.part(after: 0, $0.report.added) },
    .view("updated_part") { $0.part(after: $0.report.added, $0.report.updated) },
    .view("rejected_part") { $0.part(after: $0.report.added + $0.report.updated, $0.report.rejected) },
    .list("problems") { $0.lines },
    .view("cut") { $0.cut.map { ShownView(shown: $0) } },
    .text("file") { $0.file.href },
    .view("file_cut") { $0.file.lines < $0.report.rejected ? KeptView(kept: $0.file.lines) : nil },
    .text("devices_href") { $0.devicesHref },
  ]

  private struct ShownView: View {
    let shown: Int

    static let fields: [Field<Self>] = [.number("shown") { $0.shown }]
  }

  private struct KeptView: View {
    let kept: Int

    static let fields: [Field<Self>] = [.number("kept") { $0.kept }]
  }

  private func part(after before: Int, _ count: Int) -> OutcomeBar.Part? {
    guard count > 0 else { return nil }
    let whole = Double(max(report.lines, 1))
    func hundredths(_ count: Int) -> Int { Int((Double(count) * 10_000 / whole).rounded()) }
    return OutcomeBar.Part(x: hundredths(before), width: hundredths(count))
  }
}

/// The rejected lines as a CSV inside its link: the report is not stored, and the file ends with its page.
struct RejectedFile {
  static let lineLimit = 10_000
  /// About; a line can have many problems.
  private static let byteLimit = 2 << 20

  let href: String
  /// How many lines it has.
  private(set) var lines = 0

  init(_ rejected: [RejectedLine], _ texts: Texts) {
    var csv = CSV.byteOrderMark + CSV.line(["line", "field", "message"])
    for line in rejected where csv.utf8.count < Self.byteLimit {
      for problem in line.problems { csv += CSV.line([String(line.line), problem.field, texts.text(problem)]) }
      lines += 1
    }
    href = "data:text/csv;charset=utf-8,\(ConsoleRouter.escaped(csv))"
  }
}

/// A rejected line and its problem.
struct RejectedLineRow: View {
  let line: Int
  let field: String
  let message: String

  static let fields: [Field<Self>] = [
    .number("line") { $0.line }, .text("field") { $0.field }, .text("message") { $0.message },
  ]
}
