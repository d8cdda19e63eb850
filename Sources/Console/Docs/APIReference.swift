import Foundation
import JSON
import Text

/// An OpenAPI document, as people read it: its operations by tag, with every parameter and an example of each call.
struct APIReference: Sendable {
  struct Section: Sendable {
    /// In addresses, such as `devices`.
    let slug: String
    let name: String
    let description: String
    let operations: [Operation]

    /// Errors that at least half of the operations can answer with, said once for the page.
    var sharedAnswers: [Answer] {
      guard operations.count > 1 else { return [] }
      var counts: [Answer: Int] = [:]
      for answer in operations.flatMap(\.answers) where answer.code >= "400" { counts[answer, default: 0] += 1 }
      return counts.filter { $0.value * 2 >= operations.count }.keys
        .sorted { ($0.code, $0.meaning) < ($1.code, $1.meaning) }
    }
  }

  struct Answer: Sendable, Hashable {
    let code: String
    let meaning: String
  }

  struct Operation: Sendable {
    let id: String
    let method: String
    let path: String
    let summary: String
    let description: String
    /// The least role of a token; empty if the document does not say.
    let role: String
    /// What a token that has scopes needs; empty if the document does not say.
    let scope: String
    let parameters: [Parameter]
    let answers: [Answer]
    let example: Example
  }

  /// A part of the path, the query, the headers or the body.
  struct Parameter: Sendable {
    let name: String
    let isRequired: Bool
    let type: String
    let meaning: String
  }

  /// What a call of an operation looks like.
  struct Example: Sendable {
    /// How a call is authorized, as an option of curl; nil: not at all.
    let authorization: String?
    /// What the call needs in its query, as it stands in the command; empty without it.
    let query: String
    /// Nil without a body.
    let contentType: String?
    /// The body, or for a form the name of a field with a file.
    let body: String?
  }

  let sections: [Section]

  /// Reads documents.
  ///
  /// - Parameter files: each with a word before the names of its tags; empty for none.
  /// - Throws: Foundation's error if a file cannot be read, `JSONError` if it is not JSON.
  init(_ files: [(path: String, prefix: String)]) throws {
    sections = try files.flatMap { file in
      let document = try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: file.path)))
      return APIReferenceReader(document: document, prefix: file.prefix).sections
    }
  }
}

/// Reads one document.
private struct APIReferenceReader {
  let document: JSONValue
  let prefix: String

  /// Deeper members would fill the page; the document itself has them.
  private static let depth = 2
  private static let methods = ["get", "post", "put", "patch", "delete"]
  /// Of a query's value; a comma separates values.
  private static let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~,"))

  var sections: [APIReference.Section] {
    let operations = self.operations
    return (document["tags"]?.array ?? []).compactMap { tag in
      guard let name = tag["name"]?.string else { return nil }
      let found = operations.filter { $0.tags.contains(name) }.map(\.operation)
      let title = prefix.isEmpty ? name : "\(prefix): \(name)"
      let slug = title.lowercased().replacing(": ", with: "-").replacing(" ", with: "-")
      return found.isEmpty
        ? nil
        : APIReference.Section(
          slug: slug, name: title, description: tag["description"]?.string ?? "", operations: found)
    }
  }

