/// A value of CBOR (RFC 8949) as authenticators write it (CTAP 2.1 §8): definite lengths, no tags, no fractions.
///
/// Never reads outside the given bytes, and makes nothing larger than them.
enum CBOR: Hashable, Sendable {
  case integer(Int64)
  case bytes([UInt8])
  case text(String)
  case array([CBOR])
  case map([CBOR: CBOR])
  case bool(Bool)
  case null

  /// The bytes are not a value of these kinds.
  struct Malformed: Error {}

  private static let deepest = 4

  /// Reads one value and removes it from the bytes.
  init(reading bytes: inout ArraySlice<UInt8>) throws(Malformed) { self = try Self.read(&bytes, depth: 0) }

  subscript(key: CBOR) -> CBOR? { if case .map(let members) = self { members[key] } else { nil } }

  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  private static func read(_ bytes: inout ArraySlice<UInt8>, depth: Int) throws(Malformed) -> CBOR {
    guard depth <= deepest, let head = bytes.popFirst() else { throw Malformed() }
    let kind = head >> 5
    if kind == 7 {
      switch head & 0x1F {
      case 20: return .bool(false)
      case 21: return .bool(true)
      case 22: return .null
      default: throw Malformed()
      }
    }
    let number = try argument(head & 0x1F, &bytes)
    switch kind {
    case 0: return .integer(number)
    case 1: return .integer(-1 - number)
    case 2: return .bytes(try take(number, &bytes))
    case 3:
      guard let text = String(validating: try take(number, &bytes), as: UTF8.self) else { throw Malformed() }
      return .text(text)
    case 4:
      // Each element has at least one byte.
      guard number <= bytes.count else { throw Malformed() }
      var elements: [CBOR] = []
      for _ in 0..<number { elements.append(try read(&bytes, depth: depth + 1)) }
      return .array(elements)
    case 5:
      guard number <= bytes.count / 2 else { throw Malformed() }
      var members: [CBOR: CBOR] = [:]
      for _ in 0..<number {
        let key = try read(&bytes, depth: depth + 1)
        guard members.updateValue(try read(&bytes, depth: depth + 1), forKey: key) == nil else { throw Malformed() }
      }
      return .map(members)
    default: throw Malformed()
    }
  }

  private static func argument(_ short: UInt8, _ bytes: inout ArraySlice<UInt8>) throws(Malformed) -> Int64 {
    if short < 24 { return Int64(short) }
    guard short <= 27 else { throw Malformed() }
    let number = try take(1 << Int64(short - 24), &bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let small = Int64(exactly: number) else { throw Malformed() }
    return small
  }

  private static func take(_ count: Int64, _ bytes: inout ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
    guard count <= bytes.count else { throw Malformed() }
    defer { bytes = bytes.dropFirst(Int(count)) }
    return Array(bytes.prefix(Int(count)))
  }
}
