internal import Foundation
package import OpenSSL

/// What encrypts a secret for the database, bound to the place where it is kept.
package protocol Sealer: Sendable {
  /// Encrypts. The same `associatedData` is needed to open it again.
  func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8]
  /// Decrypts what ``seal(_:associatedData:)`` made.
  ///
  /// - Throws: if the bytes were changed, belong to another place, or were sealed with another key.
  func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8]
  /// Tells its key from others, without telling anything of it; nil: it has none that could be another one.
  var keyIdentifier: String? { get }
}

extension Sealer {
  /// None.
  package var keyIdentifier: String? { nil }
}

/// Where a sealed value stands: one that was moved to another row does not open.
func place(_ table: String, _ id: Int64) -> [UInt8] { Array("\(table)/\(id)".utf8) }

extension SealingKey: Sealer {
  /// `identifier`.
  package var keyIdentifier: String? { identifier }

  /// As the key seals, in plain bytes.
  package func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let sealed: Data = try seal(bytes, associatedData: associatedData)
    return Array(sealed)
  }

  /// As the key opens, in plain bytes.
  package func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let opened: Data = try open(bytes, associatedData: associatedData)
    return Array(opened)
  }
}
