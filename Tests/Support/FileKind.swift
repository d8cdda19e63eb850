package import Foundation

/// One kind of file that people bring, with what is true of it. Made with the command line of OpenSSL, never with ours.
package struct FileKind: Sendable, CustomStringConvertible {
  /// What is true of a file that is read.
  package struct Truth: Sendable, Hashable {
    package var kind: String
    package var role: String?
    package var environments = ["development", "production"]
    package var topics: [String] = []
    /// The push types that it may send for `com.x`.
    package var types: [String] = []
    package var hasKey = true
    /// RFC 3339; nil: never ends.
    package var notAfter: String?
    /// Codes, without `file.warning.`, in order.
    package var warnings: [String] = []

    package init(_ kind: String, role: String? = nil) { (self.kind, self.role) = (kind, role) }
  }

  package enum Outcome: Sendable, Hashable {
    case read(Truth)
    /// Code, without `file.`.
    case refused(String)
  }

  package let name: String
  package let data: Data
  package let fileName: String
  package var password: String?
  package var take: String?
  package let outcome: Outcome
  /// What must never be shown: parts of the private key in Base64, master secrets, the password.
  package var secrets: [String] = []

  package var description: String { name }
  package var truth: Truth? { if case .read(let truth) = outcome { truth } else { nil } }
  package var problem: String? { if case .refused(let code) = outcome { code } else { nil } }
}

/// All kinds, made once.
package enum FileKinds {
  /// As of which day the warnings are true: see ``noon``.
  package static let made: Result<[FileKind], any Error> = Result { try FileKindMaker().all() }

  package static func all() throws -> [FileKind] { try made.get() }
}
