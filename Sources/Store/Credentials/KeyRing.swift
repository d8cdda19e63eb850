internal import Foundation
package import OpenSSL
import Synchronization

/// The key of a running installation, which may be lost: what is closed stays closed, everything else goes on, and a
/// new key can be taken into use without a restart.
package final class KeyRing: Sealer {
  /// Where the key should be; named in messages.
  package let path: String
  private let key: Mutex<SealingKey?>
  private let make: @Sendable () throws -> SealingKey
  /// How the values begin that this key has opened, by column and row: a page that asks what is closed does not open
  /// everything each time.
  private let opened = Mutex<[SealedColumn: [Int64: [UInt8]]]>([:])

  /// - Parameters:
  ///   - key: nil: it is lost.
  ///   - make: makes a new key in the place of the lost one.
  package init(_ key: SealingKey?, path: String, make: @escaping @Sendable () throws -> SealingKey) {
    self.key = Mutex(key)
    self.path = path
    self.make = make
  }

  /// Whether there is no key.
  package var isMissing: Bool { key.withLock { $0 == nil } }

  /// Tells the key from others.
  package var keyIdentifier: String? { key.withLock { $0?.identifier } }

  /// Makes a key where there is none.
  package func makeIfMissing() throws {
    try key.withLock { key in
      if key == nil { key = try make() }
    }
  }

  /// As the key seals.
  package func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    try present().seal(bytes, associatedData: associatedData)
  }

  /// As the key opens.
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
