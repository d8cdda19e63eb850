import Model

/// The header fields that APNs checks, collected in one pass.
struct APNsFields {
  private(set) var topic: String?
  private(set) var pushType: String?
  private(set) var priority: String?
  private(set) var expiration: String?
  private(set) var collapseID: String?
  private(set) var id: String?
  /// Of requests about channels.
  private(set) var requestID: String?
  private(set) var channelID: String?
  private(set) var authorization: String?
  /// Whether any field is repeated. nghttp2 allows that, APNs does not (docs/protocols.md §1.2).
  private(set) var hasRepeats = false

  init(_ headers: [(name: String, value: String)]) {
    var others: [String] = []
    for (name, value) in headers {
      switch name {
      case APNsHeader.topic: Self.keep(value, in: &topic, &hasRepeats)
      case APNsHeader.pushType: Self.keep(value, in: &pushType, &hasRepeats)
      case APNsHeader.priority: Self.keep(value, in: &priority, &hasRepeats)
      case APNsHeader.expiration: Self.keep(value, in: &expiration, &hasRepeats)
      case APNsHeader.collapseID: Self.keep(value, in: &collapseID, &hasRepeats)
      case "apns-request-id": Self.keep(value, in: &requestID, &hasRepeats)
      case APNsHeader.channelID: Self.keep(value, in: &channelID, &hasRepeats)
      case "apns-id": Self.keep(value, in: &id, &hasRepeats)
      case "authorization": Self.keep(value, in: &authorization, &hasRepeats)
      // HTTP/2 lets a client split this field (RFC 9113 §8.2.3).
      case "cookie": break
      // nghttp2 rejects repeated pseudo-fields.
      case _ where name.utf8.first == UInt8(ascii: ":"): break
      default:
        if others.contains(name) { hasRepeats = true }
        others.append(name)
      }
    }
  }

  /// The first of two values counts.
  private static func keep(_ value: String, in field: inout String?, _ hasRepeats: inout Bool) {
    if field == nil { field = value } else { hasRepeats = true }
  }

  /// The given `apns-id`, if it is a UUID in canonical form. Apple's page asks for lower case, but its service accepts
  /// the upper case that Apple's own libraries print.
  var wellFormedID: String? { id.flatMap { Self.isUUID($0) ? $0 : nil } }

  /// Whether a text is a UUID in canonical form, in either case.
  static func isUUID(_ text: String) -> Bool {
    guard text.utf8.count == 36 else { return false }
    for (index, byte) in text.utf8.enumerated() {
      let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
      guard isHyphen ? byte == UInt8(ascii: "-") : HexDigit.value(byte) != nil else { return false }
    }
    return true
  }
}

/// Decodes hexadecimal digits without intermediate strings.
enum HexDigit {
  static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  /// The bytes of an even number of digits, nil for anything else.
  static func bytes(_ text: Substring.UTF8View) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var high: UInt8?
    for byte in text {
      guard let digit = value(byte) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }
}
