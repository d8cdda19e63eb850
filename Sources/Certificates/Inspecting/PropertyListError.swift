/// Why a property list is not read.
package enum PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is not XML in UTF-8.
  case notXML
  /// It defines entities, with which a few bytes can grow to gigabytes.
  case entities
  /// It is nested deeper than any real one.
  case tooDeep
  /// It is damaged.
  case malformed
  /// It is whole, but what it must say is not there.
  case missing(String)

  /// In words.
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