  /// JSON objects have no order: by path, and then as people think of methods.
  private var operations: [(tags: [String], operation: APIReference.Operation)] {
    (document["paths"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { path, item in
      Self.methods.compactMap { method in
        item[method].map { ($0["tags"]?.array?.compactMap(\.string) ?? [], operation($0, method, path, item)) }
      }
    }
  }

  private func operation(
    _ json: JSONValue, _ method: String, _ path: String, _ item: JSONValue
  ) -> APIReference.Operation {
    let declared = (item["parameters"]?.array ?? []) + (json["parameters"]?.array ?? [])
    let content = resolved(json["requestBody"])?["content"]?.object ?? [:]
    let body = content.min { $0.key < $1.key }
    let fields = body.map { members(of: $0.value["schema"], under: "", depth: 1) } ?? []
    return APIReference.Operation(
      id: json["operationId"]?.string ?? "", method: method.uppercased(), path: path,
      summary: json["summary"]?.string ?? "", description: json["description"]?.string ?? "",
      role: json["x-role"]?.string ?? "", scope: json["x-scope"]?.string ?? "",
      parameters: declared.compactMap(parameter) + fields,
      answers: (json["responses"]?.object ?? [:]).sorted { $0.key < $1.key }.map { code, answer in
        APIReference.Answer(code: code, meaning: resolved(answer)?["description"]?.string ?? "")
      },
      example: example(json, query(declared), body.map { ($0.key, $0.value) }))
  }

  private func parameter(_ json: JSONValue) -> APIReference.Parameter? {
    guard let json = resolved(json), let name = json["name"]?.string else { return nil }
    return APIReference.Parameter(
      name: name, isRequired: json["required"]?.bool ?? false, type: type(json["schema"]),
      meaning: meaning(json["description"]?.string, json["schema"]))
  }

  /// The members of an object, and theirs.
  private func members(of schema: JSONValue?, under prefix: String, depth: Int) -> [APIReference.Parameter] {
    guard let schema = value(schema), let properties = schema["properties"]?.object else { return [] }
    let required = Set(schema["required"]?.array?.compactMap(\.string) ?? [])
    func rank(_ name: String) -> (Int, String) { (required.contains(name) ? 0 : 1, name) }
    let sorted = properties.sorted { rank($0.key) < rank($1.key) }
    return sorted.flatMap { name, schema in
      let name = prefix + name
      let isRequired = prefix.isEmpty && required.contains(name)
      let own = APIReference.Parameter(
        name: name, isRequired: isRequired, type: type(schema),
        meaning: meaning(value(schema)?["description"]?.string ?? schema["description"]?.string, schema))
      return [own] + (depth < Self.depth ? members(of: schema, under: name + ".", depth: depth + 1) : [])
    }
  }

  /// Each required parameter of a query with its example. A value that must be of today is a command of the shell,
  /// because the example of a document grows old.
  private func query(_ declared: [JSONValue]) -> String {
    let items = declared.compactMap { json -> String? in
      guard let json = resolved(json), json["in"]?.string == "query", json["required"]?.bool == true,
        let name = json["name"]?.string
      else { return nil }
      if let command = json["x-shell"]?.string { return "\(name)=\(command)" }
      let value = json["example"]?.string ?? json["example"]?.text() ?? ""
      return "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? value)"
    }
    return items.joined(separator: "&")
  }

  private func example(
    _ json: JSONValue, _ query: String, _ body: (type: String, media: JSONValue)?
  ) -> APIReference.Example {
    let schemes = document["components"]?["securitySchemes"]?.object ?? [:]
    // An empty list says that a call needs none.
    let isOpen = json["security"]?.array?.isEmpty ?? false
    let scheme = isOpen ? nil : schemes.first
    let authorization = scheme.map { name, scheme in
      if scheme["scheme"]?.string == "basic" { return #"-u "$APP_KEY:$MASTER_SECRET""# }
      let variable = name == "clientKey" ? "CLIENT_KEY" : "SIGNALBOX_TOKEN"
      return #"-H "Authorization: Bearer $\#(variable)""#
    }
    let example = body?.media["example"]
    return APIReference.Example(
      authorization: authorization, query: query, contentType: body?.type,
      body: body.map { $0.type.hasPrefix("multipart/") ? "file" : example?.string ?? example?.text(pretty: true) ?? "" }
    )
  }

  // MARK: Schemas

  private func resolved(_ json: JSONValue?) -> JSONValue? {
    guard let reference = json?["$ref"]?.string else { return json }
    return reference.dropFirst(2).split(separator: "/").reduce(Optional(document)) { $0?[String($1)] }
  }

  /// The schema without what only allows null.
  private func value(_ schema: JSONValue?) -> JSONValue? {
    let schema = resolved(schema)
    guard let choices = (schema?["oneOf"] ?? schema?["anyOf"])?.array else { return schema }
    let others = choices.filter { $0["type"]?.string != "null" }
    return others.count == 1 ? resolved(others[0]) : schema
  }

  private func type(_ schema: JSONValue?) -> String {
    guard let schema = value(schema) else { return "" }
    if let choices = (schema["oneOf"] ?? schema["anyOf"])?.array {
      return Set(choices.map { type($0) }).filter { $0 != "null" && !$0.isEmpty }.sorted().joined(separator: " or ")
    }
    if schema["format"]?.string == "date-time" { return "time" }
    let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string].compactMap { $0 }
    let words = types.filter { $0 != "null" }.map { $0 == "string" ? "text" : $0 }
    guard words == ["array"], let items = schema["items"] else { return words.joined(separator: " or ") }
    return "array of \(type(items))"
  }

  private func meaning(_ description: String?, _ schema: JSONValue?) -> String {
    let choices = value(schema)?["enum"]?.array?.compactMap(\.string) ?? []
    let list = choices.isEmpty ? "" : "One of \(choices.map { "`\($0)`" }.joined(separator: ", "))."
    return [description ?? "", list].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension APIReference.Operation {
  /// A call as a command that runs as it stands, apart from the IDs in the address.
  func curl(address: String) -> String {
    // `{id}` becomes a shell variable, because the reader supplies the ID.
    let target = path.replacing("{app}", with: "com.example.shop").replacing("{environment}", with: "development")
      // $UID is the shell's own: the user's number.
      .replacing(/\{([a-z_]+)\}/) { $0.output.1 == "uid" ? "$ID" : "$\($0.output.1.uppercased())" }
    let query = example.query.isEmpty ? "" : "?\(example.query)"
    var lines = [(method == "GET" ? "curl" : "curl -X \(method)") + " \"\(address)\(target)\(query)\""]
    if let authorization = example.authorization { lines.append(authorization) }
    switch example.contentType {
    case let type? where type.hasPrefix("multipart/"): lines.append("-F file=@push.p12")
    case let type?:
      lines.append(#"-H "Content-Type: \#(type)""#)
      let body = (example.body ?? "").replacing("'", with: #"'\''"#)
      lines.append("--data-binary '\(body)'")
    case nil: break
    }
    return lines.joined(separator: " \\\n  ")
  }
}
