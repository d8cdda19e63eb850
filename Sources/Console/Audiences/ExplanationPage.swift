import Foundation
import HTTPServer
import Model
import Mustache
import SQLite
import Store

/// `/audiences/explanation`: which devices an audience loses at each step, and why one device is in or out.
///
/// Takes the fields of the send form, from a form or an address.
enum ExplanationPage {
  /// Fields that the page itself writes.
  private static let own = ["csrf", "lang", "device", "device_id"]

  static func show(_ page: PageContext, _ form: Form) async throws -> Response {
    let texts = page.texts
    // The send form comes with all of its fields, so that it can be returned to.
    var view = ExplanationView(
      device: form["device"],
      kept: form.all.filter { !own.contains($0.name) }.map { HiddenFieldView(name: $0.name, value: $0.value) },
      canEdit: form.has("title"))
    do {
      let question = try SendForm(form: form).question(device: form.filled("device_id") ?? form.filled("device"))
      let (answer, app, names) = try await question.ask(page.store, now: page.now) {
        (try AudienceAnswer(question, $0, $1, $2), $2, try AudienceNames.devices($0, of: $2))
      }
      view.deviceNames = names
      view.fill(answer, question, app, texts)
      return page.answer(view, language: language(page, hasForm: true))
    } catch let problems as Problems {
      view.problem = problems.all.map { texts.onForm($0) }.sentences
    } catch let error as HTTPError where error.status == .serviceUnavailable {
      view.problem = texts("segments.slow")
    } catch is APIError {
      view.problem = texts("explain.no_app")
    }
    return page.answer(view, status: .unprocessableContent, language: language(page, hasForm: view.canEdit))
  }

  /// A question that was posted is posted again.
  private static func language(_ page: PageContext, hasForm: Bool) -> LanguageSwitch {
    page.request.method == .post && hasForm ? .posting(form: "explain", to: "/audiences/explanation") : .reloading
  }
}

struct ExplanationView: PageView {
  static let template = "audiences/explanation"
  static let section: Section? = .audiences

  /// As typed.
  let device: String
  /// The audience, or the whole send form, as hidden fields.
  let kept: [HiddenFieldView]
  /// Whether they are a whole send form.
  let canEdit: Bool
  /// Why nothing is explained.
  var problem: String?
  var app = ""
  var sentence = ""
  var reached = 0
  var isProduction = false
  var steps: [ExplainedStep] = []
  /// Some of the app's, for browsers without script.
  var deviceNames: [String] = []
  /// Several devices that the text names.
  var devices: [LinkView] = []
  var verdict: VerdictView?

  mutating func fill(_ answer: AudienceAnswer, _ question: AudienceQuestion, _ app: App, _ texts: Texts) {
    self.app = app.name
    sentence = question.audience.text(texts)
    isProduction = question.environment == .production
    reached = answer.explanation.reached
    steps = answer.explanation.counts.enumerated().map { index, count in
      ExplainedStep(
        words: count.step.words(texts, app: app.name), leftOut: count.leftOut, remain: count.remain,
        isLast: index == answer.explanation.counts.count - 1)
    }
    if let device = answer.devices.first, let verdict = answer.verdict {
      self.verdict = VerdictView(verdict, device, app: app, texts)
    }
    devices = answer.devices.count > 1 ? answer.devices.map { LinkView(href: "\($0.id)", label: $0.title) } : []
  }

  static let fields: [Field<Self>] = [
    .text("device") { $0.device },
    .list("kept") { $0.kept },
    .flag("can_edit") { $0.canEdit },
    .optional("problem") { $0.problem },
    .flag("explained") { !$0.steps.isEmpty },
    .text("app") { $0.app },
    .text("sentence") { $0.sentence },
    .flag("production") { $0.isProduction },
    .view("reached") { CountView(count: $0.reached) },
    .list("steps") { $0.steps },
    .list("device_names") { $0.deviceNames },
    .list("devices") { $0.devices },
    .flag("has_devices") { !$0.devices.isEmpty },
    .view("verdict") { $0.verdict },
    .flag("not_found") { !$0.device.isEmpty && $0.devices.isEmpty && $0.verdict == nil && !$0.steps.isEmpty },
  ]
}

extension Device {
  /// Its name or alias, and its token.
  fileprivate var title: String {
    heading == token.abbreviated ? heading : "\(heading) · \(token.abbreviated)"
  }
}

struct ExplainedStep: View {
  let words: String
  let leftOut: Int
  let remain: Int
  let isLast: Bool

  static let fields: [Field<Self>] = [
    .text("words") { $0.words },
    .text("left_out") { $0.leftOut > 0 ? $0.leftOut.grouped : "" },
    .text("remain") { $0.remain.grouped },
    .flag("last") { $0.isLast },
  ]
}

/// Why a device is in, or out.
struct VerdictView: View {
  let id: Int64
  let name: String
  /// The step that leaves it out; nil: it is sent to.
  let obstacle: String?
  let steps: [VerdictStep]

  init(_ verdict: DeviceVerdict, _ device: Device, app: App, _ texts: Texts) {
    (id, name) = (device.id, device.heading)
    obstacle = verdict.obstacle?.words(texts, app: app.name)
    // What comes after the step that leaves it out is not asked any more.
    let end = verdict.answers.firstIndex { !$0.isMet } ?? verdict.answers.count
    steps = verdict.answers.enumerated().map { index, answer in
      VerdictStep(words: answer.step.words(texts, app: app.name), isMet: index < end, isObstacle: index == end)
    }
  }

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.id)) },
    .text("name") { $0.name },
    .optional("obstacle") { $0.obstacle },
    .list("steps") { $0.steps },
  ]
}

struct VerdictStep: View {
  let words: String
  let isMet: Bool
  let isObstacle: Bool

  static let fields: [Field<Self>] = [
    .text("words") { $0.words },
    .flag("met") { $0.isMet },
    .flag("obstacle") { $0.isObstacle },
  ]
}
