import COpenSSL
package import Foundation
import Text

/// One `-----BEGIN …-----` of a text (RFC 7468).
package struct PEMBlock: Sendable, Hashable {
  /// What it says that it is, as `CERTIFICATE`.
  package let label: String
  /// The lines before the data, as `Proc-Type: 4,ENCRYPTED`; mostly empty.
  package let headers: String
  /// What stands inside. Of a private key, this is the secret.
  package let content: Data

  /// All blocks of a text, in order. What stands between them is passed over, also a byte order mark.
  ///
  /// - Throws: ``PEMError`` if a block begins that does not end or does not hold Base64.
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

  /// The text of the block.
  package var text: String {
    let written = MemoryBIO.written { bio in
      let content = Array(content)
      return PEM_write_bio(bio, label, headers, content, content.count) > 0
    }
    return String(decoding: written ?? Data(), as: UTF8.self)
  }

  /// A beginning that is cut in its first line is no beginning to OpenSSL.
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
