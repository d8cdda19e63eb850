package enum PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not XML in UTF-8.
  case notXML
  /// Defines entities, which could expand a few bytes to gigabytes.
  case entities
  /// Deeper than any real property list.
  case tooDeep
  case malformed
  /// A required key is missing.
  case missing(String)

  package var description: String {
    switch self {
    case .notXML: "it is not an XML property list"
    case .entities: "its XML defines entities"
    case .tooDeep: "its XML is nested too deeply"
    case .malformed: "its property list is damaged"
    case .missing(let name): "it has no \(name)"
    }
  }
}
