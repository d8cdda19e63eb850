internal import Foundation
public import OpenSSL

extension SealingKey: Sealer {
  /// `identifier`.
  public var keyIdentifier: String? { identifier }

  /// As the key seals, in plain bytes.
  public func seal(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let sealed: Data = try seal(bytes, associatedData: associatedData)
    return Array(sealed)
  }

  /// As the key opens, in plain bytes.
  public func open(_ bytes: [UInt8], associatedData: [UInt8]) throws -> [UInt8] {
    let opened: Data = try open(bytes, associatedData: associatedData)
    return Array(opened)
  }
}
