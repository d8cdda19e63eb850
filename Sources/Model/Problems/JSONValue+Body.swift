package import Foundation
package import JSON

extension JSONValue {
  /// Parses what somebody sent.
  ///
  /// - Throws: a problem that says where the text goes wrong.
  package init(checking bytes: [UInt8]) throws(Problem) {
    do throws(JSONError) {
      try self.init(parsing: bytes)
    } catch {
      throw Problem(error)
    }
  }

  /// Parses the body of a request.
  ///
  /// - Throws: one problem that says where the text goes wrong.
  package init(body data: Data) throws(Problems) {
    do throws(Problem) {
      try self.init(checking: Array(data))
    } catch {
      throw Problems([error])
    }
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
