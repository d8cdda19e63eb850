import HTTPServer
import JSON
import Model
import Mustache
import Store

/// One push in five dialects: the texts beside the send form, the box that reads one back, and both in the API.
enum DialectPages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/pushes/paste", role: .operator) { page in try page.shown(at: "/pushes/new", paste) }
  }

  static func addCalls(to routes: inout ConsoleRouter) {
    routes.call(.post, "/pushes/dialects", role: .viewer, scope: .read, reach: .handler) { call in
      let draft = try PushDraft(json: try await call.body())
      let address = call.console.address(call.request)
      return APIContext.answer { json in
        json.array("dialects", Dialect.written) { json, dialect in
          let text = DialectText(draft, in: dialect, sentAt: call.now, address: address)
          json.object { json in
            json.member("dialect", dialect.rawValue)
            json.member("text", text.text)
            write(text.losses, to: &json)
          }
        }
      }
    }
    routes.call(.post, "/pushes/dialects/read", role: .viewer, scope: .read, reach: .handler) { call in
      let fields = JSONFields(try await call.body())
      let text = fields.string("text", required: true, limit: .characters(PastedPushView.limit), lines: true)
      try fields.finish()
      let reading = try DialectReading(text ?? "", now: call.now)
      return APIContext.answer { json in
        json.member("dialect", reading.dialect.rawValue)
        json.member("push", reading.json)
        json.array("missing", reading.missing) { json, name in json.string(name) }
        write(reading.losses, to: &json)
      }
    }
  }

  private static func write(_ losses: [Problem], to json: inout JSONWriter) {
    json.objects("losses", losses) { json, loss in
      json.member("field", loss.field)
      json.member("code", loss.code)
      json.member("message", loss.text)
    }
  }

  /// Fills the form from a pasted text. What the text leaves open stays as it was typed.
  private static func paste(_ page: PageContext) async throws -> Response {
    var view = PastedPushView(text: page.form.raw(PastedPushView.field))
    do {
      let reading = try DialectReading(view.text, now: page.now)
      (view.dialect, view.losses) = (reading.dialect, reading.losses.map { LossView($0, page.texts) })
      view.text = ""
      return try await SendPages.formPage(page, Form(reading, over: page.form), pasted: view)
    } catch let problems as Problems {
      view.error = problems.all.map { page.texts.line($0) }.joined(separator: " ")
      return try await SendPages.formPage(page, page.form, pasted: view, status: .unprocessableContent)
    }
  }
}

extension Texts {
  /// A problem with its field, in one line.
  func line(_ problem: Problem) -> String {
    problem.field.isEmpty ? text(problem) : "\(problem.field): \(text(problem))"
  }
}

extension Form {
  /// The form with what a reading says; what it leaves open stays as it was typed.
  init(_ reading: DialectReading, over typed: Form) {
    let read = Form(reading.draft)
    let blank = Form(
      PushDraft(
        app: "", environment: .development, platforms: [], audience: .all, notification: Notification()))
    let said = read.all.filter { field in
      DialectReading.required.contains(field.name)
        ? !reading.missing.contains(field.name) : read.all(field.name) != blank.all(field.name)
    }
    // Parts of another audience, time or text would mix with the new ones.
    var replaced = Set(said.map(\.name))
    if replaced.contains("audience") { replaced.formUnion(SendForm.audienceFields + ["channel"]) }
    if replaced.contains("when") { replaced.formUnion(SendForm.timeFields) }
    if said.contains(where: { SendForm.isOfRow($0.name) }) {
      replaced.formUnion(typed.all.map(\.name).filter(SendForm.isOfRow))
    }
    self.init(typed.all.filter { !replaced.contains($0.name) } + said)
  }
}

/// The box for a push in another dialect, and what was read from it.
struct PastedPushView: View {
  /// Bytes; larger than any push.
  static let limit = 64 * 1024
  /// The name of the box.
  static let field = "pasted"

  var text = ""
  var error = ""
  /// Nil: nothing was read.
  var dialect: Dialect?
  var losses: [LossView] = []

  static let fields: [Field<Self>] = [
    .view("pasted") { FieldView(value: $0.text, error: $0.error) },
    .flag("open") { !$0.error.isEmpty },
    .optional("dialect") { $0.dialect?.name },
    .list("losses") { $0.losses },
    .flag("has_losses") { !$0.losses.isEmpty },
  ]
}

/// One thing that a pasted text lost on its way into a form, or that is wrong with it.
struct LossView: View {
  private let field: String
  private let text: String

  init(_ loss: Problem, _ texts: Texts) { (field, text) = (loss.field, texts.text(loss)) }

  /// - Parameter text: with its field.
  init(text: String) { (field, self.text) = ("", text) }

  static let fields: [Field<Self>] = [
    .optional("field") { $0.field.isEmpty ? nil : $0.field },
    .text("text") { $0.text },
  ]
}

/// One push in one dialect, to copy.
struct DialectView: View {
  let dialect: Dialect
  let label: String
  let text: String
  /// One line each.
  let losses: String

  /// A place for the form's script to fill in.
  init(_ dialect: Dialect, _ texts: Texts) {
    (self.dialect, label, text, losses) = (dialect, texts("dialects.\(dialect.rawValue)"), "", "")
  }

  /// - Parameter isSimulated: whether the app's pushes go to the built-in simulator.
  init(_ text: DialectText, _ texts: Texts, isSimulated: Bool = false) {
    dialect = text.dialect
    label = texts("dialects.\(text.dialect.rawValue)")
    self.text = text.text
    let remark = isSimulated && text.dialect == .apns ? [texts("dialects.to_apple")] : []
    losses = (remark + text.losses.map { texts.line($0) }).joined(separator: "\n")
  }

  static let fields: [Field<Self>] = [
    .text("key") { $0.dialect.rawValue },
    .text("label") { $0.label },
    .text("text") { $0.text },
    .text("losses") { $0.losses },
  ]

  /// For the form's script, by the names of its elements.
  var json: [String: JSONValue] {
    ["dialect_\(dialect.rawValue)": .string(text), "losses_\(dialect.rawValue)": .string(losses)]
  }
}
