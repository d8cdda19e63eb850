import Foundation
import JSON
import Model
import Store
import Testing

/// `Public/api/openapi.json`, or another document beside it, as tests ask it.
struct OpenAPIDocument {
  /// One path with one method.
  struct Operation: Hashable, CustomStringConvertible {
    let method: String
    let path: String
    var description: String { "\(method) \(path)" }
  }

  let json: JSONValue
  var schema: JSONSchema { JSONSchema(document: json) }

  init(_ name: String = "openapi.json") throws {
    let file = ConsoleScene.root.appendingPathComponent("Public/api/\(name)")
    json = try JSONValue(parsing: Data(contentsOf: file))
  }

  /// Everything that it describes.
  var operations: Set<Operation> {
    Set(
      (json["paths"]?.object ?? [:]).flatMap { path, methods in
        (methods.object ?? [:]).keys.map { Operation(method: $0.uppercased(), path: path) }
      })
  }

  func description(_ operation: Operation) throws -> JSONValue {
    try #require(json["paths"]?[operation.path]?[operation.method.lowercased()])
  }

  /// The least role that may call it.
  func role(_ operation: Operation) throws -> User.Role {
    try #require(try description(operation)["x-role"]?.string.flatMap(User.Role.init))
  }

  /// What is wrong with an answer: a status that is not described, another content type, a body that does not fit.
  func errors(_ answer: SceneAnswer, to operation: Operation) throws -> [String] {
    let responses = try #require(try description(operation)["responses"])
    guard let found = responses["\(answer.status)"] else { return ["the status \(answer.status) is not described"] }
    let response = schema.resolved(found)
    guard let content = response["content"]?.object else {
      return answer.bytes.isEmpty ? [] : ["there must be no body"]
    }
    guard let type = answer.type, let media = content[type] else {
      return ["the content type \(answer.type ?? "-") is not described"]
    }
    guard let body = answer.json else { return ["the body is no JSON"] }
    guard let expected = media["schema"] else { return ["there is no schema"] }
    return schema.errors(body, expected)
  }

  /// What is wrong with the JSON body of a request.
  func requestErrors(_ json: JSONValue, of operation: Operation) throws -> [String] {
    let content = try description(operation)["requestBody"]?["content"]?["application/json"]
    return schema.errors(json, try #require(content?["schema"]))
  }

  /// Every schema that stands in the document, with its place.
  var schemas: [(place: String, schema: JSONValue)] {
    let components = (json["components"]?["schemas"]?.object ?? [:]).map { ($0.key, $0.value) }
    return components.map { (place: $0.0, schema: $0.1) }
  }
}
