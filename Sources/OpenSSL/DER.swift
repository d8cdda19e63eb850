package import Foundation

/// The parts of ASN.1's DER (X.690) that are read and written without OpenSSL's own types.
///
/// Never reads outside the given bytes: an invalid length ends the reading.
package enum DER {
  package static let integer: UInt8 = 0x02
  package static let bitString: UInt8 = 0x03
  package static let octetString: UInt8 = 0x04
  package static let null: UInt8 = 0x05
  package static let objectIdentifier: UInt8 = 0x06
  package static let utf8String: UInt8 = 0x0C
  package static let sequence: UInt8 = 0x30
  package static let set: UInt8 = 0x31

  /// One value: its identifier octet, and its content.
  package struct Element {
    package let tag: UInt8
    package let content: ArraySlice<UInt8>
    package var isConstructed: Bool { tag & 0x20 != 0 }

    /// The values inside, nil if they do not fill the content exactly.
    package var children: [Element]? { isConstructed ? DER.elements(of: content) : nil }

    /// The text of a UTF8String.
    package var text: String? { tag == DER.utf8String ? String(validating: content, as: UTF8.self) : nil }
  }

  /// The kind of a value according to its first octets.
  package enum Header {
    /// The content is at these indices.
    case whole(tag: UInt8, content: Range<Int>)
    /// The value is longer than the data.
    case truncated
    /// The content ends with an end marker (BER).
    case indefinite
    case malformed
  }

  package static func header(of bytes: ArraySlice<UInt8>) -> Header {
    guard let tag = bytes.first else { return .truncated }
    // Identifiers of several octets do not occur in the structures that are read here.
    guard tag & 0x1F != 0x1F, tag != 0 else { return .malformed }
    guard bytes.count > 1 else { return .truncated }
    let first = bytes[bytes.startIndex + 1]
    var start = bytes.startIndex + 2
    var length = Int(first)
    if first == 0x80 { return tag & 0x20 != 0 ? .indefinite : .malformed }
    if first > 0x80 {
      let count = Int(first & 0x7F)
      guard count <= 4 else { return .malformed }
      guard bytes.endIndex - start >= count else { return .truncated }
      length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
      start += count
    }
    guard length <= bytes.endIndex - start else { return .truncated }
    return .whole(tag: tag, content: start..<start + length)
  }

  /// The values that fill `bytes` exactly, nil if they do not.
  package static func elements(of bytes: ArraySlice<UInt8>) -> [Element]? {
    var rest = bytes
    var elements: [Element] = []
    while !rest.isEmpty {
      guard case .whole(let tag, let content) = header(of: rest) else { return nil }
      elements.append(Element(tag: tag, content: rest[content]))
      rest = rest[content.upperBound...]
    }
    return elements
  }

  /// The one value that fills `bytes` exactly.
  package static func element(_ bytes: some DataProtocol) -> Element? {
    let elements = elements(of: Array(bytes)[...])
    return elements?.count == 1 ? elements?[0] : nil
  }

  /// Encodes a value.
  package static func encode(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
    var length: [UInt8] = []
    if content.count < 0x80 {
      length = [UInt8(content.count)]
    } else {
      var rest = content.count
      while rest > 0 {
        length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
        rest >>= 8
      }
      length.insert(0x80 | UInt8(length.count), at: 0)
    }
    return [tag] + length + content
  }

  package static func encode(sequence elements: [[UInt8]]) -> [UInt8] { encode(sequence, elements.flatMap(\.self)) }
}
