import Calendar
import JSON
import Model

/// Checks values against the part of JSON Schema that `openapi.json` uses. A keyword that is not known here is an
/// error, so that nothing in the document goes unchecked.
struct JSONSchema {
  private static let words: Set<String> = [
    "$ref", "type", "enum", "const", "required", "properties", "additionalProperties", "items", "oneOf", "anyOf",
    "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "minProperties", "maxProperties", "format",
    "pattern", "if", "then", "else",
    "contentMediaType", "contentSchema", "description", "discriminator",
  ]

  let document: JSONValue

  /// What a reference names.
  func resolved(_ value: JSONValue) -> JSONValue {
    guard let reference = value["$ref"]?.string else { return value }
    var found: JSONValue? = document
    for step in reference.split(separator: "/").dropFirst() { found = found?[String(step)] }
    return found.map(resolved) ?? ["description": "missing", "unresolved": .string(reference)]
  }

  /// Everything that does not fit, each with its place; empty if all does.
  func errors(_ value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
    let schema = resolved(schema)
    guard let members = schema.object else { return ["\(path): the schema is no object"] }
    var errors = Set(members.keys).subtracting(Self.words).sorted().map { "\(path): unknown keyword \($0)" }
    if let types = schema["type"], !names(types).contains(where: { matches(value, $0) }) {
      return errors + ["\(path): expected \(types.text()), found \(value.text().prefix(80))"]
    }
    if let choices = schema["enum"]?.array, !choices.contains(value) {
      errors.append("\(path): \(value.text()) is none of \(JSONValue.array(choices).text())")
    }
    if let constant = schema["const"], constant != value { errors.append("\(path): is not \(constant.text())") }
    if let choices = schema["oneOf"]?.array {
      let fitting = choices.count { self.errors(value, $0, at: path).isEmpty }
      if fitting != 1 { errors.append("\(path): fits \(fitting) of oneOf, not one: \(value.text().prefix(120))") }
    }
    if let choices = schema["anyOf"]?.array, !choices.contains(where: { self.errors(value, $0, at: path).isEmpty }) {
      errors.append("\(path): fits none of anyOf: \(value.text().prefix(120))")
    }
    if let condition = schema["if"] {
      let branch = schema[self.errors(value, condition, at: path).isEmpty ? "then" : "else"]
      errors += branch.map { self.errors(value, $0, at: path) } ?? []
    }
    switch value {
    case .object(let object): errors += check(object, schema, path)
    case .array(let elements): errors += check(elements, schema, path)
    case .string(let text): errors += check(text, schema, path)
    case .integer(let number):
      if let low = schema["minimum"]?.integer, number < low { errors.append("\(path): \(number) < \(low)") }
      if let high = schema["maximum"]?.integer, number > high { errors.append("\(path): \(number) > \(high)") }
    case .null, .bool, .double: break
    }
    return errors
  }

  /// The value with one text replaced by `text`, for each place whose type and pattern take it.
  func variants(of value: JSONValue?, _ schema: JSONValue, with text: String) throws -> [JSONValue] {
    let schema = resolved(schema)
    var found = try (schema["oneOf"]?.array ?? []).flatMap { try variants(of: value, $0, with: text) }
    if let types = schema["type"], names(types).contains("string") {
      let fits = try schema["pattern"]?.string.map { text.contains(try Regex($0)) } ?? true
      if fits { found.append(.string(text)) }
    }
    for (name, member) in schema["properties"]?.object ?? [:] {
      for changed in try variants(of: value?[name], member, with: text) {
        var members = value?.object ?? [:]
        members[name] = changed
        found.append(.object(members))
      }
    }
    if let element = schema["items"] {
      for changed in try variants(of: value?.array?.first, element, with: text) { found.append(.array([changed])) }
    }
    return found
  }

  private func names(_ types: JSONValue) -> [String] {
    types.string.map { [$0] } ?? types.array?.compactMap(\.string) ?? []
  }

  private func matches(_ value: JSONValue, _ type: String) -> Bool {
    switch (type, value) {
    case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .double),
      ("string", .string), ("array", .array), ("object", .object):
      true
    default: false
    }
  }

  private func check(_ object: [String: JSONValue], _ schema: JSONValue, _ path: String) -> [String] {
    var errors: [String] = []
    for name in schema["required"]?.array?.compactMap(\.string) ?? [] where object[name] == nil {
      errors.append("\(path): \(name) is missing")
    }
    if let low = schema["minProperties"]?.integer, object.count < low { errors.append("\(path): too few members") }
    if let high = schema["maxProperties"]?.integer, object.count > high { errors.append("\(path): too many members") }
    let properties = schema["properties"]?.object ?? [:]
    for (name, value) in object.sorted(by: { $0.key < $1.key }) {
      if let property = properties[name] {
        errors += self.errors(value, property, at: "\(path).\(name)")
      } else if let others = schema["additionalProperties"] {
        if others == false {
          errors.append("\(path): \(name) is not allowed")
        } else if others.object != nil {
          errors += self.errors(value, others, at: "\(path).\(name)")
        }
      }
    }
    return errors
  }

  private func check(_ elements: [JSONValue], _ schema: JSONValue, _ path: String) -> [String] {
    var errors: [String] = []
    if let low = schema["minItems"]?.integer, elements.count < low { errors.append("\(path): too few elements") }
    if let high = schema["maxItems"]?.integer, elements.count > high { errors.append("\(path): too many elements") }
    if let items = schema["items"] {
      for (index, element) in elements.enumerated() {
        errors += self.errors(element, items, at: "\(path)[\(index)]")
      }
    }
    return errors
  }

  private func check(_ text: String, _ schema: JSONValue, _ path: String) -> [String] {
    var errors: [String] = []
    if let low = schema["minLength"]?.integer, text.count < low { errors.append("\(path): too short") }
    if let high = schema["maxLength"]?.integer, text.count > high { errors.append("\(path): too long") }
    if schema["format"]?.string == "date-time", Timestamp.parse(text) == nil || !text.hasSuffix("Z") {
      errors.append("\(path): “\(text)” is no time in UTC")
    }
    return errors
  }
}
