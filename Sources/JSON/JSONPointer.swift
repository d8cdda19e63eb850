/// A place in a JSON document (RFC 6901), such as `/aps/alert/title`; empty: the whole document.
public struct JSONPointer: Sendable, Hashable {
  /// Names of members, or indices of elements.
  public let steps: [String]

  /// - Parameter text: nil unless it is empty or begins with `/`, and each `~` in it is followed by 0 or 1.
  public init?(_ text: String) {
    guard text.isEmpty || text.first == "/" else { return nil }
    var steps: [String] = []
    for part in text.isEmpty ? [] : text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      // `~1` is a slash in a name, `~0` the sign itself.
      let pieces = part.split(separator: "~", omittingEmptySubsequences: false)
      guard pieces.dropFirst().allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
      steps.append(
        pieces.dropFirst().reduce(String(pieces[0])) { $0 + ($1.hasPrefix("0") ? "~" : "/") + $1.dropFirst() })
    }
    self.steps = steps
  }
}

extension JSONValue {
  /// The value at a place; nil: there is none.
  public subscript(pointer: JSONPointer) -> JSONValue? {
    pointer.steps.reduce(self as JSONValue?) { value, step in
      switch value {
      case .object(let members): return members[step]
      case .array(let elements):
        // "0", or digits without a leading zero.
        guard step == "0" || step.first != "0", step.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
          let index = Int(step), elements.indices.contains(index)
        else { return nil }
        return elements[index]
      default: return nil
      }
    }
  }
}
