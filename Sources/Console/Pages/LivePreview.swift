import Foundation
import HTTPServer
import Mustache
import Push

/// The preview while somebody types: what the page shows beside the form, as JSON.
enum LivePreview {
  static func answer(_ page: PageContext) async throws -> Response {
    do {
      let preview = try await PushPreview.find(try SendForm(form: page.form).draft(), page)
      guard case .object(let members) = preview.value(page) else { return APIContext.answer([:]) }
      var json: [String: JSONValue] = [:]
      for (name, value) in members { json[name] = JSONValue(value) }
      json["errors"] = [:]
      json["callbacks_html"] = .string(
        try page.console.renderer.fragment("pushes/_callbacks", ["preview": .object(members)], page.texts))
      return APIContext.answer(.object(json))
    } catch let problems as Problems {
      let errors = FieldErrors(problems, page.texts)
      // What has not been typed yet is no mistake while somebody types.
      return APIContext.answer(["errors": .object(errors.byField.mapValues { .string($0.joined(separator: " ")) })])
    }
  }
}

extension JSONValue {
  /// The same for a script.
  fileprivate init(_ value: Mustache.Value) {
    self =
      switch value {
      case .null, .lambda: .null
      case .bool(let flag): .bool(flag)
      case .integer(let number): .integer(number)
      case .double(let number): .double(number)
      case .string(let text): .string(text)
      case .list(let values): .array(values.map(JSONValue.init))
      case .object(let members): .object(members.mapValues(JSONValue.init))
      }
  }
}
