import CNGHTTP2

/// The fields of one header block of an answer, checked as RFC 9113 §8.2 and §8.3 require.
struct AnswerHead {
  enum Problem: Equatable {
    case malformed, tooLong
  }

  let isTrailer: Bool
  let keepsFieldsOfSuccess: Bool
  private(set) var status = 0
  /// All but `:status`, if kept.
  private(set) var fields: HeaderList?
  private(set) var contentLength: Int64 = -1
  private(set) var problem: Problem?
  private var hasRegular = false
  private var size = 0

  /// Sent as SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2).
  static let maximumSize = 32_768

  /// - Parameter status: of the answer that the trailer belongs to.
  init(trailerOf status: Int?, keepsFieldsOfSuccess: Bool) {
    isTrailer = status != nil
    self.status = status ?? 0
    self.keepsFieldsOfSuccess = keepsFieldsOfSuccess
  }

  mutating func add(_ field: nghttp2_nv) {
    guard problem == nil else { return }
    let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
    let value = UnsafeBufferPointer(start: field.value, count: field.valuelen)
    size += name.count + value.count + 32
    guard size <= Self.maximumSize else { return problem = .tooLong }
    if name.first == UInt8(ascii: ":") { return addStatus(name, value) }
    hasRegular = true
    guard isTrailer || status > 0, Self.isName(name), Self.isValue(value), !Self.isOfConnection(name) else {
      return problem = .malformed
    }
    if !isTrailer, Self.equal(name, "content-length") { addLength(value) }
    guard keepsFieldsOfSuccess || !(200..<300).contains(status) else { return }
    if fields == nil { fields = HeaderList() }
    fields?.append(name: name, value: value)
  }

  /// `:status`, the only pseudo-field of an answer: once, first, three digits.
  private mutating func addStatus(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    guard !isTrailer, !hasRegular, status == 0, Self.equal(name, ":status"), value.count == 3,
      value.allSatisfy({ (48...57).contains($0) }), value[0] > 48
    else { return problem = .malformed }
    status = value.reduce(0) { $0 * 10 + Int($1 & 15) }
  }

  private mutating func addLength(_ value: UnsafeBufferPointer<UInt8>) {
    guard contentLength < 0, (1...18).contains(value.count), value.allSatisfy({ (48...57).contains($0) }) else {
      return problem = .malformed
    }
    contentLength = value.reduce(0) { $0 * 10 + Int64($1 & 15) }
  }

  /// A token in lower case (RFC 9113 §8.2.1, RFC 9110 §5.6.2).
  private static func isName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    !name.isEmpty
      && name.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
          UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
          UInt8(ascii: "~"):
          true
        default: false
        }
      }
  }

  /// No NUL, CR, LF, and no space at either end (RFC 9113 §8.2.1).
  private static func isValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = value.first, let last = value.last else { return true }
    return first != 32 && first != 9 && last != 32 && last != 9 && value.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 }
  }

  /// Fields of HTTP/1.1 connections (RFC 9113 §8.2.2).
  private static func isOfConnection(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    switch name.count {
    case 2: equal(name, "te")
    case 7: equal(name, "upgrade")
    case 10: equal(name, "connection") || equal(name, "keep-alive")
    case 16: equal(name, "proxy-connection")
    case 17: equal(name, "transfer-encoding")
    default: false
    }
  }

  private static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    bytes.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
