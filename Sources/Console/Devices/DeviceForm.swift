import Foundation
import JSON
import Model
import SQLite
import Store

/// The registration form, converted to the API's JSON.
struct DeviceForm {
  private let input: Result<DeviceInput, Problems>

  init(_ form: Form) {
    var members: [String: JSONValue] = [:]
    for field in ["app", "environment", "platform", "provider", "token", "alias", "registration_id", "name"]
    where !form[field].isEmpty {
      members[field] = .string(form[field])
    }
    if !form["tags"].isEmpty { members["tags"] = .array(form.parts("tags").map(JSONValue.string)) }
    let json = JSONValue.object(members)
    input = Result { () throws(Problems) in try DeviceInput(json: json) }
  }

  /// - Throws: `Problems`, one per field.
  func register(_ page: PageContext) async throws -> Int64 {
    // The form has one field for all tags: errors of single tags are reported there.
    do {
      return try await register(try input.get(), page)
    } catch let problems as Problems {
      throw Problems(problems.all.map(SendForm.placed))
    }
  }

  private func register(_ input: DeviceInput, _ page: PageContext) async throws -> Int64 {
    try await page.store.write { database in
      guard let app = try App.find(database, bundleID: input.app) else {
        throw Problems([Problem("app", DraftMessage.noApp, ["app": input.app])])
      }
      let problems = input.problems(rule: app.rule)
      if !problems.isEmpty { throw Problems(problems) }
      let results = try Device.register(
        database, app: app.id, [input.registration], leaving: try page.leaving(database), by: page.actor,
        now: page.now)
      switch results[0] {
      case .rejected(let problem): throw Problems([problem])
      case .added(let id), .updated(let id):
        try page.record(database, "device.register", "app \(input.app)")
        return id
      }
    }
  }
}
