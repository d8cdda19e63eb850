import Foundation
import JSON
import Model
import Store

/// The form of a smoke test: its name, its push as the API takes it, and the expected answers.
struct SmokeTestForm {
  let form: Form

  static let fields = ["name", "push", "others", "devices", "displayed_within"]
  /// Devices of a finished push that are taken over with their answers.
  static let shown = 50

  init(_ form: Form) { self.form = form }

  init(name: String, draft: PushDraft, expected: SmokeExpectation) {
    form = Form([
      ("name", String(name.prefix(SmokeTest.nameLimit))), ("push", draft.json.text(pretty: true)),
      ("others", expected.others),
      ("devices", expected.devices.map { "\($0.device) \($0.answer)" }.joined(separator: "\n")),
      ("displayed_within", expected.displayedWithin.map(String.init) ?? ""),
    ])
  }

  /// A draft as a smoke test sends it: at once, and only once.
  static func sendable(_ draft: PushDraft) -> PushDraft {
    var draft = draft
    (draft.sendAt, draft.timeZone, draft.recurrence) = (nil, nil, nil)
    return draft
  }

  /// What the form says.
  ///
  /// - Throws: ``FieldErrors`` at the form's fields.
  func content(_ texts: Texts) throws(FieldErrors) -> SmokeTestContent {
    var errors = FieldErrors()
    if form["name"].isEmpty { errors.add("name", texts.text(Problem("", FieldMessage.required))) }
    let length = form["name"].count
    if length > SmokeTest.nameLimit {
      let arguments = ["limit": String(SmokeTest.nameLimit), "count": String(length)]
      errors.add("name", texts.text(Problem("", FieldMessage.tooManyCharacters, arguments)))
    }
    var draft: PushDraft?
    do {
      draft = try PushDraft(json: JSONValue(checking: Array(form.raw("push").utf8)))
    } catch let problems as Problems {
      for problem in problems.all { errors.add("push", Self.placed(problem, texts)) }
    } catch let problem as Problem {
      errors.add("push", texts.text(problem))
    } catch {
      errors.add("push", "\(error)")
    }
    var expected = SmokeExpectation()
    let others = form["others"]
    if let problem = SmokeExpectation.problem(withAnswer: others) { errors.add("others", texts.text(problem)) }
    expected.others = others
    expected.devices = devices(&errors, texts)
    if !form["displayed_within"].isEmpty {
      if let seconds = Int(form["displayed_within"]), SmokeExpectation.waits.contains(seconds) {
        expected.displayedWithin = seconds
      } else {
        let arguments = [
          "low": String(SmokeExpectation.waits.lowerBound), "high": String(SmokeExpectation.waits.upperBound),
          "value": form["displayed_within"],
        ]
        errors.add("displayed_within", texts.text(Problem("", FieldMessage.outOfRange, arguments)))
      }
    }
    guard errors.isEmpty, let draft else { throw errors }
    return SmokeTestContent(name: form["name"], draft: draft, expected: expected)
  }

  private func devices(_ errors: inout FieldErrors, _ texts: Texts) -> [SmokeExpectation.Named] {
    var devices: [SmokeExpectation.Named] = []
    for line in form.raw("devices").split(separator: "\n") where !line.allSatisfy(\.isWhitespace) {
      let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
      guard words.count > 1, let answer = words.last else {
        errors.add("devices", texts.text(Problem("", SmokeMessage.line, ["value": String(line.prefix(60))])))
        continue
      }
      if let problem = SmokeExpectation.problem(withAnswer: answer) { errors.add("devices", texts.text(problem)) }
      let device = words.dropLast().joined(separator: " ")
      devices.append(SmokeExpectation.Named(device: SmokeExpectation.plain(device), answer: answer))
    }
    if devices.count > SmokeExpectation.limit {
      let arguments = ["limit": String(SmokeExpectation.limit), "count": String(devices.count)]
      errors.add("devices", texts.text(Problem("", FieldMessage.tooMany, arguments)))
    }
    return devices
  }

  private static func placed(_ problem: Problem, _ texts: Texts) -> String {
    problem.field.isEmpty ? texts.text(problem) : texts.labelled(problem.field, texts.text(problem))
  }
}

extension SmokeTestContent {
  /// Of the smoke test once this is saved.
  var revision: Revision { Revision(name, draft.json.text(), expected.json.text()) }
}

extension SmokeTest {
  var revision: Revision { Revision(name, draft?.json.text() ?? draftJSON, expected.json.text()) }
}
