import COpenSSL
package import Foundation
import Text

/// One `-----BEGIN …-----` of a text (RFC 7468).
package struct PEMBlock: Sendable, Hashable {
  /// Such as `CERTIFICATE`.
  package let label: String
  /// The lines before the data, such as `Proc-Type: 4,ENCRYPTED`; usually empty.
  package let headers: String
  /// The decoded data. For a private key, this is the secret.
  package let content: Data

  /// All blocks of a text in order. Text between them, including a byte order mark, is skipped.
  ///
  /// - Throws: ``PEMError`` if a block has no end or invalid Base64.
  package static func all(in text: some DataProtocol) throws(PEMError) -> [PEMBlock] {
    OpenSSLError.clear()
    var blocks: [PEMBlock] = []
    let complete: Bool? = MemoryBIO.reading(text) { bio in
      while let block = next(bio) { blocks.append(block) }
      let last = ERR_peek_last_error()
      return pki_error_reason(last) == PEM_R_NO_START_LINE
    }
    OpenSSLError.clear()
    guard complete == true else { throw PEMError.damaged(after: blocks.count) }
    guard !endsInsideFirstLine(Array(text), whole: blocks.count) else { throw PEMError.damaged(after: blocks.count) }
    return blocks
  }

  /// The encoded block.
  package var text: String {
    let written = MemoryBIO.written { bio in
      let content = Array(content)
      return PEM_write_bio(bio, label, headers, content, content.count) > 0
    }
    return String(decoding: written ?? Data(), as: UTF8.self)
  }

  /// OpenSSL ignores a beginning that is cut within its first line.
  private static func endsInsideFirstLine(_ text: [UInt8], whole: Int) -> Bool {
    let last = text[((text.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1)...]
    let dashes = Array("-----BEGIN".utf8)
    if last.first == dashes[0], !last.starts(with: "-----END".utf8) { return true }
    return Data(text).count(of: dashes) > whole
  }

  private static func next(_ bio: OpaquePointer) -> PEMBlock? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard PEM_read_bio(bio, &name, &header, &data, &count) == 1 else { return nil }
    defer {
      pki_free(name)
      pki_free(header)
      pki_free(data)
    }
    guard let name, let header, let data else { return nil }
    return PEMBlock(
      label: String(cString: name), headers: String(cString: header), content: Data(bytes: data, count: count))
  }
}

/// Why a text in PEM form cannot be read.
package enum PEMError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A block has no end or invalid Base64. `after` complete blocks precede it.
  case damaged(after: Int)

  package var description: String {
    switch self {
    case .damaged(let count): "PEM block \(count + 1) is truncated or damaged."
    }
  }
}

extension PEMBlock {
  package var isCertificate: Bool { Certificate.pemLabels.contains(label) }
  package var isPrivateKey: Bool { label == "PRIVATE KEY" || label.hasSuffix(" PRIVATE KEY") }
  package var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

  /// The kind of the block in words, such as `a certificate`.
  package var plainName: String {
    switch label {
    case let label where Certificate.pemLabels.contains(label): "a certificate"
    case "PUBLIC KEY", "RSA PUBLIC KEY": "a public key"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate request"
    case "EC PARAMETERS": "curve parameters"
    case "PKCS7", "CMS": "a signed message"
    case "X509 CRL": "a certificate revocation list"
    case _ where isPrivateKey: "a private key"
    default: "“\(label)”"
    }
  }

  /// The certificate in the block. In a `TRUSTED CERTIFICATE`, OpenSSL's own data follows it.
  package var certificateContent: Data {
    guard label == "TRUSTED CERTIFICATE", let end = Self.endOfBinary(content) else { return content }
    return content.prefix(end)
  }

  /// Where the first DER value ends, nil if its length is missing or invalid.
  package static func endOfBinary(_ data: Data) -> Int? {
    guard case .whole(_, let content) = DER.header(of: Array(data)[...]) else { return nil }
    return content.upperBound
  }
}

extension PrivateKey {
  /// Whether decrypting all keys of a file together stays within the cost limit; each alone may.
  package static func isBearable(_ blocks: [PEMBlock]) -> Bool {
    blocks.reduce(0) { $0 + KeyDerivationCost.rounds(in: Array($1.content)) } <= KeyDerivationCost.limit
  }
}
