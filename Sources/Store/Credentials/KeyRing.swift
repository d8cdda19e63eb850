internal import Foundation
package import OpenSSL
import Synchronization

/// The sealing key of a running installation, which may be lost: sealed values then stay sealed, everything else works,
/// and a new key can be created without a restart.
package final class KeyRing: Sealer {
  /// The key's file, for messages.
  package let path: String
  /// Why a key file that is there gave no key; nil if there is none, or if it gave one.
  package let trouble: Trouble?
  private let key: Mutex<SealingKey?>
  private let make: @Sendable () throws -> SealingKey
  /// Prefixes of values that this key has opened, by column and row, so that pages listing unreadable values need not
  /// open everything each time.
  private let opened = Mutex<[SealedColumn: [Int64: [UInt8]]]>([:])

  package enum Trouble: Sendable {
    /// The file's content is not a key.
    case malformed
    /// The file cannot be read, or may not be used because other users can read it.
    case unreadable
  }

  /// - Parameters:
  ///   - key: nil: lost.
  ///   - make: creates a new key in place of the lost one.
  package init(
    _ key: SealingKey?, path: String, trouble: Trouble? = nil, make: @escaping @Sendable () throws -> SealingKey
  ) {
    self.key = Mutex(key)
    (self.trouble, self.path, self.make) = (trouble, path, make)
  }

  package var isMissing: Bool { key.withLock { $0 == nil } }

  package var keyIdentifier: String? { key.withLock { $0?.identifier } }

  package func makeIfMissing() throws {
    try key.withLock { key in
      if key == nil { key = try make() }
    }
  }

  package func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    try present().seal(bytes, associatedData: associatedData)
  }

  package func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    try present().open(bytes, associatedData: associatedData)
  }

  func opened(_ column: SealedColumn) -> [Int64: [UInt8]] { opened.withLock { $0[column] ?? [:] } }

  func keepOpened(_ heads: [Int64: [UInt8]], _ column: SealedColumn) { opened.withLock { $0[column] = heads } }

  private func present() throws(SealingMismatch) -> SealingKey {
    guard let key = key.withLock({ $0 }) else { throw .missing }
    return key
  }
}

/// Encrypts secrets for the database, bound to their place.
package protocol Sealer: Sendable {
  /// Encrypts; opening requires the same `associatedData`.
  func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8]
  /// Decrypts the output of ``seal(_:associatedData:)``.
  ///
  /// - Throws: if the bytes were changed, belong to another place, or were sealed with another key.
  func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8]
  /// Identifies the key without revealing it; nil: the sealer has no key.
  var keyIdentifier: String? { get }
}

extension Sealer {
  package var keyIdentifier: String? { nil }
}

/// The place of a sealed value, which cannot be opened in another row.
func place(_ table: String, _ id: Int64) -> [UInt8] { Array("\(table)/\(id)".utf8) }

extension SealingKey: Sealer {
  package var keyIdentifier: String? { identifier }

  package func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let sealed: Data = try seal(bytes, associatedData: associatedData)
    return Array(sealed)
  }

  package func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let opened: Data = try open(bytes, associatedData: associatedData)
    return Array(opened)
  }
}
