public import Foundation

extension JSONValue {
  /// Parses the body of a request.
  ///
  /// - Throws: one problem, `json.syntax`, that says where the text goes wrong.
  public init(body data: Data) throws(Problems) {
    do {
      try self.init(parsing: data)
    } catch {
      throw Problems([Problem("", FieldMessage.syntax, ["detail": Self.detail(of: error)])])
    }
  }

  /// Foundation's own words, which name line and column.
  private static func detail(of error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
    let cause = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
    return cause ?? context.debugDescription
  }

  /// As JSON's own standard calls it, in every language.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .double: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
