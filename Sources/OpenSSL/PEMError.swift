/// Why a text in PEM form cannot be read.
package enum PEMError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A block begins and does not end, or holds what is no Base64. So many blocks before it are whole.
  case damaged(after: Int)

  /// What and where.
  package var description: String {
    switch self {
    case .damaged(let count): "PEM block \(count + 1) is truncated or damaged."
    }
  }
}
