import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/devices/batch`: asks what shall become of the devices chosen in the list, and does it.
enum DeviceBatchPages {
  static let views: [any PageView.Type] = [DeviceBatchView.self]
  /// A page of the list has no more devices.
  private static let limit = 50

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/devices/batch", role: .operator) { page in
      try await LanguagePages.choosing(page) { try await answer($0) }
    }
  }

  /// Back to the list as it was filtered.
  ///
  /// - Parameter chosen: what is ticked there.
  private static func list(_ page: PageContext, chosen: [Int64] = []) -> String {
    let query = page.form["list"]
    // It becomes part of a header.
    let isPlain = query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    let ticked = chosen.isEmpty ? "" : "\(Pager.chosen)=" + chosen.map { "\($0)" }.joined(separator: ".")
    let parts = [isPlain ? query : "", ticked].filter { !$0.isEmpty }
    return "/devices" + (parts.isEmpty ? "" : "?") + parts.joined(separator: "&")
  }

  private static func answer(_ page: PageContext) async throws -> Response {
    let ids = Array(Set(page.form.all("device").compactMap(Int64.init)).sorted().prefix(limit))
    guard let action = DeviceBatchAction(rawValue: page.form["action"]), !ids.isEmpty else {
      return page.redirect(to: list(page, chosen: ids), flash: ids.isEmpty ? "devices_unchosen" : "devices_no_action")
    }
    var batch = try await page.store.read { try DeviceBatch($0, action, ids) }
    guard !batch.devices.isEmpty else { return page.redirect(to: list(page), flash: "devices_unchosen") }
    (batch.tags, batch.kept) = (page.form.parts("value"), Int64(page.form["keep"]))
    batch.alias = page.form["value"].isEmpty ? nil : page.form["value"]
    // To read the question in another language is no answer to it.
    guard page.form.has("confirmed"), !page.form.has("lang"), batch.obstacle == nil else {
      guard batch.obstacle == nil else { return try await ask(page, batch, FieldErrors()) }
      let asked = batch
      return try page.shown(at: list(page)) { page in try await ask(page, asked, FieldErrors()) }
    }
    let problems = batch.problems().map(inForm)
    var errors = problems.isEmpty ? FieldErrors() : FieldErrors(Problems(problems), page.texts)
    if action == .toProduction, let app = batch.app, page.form["confirm"] != app.name {
      errors.add("confirm", page.texts("confirm.differs", ["app": app.name]))
    }
    guard errors.isEmpty else { return try await ask(page, batch, errors) }
    let (actor, now, chosen) = (page.actor, page.now, batch)
    let changed: Int
    do {
      changed = try await page.store.write { database in
        var asked = chosen
        asked.leaving = try page.leaving(database)
        return try asked.carryOut(database, by: actor, now: now) { page.audit($0, "device \($1)", $2) }
      }
    } catch let problem as Problem where problem.code == ApprovalMessage.leaves.code {
      throw PageError(.forbidden, "leaving")
    } catch let problem as Problem {
      errors.add("value", page.texts.text(problem))
      return try await ask(page, batch, errors)
    }
    if action == .merge, let kept = batch.kept {
      return page.redirect(to: "/devices/\(kept)", flash: "devices_merged")
    }
    guard changed > 0 else { return page.redirect(to: list(page), flash: "devices_unchanged") }
    return page.redirect(to: list(page), flash: "devices_done.\(action.rawValue)", count: changed)
  }

  /// Tags and alias are typed into the same field.
  private static func inForm(_ problem: Problem) -> Problem {
    var problem = problem
    if problem.field != "keep" { problem.field = "value" }
    return problem
  }

  private static func ask(
    _ page: PageContext, _ batch: DeviceBatch, _ errors: FieldErrors
  ) async throws -> Response {
    let (texts, action) = (page.texts, batch.action)
    let label = texts("devices.batch.actions.\(action.rawValue)")
    let obstacle = batch.obstacle.map { texts.text($0) }
    let isProduction = action == .toProduction
    let devices = obstacle == nil ? batch.affected : batch.devices
    let others = batch.devices.count - devices.count
    let apps = Set(devices.map(\.appID))
    let app = apps.count == 1 ? apps.first.flatMap { batch.apps[$0] } : nil
    let isTagging = [.addTags, .removeTags].contains(action)
    let tags = try await isTagging ? page.store.read { try AudienceNames($0, of: app).tags } : []
    return page.answer(
      DeviceBatchView(
        label: label,
        heading: texts.labelled(label, texts("push.device_count", count: devices.count)),
        means: texts("devices.batch.means.\(action.rawValue)"),
        others: others > 0 ? texts("devices.batch.others", count: others) : nil, problem: obstacle,
        mayGo: obstacle == nil, bundleID: app?.bundleID,
        hidden: [HiddenFieldView(name: "action", value: action.rawValue)]
          + [HiddenFieldView(name: "list", value: page.form["list"])]
          + batch.devices.map { HiddenFieldView(name: "device", value: "\($0.id)") },
        devices: devices.map { device in
          DeviceRow(
            device: device, app: batch.apps[device.appID]?.name ?? "",
            platform: texts("platform.\(device.platform.rawValue)"), now: page.now)
        },
        tags: isTagging ? FieldView(value: page.form["value"], error: errors["value"]) : nil, tagNames: tags,
        alias: action == .setAlias ? FieldView(value: page.form["value"], error: errors["value"]) : nil,
        keep: action == .merge && obstacle == nil
          ? FieldView(
            error: errors["keep"].isEmpty ? errors["value"] : errors["keep"],
            choices: batch.devices.map { device in
              ChoiceView(
                value: "\(device.id)",
                label: [device.heading, device.token.abbreviated, texts("state.\(device.state.name)")]
                  .joined(separator: " · "), isSelected: device.id == batch.kept)
            }) : nil,
        question: isProduction && obstacle == nil
          ? batch.app.map { texts("move.type_app", ["app": $0.name]) } : nil,
        confirm: FieldView(value: page.form.raw("confirm"), error: errors["confirm"]),
        isProduction: isProduction, isFinal: [.delete, .merge].contains(action), back: list(page)),
      status: errors.isEmpty && obstacle == nil ? .ok : .unprocessableContent,
      language: obstacle == nil ? .posting(form: "batch", to: "/devices/batch") : .reloading)
  }
}

/// Asks what is still open, and names the devices.
struct DeviceBatchView: PageView {
  static let template = "devices/batch"
  static let section: Section? = .devices

  let label: String
  let heading: String
  /// What it does.
  let means: String
  /// How many of the chosen devices stay as they are.
  let others: String?
  /// Why it cannot be done with these devices.
  let problem: String?
  let mayGo: Bool
  /// Of the app whose tags are suggested; nil: the devices are of several.
  let bundleID: String?
  let hidden: [HiddenFieldView]
  let devices: [DeviceRow]
  let tags: FieldView?
  /// Some of the app's, for browsers without script.
  let tagNames: [String]
  let alias: FieldView?
  let keep: FieldView?
  let question: String?
  let confirm: FieldView
  let isProduction: Bool
  /// Whether it cannot be undone.
  let isFinal: Bool
  let back: String

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .text("heading") { $0.heading },
    .text("means") { $0.means },
    .optional("others") { $0.others },
    .optional("problem") { $0.problem },
    .flag("may_go") { $0.mayGo },
    .optional("bundle_id") { $0.bundleID },
    .list("hidden") { $0.hidden },
    .list("devices") { $0.devices },
    .view("tags") { $0.tags },
    .list("tag_names") { $0.tagNames },
    .view("alias") { $0.alias },
    .view("keep") { $0.keep },
    .optional("must_type") { $0.question },
    .view("confirm") { $0.question == nil ? nil : $0.confirm },
    .flag("production") { $0.isProduction },
    .flag("final") { $0.isFinal },
    .text("back") { $0.back },
  ]
}
